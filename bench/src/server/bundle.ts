import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const benchServer = here('./child.ts');
export const stakCommand = here('../../../apps/server/src/main.ts');

// The Node flags of `npm start`.
export const nodeFlags: readonly string[] = (
  JSON.parse(readFileSync(here('../../../package.json'), 'utf8')) as { scripts: { start: string } }
).scripts.start
  .split(' ')
  .filter(word => word.startsWith('--'));

// Bundled as `npm start` does it, so that the cost of compiling at run time is not measured. The folder must be within
// the project, where the packages are found.
export async function bundle(entry: string, folder: string): Promise<string> {
  const build = here('../../../apps/server/build.mjs');
  await promisify(execFile)(process.execPath, [build, entry, folder]);
  return join(folder, basename(entry).replace(/ts$/, 'mjs'));
}
