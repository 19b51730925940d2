import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'apps/.test/dist');

// The `stak` command as `npm start` runs it, for the tests that start it as a process: from its sources it takes
// seconds to load, and dozens of tests start it. Beside apps/server, so that it finds the console's pages.
export const builtCommand = join(folder, 'main.mjs');

// Other programs that tests start many times, or kill.
const programs = [
  'apps/server/test/backup/backup-process.ts',
  'packages/engine/test/crash/peer-process.ts',
  'packages/engine/test/crash/peer-thread.ts',
  'packages/engine/test/crash/store-process.ts',
  'packages/engine/test/crash/writer-process.ts',
  'packages/engine/test/damage/damage-process.ts',
  'services/lake/test/kill-child.ts',
].map(path => join(root, path));

export default function setup(): void {
  const stdio = 'inherit';
  const command = [join(root, 'apps/server/build.mjs'), join(root, 'apps/server/src/main.ts'), folder];
  execFileSync(process.execPath, command, { stdio });
  const esbuild = createRequire(join(root, 'apps/server/build.mjs')).resolve('esbuild/bin/esbuild');
  const options = [
    '--bundle',
    '--platform=node',
    '--format=esm',
    '--out-extension:.js=.mjs',
    '--log-level=warning',
  ];
  const outside = ['lmdb', 'zod', 'pino', 'hono', '@hono/*', '@aws-sdk/*', 'undici', 'fast-check'];
  const external = outside.map(name => `--external:${name}`);
  execFileSync(
    esbuild,
    [...programs, ...options, ...external, '--entry-names=[name]', `--outdir=${folder}`],
    { stdio },
  );
}
