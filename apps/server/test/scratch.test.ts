import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { openScratch, sweepScratch } from '../src/store/scratch.ts';
import { killAll, startWith } from './command.ts';
import { untilPrinted } from './signed-in.ts';

afterEach(killAll);
const hourMs = 60 * 60_000;

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stak-sweep-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

type ScratchOwner = { space: string; pid: number; started: string };

// As a process leaves it that does not end well.
async function leave(
  parent: string,
  change: (owner: ScratchOwner) => Partial<ScratchOwner>,
): Promise<string> {
  const { path } = await openScratch(parent);
  const file = join(path, 'owner');
  const owner = JSON.parse(await readFile(file, 'utf8')) as ScratchOwner;
  await writeFile(file, JSON.stringify({ ...owner, ...change(owner) }));
  await writeFile(join(path, 'rows.parquet'), '');
  return path;
}

it('removes files of dead processes at once, also with our own pid, and none that are in use', async () => {
  const parent = await makeFolder();
  const { pid: dead } = spawnSync(process.execPath, ['-e', '']);
  const own = await openScratch(parent);
  const gone = await leave(parent, () => ({ pid: dead }));
  const earlier = process.platform === 'linux' ? [await leave(parent, () => ({ started: '1' }))] : [];
  await mkdir(join(parent, 'others'));
  await sweepScratch(parent);
  const left = (await readdir(parent)).map(name => join(parent, name));
  expect(left.toSorted()).toEqual([own.path, join(parent, 'others')].toSorted());
  expect([gone, ...earlier].every(path => !left.includes(path))).toBe(true);
  await own.remove();
  expect(await readdir(parent)).toEqual(['others']);
});

it('keeps files of unknown owners for a day', async () => {
  const parent = await makeFolder();
  const container = await leave(parent, () => ({ space: 'another container' }));
  const busy = await leave(parent, () => ({ space: 'another container' }));
  await mkdir(join(parent, 'stak-lake-1-a')); // killed before it wrote its owner
  await sweepScratch(parent, Date.now() + 23 * hourMs);
  expect(await readdir(parent)).toHaveLength(3);
  const later = new Date(Date.now() + 24 * hourMs);
  await utimes(join(busy, 'owner'), later, later);
  await sweepScratch(parent, Date.now() + 25 * hourMs);
  const left = (await readdir(parent)).map(name => join(parent, name));
  expect(left.toSorted()).toEqual([busy]);
  expect(left).not.toContain(container);
});

it('a killed server leaves nothing outside its data folder, and the next start cleans up there', async () => {
  const folder = await makeFolder();
  const [temporary, data] = [join(folder, 'tmp'), join(folder, 'data')];
  await mkdir(temporary);
  const start = async () => {
    const run = startWith(
      { env: { TMPDIR: temporary } },
      'start',
      '--port',
      '0',
      '--no-demo',
      '--path',
      data,
    );
    await untilPrinted(run, 'Stak is at');
    return run;
  };
  const first = await start();
  expect(await readdir(join(data, 'scratch'))).toHaveLength(1);
  first.child.kill('SIGKILL');
  await first.code;
  const second = await start();
  expect(await readdir(join(data, 'scratch'))).toEqual([expect.stringContaining(`-${second.child.pid}-`)]);
  second.child.kill('SIGTERM');
  expect(await second.code).toBe(0);
  expect(await readdir(join(data, 'scratch'))).toEqual([]);
  expect((await readdir(temporary)).filter(name => name.startsWith('stak-'))).toEqual([]);
}, 60_000);
