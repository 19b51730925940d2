import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

test('the program of the guide prints what the guide shows', async () => {
  const guide = await readFile(join(root, 'docs/guides/define-a-table.md'), 'utf8');
  // Inside node_modules, so that the packages are found and nobody else looks.
  await mkdir(join(root, 'node_modules/.stak'), { recursive: true });
  const folder = await mkdtemp(join(root, 'node_modules/.stak/follow-'));
  try {
    for (const [, name, code] of guide.matchAll(/```ts\n\/\/ (\S+)\n(.*?)```/gs))
      await writeFile(join(folder, name!), code!);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const program = ['--import', 'tsx', join(folder, 'follow.ts')];
    const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: root });
    const follow = guide.slice(guide.indexOf('// follow.ts'));
    expect(stdout).toBe(/```text\n(.*?)```/s.exec(follow)![1]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
