import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const projectRoot = here('../../..');
export const benchServer = here('./child.ts');
export const stakCommandIn = (root: string): string => join(root, 'apps/server/src/main.ts');
export const stakCommand = stakCommandIn(projectRoot);

// The Node flags of `npm start`.
export function nodeFlagsIn(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  return scripts.start.split(' ').filter(word => word.startsWith('--'));
}
export const nodeFlags: readonly string[] = nodeFlagsIn(projectRoot);

// Bundled as `npm start` does it, so that the cost of compiling at run time is not measured. The folder must be within
// the project, where the packages are found.
export async function bundle(entry: string, folder: string, root = projectRoot): Promise<string> {
  const build = join(root, 'apps/server/build.mjs');
  await promisify(execFile)(process.execPath, [build, entry, folder]);
  return join(folder, basename(entry).replace(/ts$/, 'mjs'));
}
