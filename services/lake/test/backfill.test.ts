import { expect, test } from 'vitest';
import { expectSameAsTable, readBronze, readState } from './evidence.ts';
import { ann, bob, capture, keep, openBackend, openLake } from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

const isAnns = (userId: string) => userId === 'usr_ann' || userId.startsWith('t1:');

// As many as a stream has lost by then: what the table had before the lake was there.
async function loseStream(backend: Awaited<ReturnType<typeof openBackend>>): Promise<void> {
  await backend.clock.advance(25 * 60 * 60_000);
  await backend.engine.sweep();
}

test('an existing table joins its stream without gaps or duplicates', async () => {
  const backend = await openBackend();
  const { store, client } = backend;
  for (let i = 0; i < 40; i++) await store.put(chore, newChore('usr_ann', `old-${i}`));
  await loseStream(backend);
  await store.put(chore, newChore('usr_ann', 'old-1', { title: 'changed before the scan' }));

  // Items change while they are scanned: before their segment is read, after it, and both.
  let scans = 0;
  const scan: typeof client.scan = async input => {
    const n = scans++;
    await store.put(chore, newChore('usr_ann', `old-${n}`, { title: `before scan ${n}` }));
    const page = await client.scan(input);
    await store.put(chore, newChore('usr_ann', `old-${n + 3}`, { title: `after scan ${n}` }));
    await store.delete(chore, { user_id: 'usr_ann', task_id: `old-${39 - n}` });
    if (n % 4 === 0) await store.put(chore, newChore('usr_ann', `new-${n}`));
    return page;
  };
  const lake = openLake(backend, { client: { ...client, scan } });
  await capture(backend, lake);
  await keep(lake);
  await capture(backend, lake);
  await expectSameAsTable(backend, lake, ann, isAnns);
  await keep(lake);
  await expectSameAsTable(backend, lake, ann, isAnns);

  const { rows } = await lake.query(ann, 'select count(*), count(distinct task_id) from tasks');
  expect(rows[0]![0]).toBe(rows[0]![1]);
  const snapshots = (await readBronze(backend)).filter(row => row.kind === 'snapshot').map(row => row.key);
  expect(new Set(snapshots).size).toBe(snapshots.length);
  const total = (await lake.insight(ann, 'tasks-by-status', 30)).data.reduce(
    (sum, row) => sum + Number(row.tasks),
    0,
  );
  expect(total).toBe(rows[0]![0]);
});

test('results are not up to date before the table was read', async () => {
  const backend = await openBackend();
  const { store, clock } = backend;
  await store.put(chore, newChore('usr_ann', 'old'));
  await loseStream(backend);
  const lake = openLake(backend);
  await capture(backend, lake);
  // The stream has nothing that is missing, the table has.
  const never = { caught_up: false, as_of: '1970-01-01T00:00:00.000Z', lag_ms: clock.now() };
  expect(await lake.insight(ann, 'tasks-by-status', 30)).toMatchObject({ data: [], ...never });
  expect(await lake.query(ann, 'select * from tasks')).toMatchObject({ rows: [], ...never });
  expect((await lake.status()).tables[0]).toMatchObject(never);
  await keep(lake);
  const whole = { caught_up: true, as_of: new Date(clock.now()).toISOString(), lag_ms: 0 };
  const data = [{ status: 'pending', tasks: 1 }];
  expect(await lake.insight(ann, 'tasks-by-status', 30)).toMatchObject({ data, ...whole });

  // Read again, because something was lost: nobody knows what, but nothing from before the last time.
  await clock.advance(60_000);
  await lake.backfill('chores');
  const again = { caught_up: false, as_of: whole.as_of, lag_ms: 60_000 };
  expect(await lake.insight(ann, 'tasks-by-status', 30)).toMatchObject({ data, ...again });
});

test('insights are right during a backfill', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  for (let i = 0; i < 20; i++) await backend.store.put(chore, newChore('usr_ann', `${i}`));
  await capture(backend, lake);
  await keep(lake);
  await lake.backfill('chores');
  for (let step = 0; step < 10; step++) {
    await lake.keep('chores');
    const { data } = await lake.insight(ann, 'tasks-by-status', 30);
    expect(data).toEqual([{ status: 'pending', tasks: 20 }]);
  }
});

test('after changes were lost, a new backfill finds deletions', async () => {
  const backend = await openBackend();
  const { store } = backend;
  const lake = openLake(backend);
  for (const id of ['stays', 'goes', 'changes']) await store.put(chore, newChore('usr_ann', id));
  await store.put(chore, newChore('usr_bob', 'of bob'));
  await capture(backend, lake);
  await keep(lake);

  await store.delete(chore, { user_id: 'usr_ann', task_id: 'goes' });
  await store.put(chore, newChore('usr_ann', 'changes', { title: 'unseen' }));
  await loseStream(backend);
  await store.put(chore, newChore('usr_ann', 'comes'));
  await capture(backend, lake);
  await lake.backfill('chores');
  await keep(lake);
  await expectSameAsTable(backend, lake, ann, isAnns);
  await expectSameAsTable(backend, lake, bob, userId => userId === 'usr_bob');
  expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual([{ status: 'pending', tasks: 3 }]);
  const { generation, completeGeneration } = await readState(backend);
  expect([generation, completeGeneration]).toEqual([2, 2]);
});

test('a new attribute becomes a column, also for older rows', async () => {
  const backend = await openBackend();
  const { choreSchema, choresOf } = await import('./schema-versions.ts');
  const before = openLake(backend, {
    tables: [choresOf(choreSchema.omit({ priority: true }))],
    insights: [],
  });
  await backend.store.put(chore, newChore('usr_ann', 'a', { priority: 'high' }));
  await capture(backend, before);
  await keep(before);
  const ask = 'select task_id, priority from tasks order by 1';
  await expect(before.query(ann, ask)).rejects.toMatchObject({ code: 'lake.sql_invalid' });

  const after = openLake(backend);
  await backend.store.put(chore, newChore('usr_ann', 'b', { priority: 'low' }));
  await capture(backend, after);
  const expected = [
    ['a', 'high'],
    ['b', 'low'],
  ];
  expect((await after.query(ann, ask)).rows).toEqual(expected);
  await keep(after);
  expect((await after.query(ann, ask)).rows).toEqual(expected);
  const { silver } = await readState(backend);
  expect(silver.chore!.rows).toBe(2);
});

test('an attribute that changes its type is read as far as possible', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  const stored = { pk: 'USER#usr_ann', sk: 'TASK#odd', ...newChore('usr_ann', 'odd') };
  await backend.client.put({ TableName: 'chores', Item: { ...stored, created_at: 'yesterday', title: 7 } });
  await capture(backend, lake);
  for (const _ of ['from bronze', 'from silver']) {
    expect((await lake.query(ann, 'select title, created_at, status from tasks')).rows).toEqual([
      ['7', null, 'pending'],
    ]);
    await keep(lake);
  }
});
