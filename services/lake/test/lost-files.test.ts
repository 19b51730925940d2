import { AppError } from '@stak/kit';
import { expect, test } from 'vitest';
import * as limits from '../src/limits.ts';
import { expectSameAsTable, readState } from './evidence.ts';
import { ann, type Backend, capture, keep, openBackend, openLake, readObjects } from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

// Somebody deletes a file of the lake by hand, or a disk loses the end of one.

async function openKept() {
  const backend = await openBackend();
  const lake = openLake(backend);
  await keep(lake);
  for (const id of ['a', 'b', 'c']) await backend.store.put(chore, newChore('usr_ann', id));
  await capture(backend, lake);
  return { backend, lake };
}

async function deleteAll({ objects }: Backend, prefix: string): Promise<number> {
  const keys = await readObjects(objects, prefix);
  for (const key of keys) await objects.delete(key);
  return keys.length;
}

async function cutAll({ objects }: Backend, prefix: string): Promise<number> {
  const keys = await readObjects(objects, prefix);
  for (const key of keys) {
    const body = (await objects.get(key))!;
    await objects.put(key, body.subarray(0, body.length / 2));
  }
  return keys.length;
}

// Silver of another generation than the last one is made anew.
async function compact(lake: ReturnType<typeof openLake>): Promise<void> {
  await lake.backfill('chores');
  await keep(lake);
}

const activity = [{ user: 'usr_ann', day: '2026-01-01', changes: 3, created: 3, removed: 0 }];
const counts = [{ status: 'pending', tasks: 3 }];

const cases = [
  { what: 'changes that silver does not have yet', folders: ['bronze/'], isCompacted: false },
  { what: 'silver', folders: ['silver/'], isCompacted: true },
  { what: 'silver and the sums', folders: ['silver/', 'gold/'], isCompacted: true },
];
const harms = { without: deleteAll, 'with half of': cutAll };

test.each(Object.entries(harms).flatMap(([how, harm]) => cases.map(one => ({ how, harm, ...one }))))(
  '$how $what, the table is read again',
  async ({ harm, folders, isCompacted }) => {
    const { backend, lake } = await openKept();
    if (isCompacted) await compact(lake);
    for (const folder of folders) expect(await harm(backend, folder)).toBeGreaterThan(0);

    const error: unknown = await lake.query(ann, 'select * from tasks').catch(cause => cause);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'lake.busy' });

    await keep(lake);
    await expectSameAsTable(backend, lake, ann, () => true);
    expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual(counts);
    if (isCompacted) expect((await lake.insight(ann, 'tasks-activity', 30)).data).toEqual(activity);
    await backend.store.put(chore, newChore('usr_ann', 'd'));
    await capture(backend, lake);
    await keep(lake);
    await expectSameAsTable(backend, lake, ann, () => true);
  },
);

test('lost history is dropped automatically, without affecting the table', async () => {
  const { backend, lake } = await openKept();
  await compact(lake);
  const { generation } = await readState(backend);
  const lost = await deleteAll(backend, 'bronze/');
  expect(lost).toBeGreaterThan(0);
  await backend.clock.advance(limits.sweepMs);
  await keep(lake);
  const state = await readState(backend);
  expect([state.files.size, state.generation]).toEqual([0, generation]);
  await expectSameAsTable(backend, lake, ann, () => true);
  expect((await lake.insight(ann, 'tasks-activity', 30)).data).toEqual(activity);
});
