import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sweepScratch } from '../src/lake-place.ts';

it('removes what killed processes left behind, after a day, and nothing else', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'stak-sweep-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const { pid: dead } = spawnSync(process.execPath, ['-e', '']);
  const names = [`stak-lake-${dead}-a`, `stak-lake-${process.pid}-b`, 'stak-lake-x', 'others'];
  for (const name of names) {
    await mkdir(join(parent, name));
    await writeFile(join(parent, name, 'rows.parquet'), '');
  }
  const hourMs = 60 * 60_000;
  await sweepScratch(parent, Date.now() + 23 * hourMs);
  expect(await readdir(parent)).toHaveLength(4);
  await sweepScratch(parent, Date.now() + 25 * hourMs);
  expect((await readdir(parent)).sort()).toEqual(names.slice(1).sort());
});
