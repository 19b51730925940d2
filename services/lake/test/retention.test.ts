import { utimes } from 'node:fs/promises';
import { expect, test } from 'vitest';
import * as limits from '../src/limits.ts';
import { openManifest } from '../src/storage/manifest.ts';
import { recentFiles } from '../src/storage/manifest-state.ts';
import { expectEveryChangeOnce, expectSameAsTable, readState } from './evidence.ts';
import {
  ann,
  type Backend,
  capture,
  keep,
  openBackend,
  openLake,
  readObjects,
  until,
} from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

async function captureOneByOne(
  backend: Backend,
  lake: ReturnType<typeof openLake>,
  count: number,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    await backend.store.put(chore, newChore('usr_ann', `${i}`, { title: `at ${i}` }));
    await capture(backend, lake);
  }
}

test('many small files are merged into one, with every change once, and then removed', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await captureOneByOne(backend, lake, limits.smallFiles + 2);
  await keep(lake);
  const { files, garbage } = await readState(backend);
  expect(files.size).toBeLessThan(limits.smallFiles);
  expect(garbage.length).toBeGreaterThanOrEqual(limits.smallFiles);
  await expectEveryChangeOnce(backend);
  await expectSameAsTable(backend, lake, ann, () => true);

  // Readers that started before may still read them for a while.
  expect((await readObjects(backend.objects, 'bronze/')).length).toBeGreaterThan(files.size);
  await backend.clock.advance(limits.garbageMs + 1000);
  await keep(lake);
  expect(await readObjects(backend.objects, 'bronze/')).toHaveLength((await readState(backend)).files.size);
});

test('changes since a large silver are merged without rewriting it', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await captureOneByOne(backend, lake, 2);
  await keep(lake);
  const manifest = openManifest(backend.objects, 'chores', backend.clock);
  const { silver: small } = await readState(backend);
  const large = { ...small.chore!, rows: 1_000_000 };
  await manifest.commit(() => ({ at: backend.clock.now(), silver: { chore: large } }));
  await captureOneByOne(backend, lake, limits.recentFiles + 3);
  await keep(lake);
  const { silver, files } = await readState(backend);
  expect(silver.chore).toEqual(large);
  expect(recentFiles(await readState(backend), 'chore').length).toBeLessThan(3);
  expect([...files.keys()].some(path => path.includes('merged-'))).toBe(true);
  await expectEveryChangeOnce(backend);
  await expectSameAsTable(backend, lake, ann, () => true);
  const insight = await lake.insight(ann, 'tasks-by-status', 30);
  expect(insight.data).toEqual([{ status: 'pending', tasks: limits.recentFiles + 3 }]);
});

test('history expires after its days; current data stays', async () => {
  const backend = await openBackend();
  const lake = openLake(backend, { bronzeDays: 7 });
  await captureOneByOne(backend, lake, 2);
  await keep(lake);
  await backend.clock.advance(9 * 24 * 60 * 60_000);
  await keep(lake);
  await backend.clock.advance(limits.garbageMs + 1000);
  await keep(lake);
  expect(await readObjects(backend.objects, 'bronze/')).toEqual([]);
  await expectSameAsTable(backend, lake, ann, () => true);
  expect((await lake.insight(ann, 'tasks-created', 400)).data).toEqual([{ day: '2026-01-01', tasks: 2 }]);
  expect((await lake.insight(ann, 'tasks-activity', 400)).data).toEqual([
    { user: 'usr_ann', day: '2026-01-01', changes: 2, created: 2, removed: 0 },
  ]);
});

test('files left by a dead process are removed, and nothing else', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await captureOneByOne(backend, lake, 1);
  const orphan = 'bronze/table=chores/entity=chore/day=2026-01-01/shard-1-2.parquet';
  const young = 'silver/table=chores/entity=chore/young.parquet';
  for (const key of [orphan, young]) await backend.objects.put(key, Buffer.from('x'));
  // The folder has the machine's times, the lake those of its clock.
  const path = (await backend.objects.locate(orphan))!;
  backend.clock.set(Date.now());
  const old = (Date.now() - limits.orphanMs - 60_000) / 1000;
  await utimes(path, old, old);
  await keep(lake);
  const left = [
    ...(await readObjects(backend.objects, 'bronze/')),
    ...(await readObjects(backend.objects, 'silver/')),
  ];
  expect(left).not.toContain(orphan);
  expect(left).toContain(young);
  await expectSameAsTable(backend, lake, ann, () => true);
});

test('two processes maintain one lake concurrently', async () => {
  const backend = await openBackend();
  const lakes = [openLake(backend), openLake(backend)];
  await captureOneByOne(backend, lakes[0]!, 5);
  const stopping = new AbortController();
  const running = lakes.flatMap(lake => lake.workers.map(worker => worker.run(stopping.signal)));
  const isKept = async () => {
    const { silver, backfill } = await readState(backend);
    return silver.chore !== undefined && backfill === undefined;
  };
  await until(backend, isKept, 100);
  stopping.abort();
  await Promise.all(running);
  for (const lake of lakes) await expectSameAsTable(backend, lake, ann, () => true);
});
