import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

// The code of the guide is compiled and run as it stands there, and has to print what the guide says.

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);
let folder: string;
let guide: string;

beforeAll(async () => {
  guide = await readFile(join(root, 'docs/guides/define-a-table.md'), 'utf8');
  // Inside node_modules, so that the packages are found and nobody else looks.
  const parent = join(root, 'node_modules/.stak');
  await mkdir(parent, { recursive: true });
  folder = await mkdtemp(join(parent, 'guide-'));
  for (const [, name, code] of guide.matchAll(/```ts\n\/\/ (\S+)\n(.*?)```/gs))
    await writeFile(join(folder, name!), code!);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*.ts'], exclude: [] }),
  );
});

afterAll(() => rm(folder, { recursive: true, force: true }));

it('prints what it shows', async () => {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', join(folder, 'main.ts')], { cwd: root });
  expect(stdout).toBe(/```text\n(.*?)```/s.exec(guide)![1]);
});

it('compiles', async () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '--noEmit', '-p', folder], { cwd: root }).catch(error => {
    throw new Error(error.stdout);
  });
});
