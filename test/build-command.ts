import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

// The `stak` command as `npm start` runs it, for the tests that start it as a process: from its sources it takes
// seconds to load, and dozens of tests start it. Beside apps/server, so that it finds the console's pages.
export const builtCommand = join(root, 'apps/.test/dist/main.mjs');

export default function setup(): void {
  execFileSync(
    process.execPath,
    [
      join(root, 'apps/server/build.mjs'),
      join(root, 'apps/server/src/main.ts'),
      join(root, 'apps/.test/dist'),
    ],
    { stdio: 'inherit' },
  );
}
