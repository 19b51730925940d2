import { createConsumer } from '@stak/streams';
import { expect, test } from 'vitest';
import type { ObjectStore } from '../src/index.ts';
import { expectEveryChangeOnce, readBronze, readParquet, readState } from './evidence.ts';
import { capture, keep, openBackend, openLake, readObjects, silent, until } from './lake-fixture.ts';
import { chore, followed, newChore, visit } from './test-table.ts';

test('every kind of change is a row, with both images, keys, sequence and time', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  const { store, clock, engine } = backend;
  const a = { user_id: 'usr_ann', task_id: 'a' };
  await store.put(chore, newChore('usr_ann', 'a', { secret: 'hush', labels: ['x'] }));
  await store.update(chore, a, { set: { status: 'completed' } });
  await store.delete(chore, a);
  await store.put(chore, newChore('t1:u1', 'b', { ttl: clock.now() / 1000 + 60 }));
  await store.put(visit, { user_id: 'usr_ann', at: 5 });
  await backend.client.put({
    TableName: 'chores',
    Item: { pk: 'stray', sk: 'item', bytes: Buffer.from('hi') },
  });
  await clock.advance(3_600_000);
  await engine.sweep();
  await capture(backend, lake);

  const rows = await readBronze(backend);
  const chores = rows
    .filter(row => row.key.includes('TASK#'))
    .sort((x, y) => (x.sequence < y.sequence ? -1 : 1));
  expect(chores.map(row => row.kind)).toEqual(['insert', 'modify', 'remove', 'insert', 'expire']);
  const [first, second, third, fourth, fifth] = chores;
  expect(JSON.parse(first!.key)).toEqual({ pk: 'USER#usr_ann', sk: 'TASK#a' });
  expect(first).toMatchObject({ old: null, account_id: 'usr_ann', tenant_id: null, generation: 0 });
  expect(JSON.parse(first!.new!)).toEqual({ ...newChore('usr_ann', 'a'), labels: ['x'] });
  expect(second).toMatchObject({ old: first!.new, at: new Date(Date.UTC(2026, 0, 1)) });
  expect(third).toMatchObject({ old: second!.new, new: null });
  expect(fourth).toMatchObject({ account_id: null, tenant_id: 't1', user_id: 'u1' });
  expect(fifth).toMatchObject({ old: fourth!.new, new: null });
  const stray = rows.find(row => row.key.includes('stray'));
  expect(JSON.parse(stray!.new!)).toEqual({ pk: 'stray', sk: 'item', bytes: 'aGk=' });
  expect(JSON.stringify(rows)).not.toContain('hush');
  await expectEveryChangeOnce(backend);
});

test('files are named by table, entity, day, shard and sequence', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await backend.store.put(chore, newChore('usr_ann', 'a'));
  await backend.store.put(chore, newChore('usr_ann', 'b'));
  await capture(backend, lake);
  const [row] = await readBronze(backend);
  const [path] = await readObjects(backend.objects, 'bronze/');
  const { shards } = await readState(backend);
  const [shard] = Object.keys(shards);
  expect(path).toBe(
    `bronze/table=chores/entity=chore/day=2026-01-01/${shard}-${row!.sequence}-${shards[shard!]!.through}.parquet`,
  );
});

test('any reader can open silver and gold files', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await backend.store.put(chore, newChore('usr_ann', 'a', { labels: ['x', 'y'], priority: 'low' }));
  await capture(backend, lake);
  await keep(lake);
  const { silver, gold } = await readState(backend);
  const [row] = await readParquet<object>((await backend.objects.get(silver.chore!.path))!);
  expect(row).toMatchObject({
    _account: 'usr_ann',
    _kind: 'snapshot',
    task_id: 'a',
    status: 'pending',
    created_at: 1767225600n,
    due_date: null,
  });
  const [sums] = await readParquet<object>((await backend.objects.get(gold['tasks-by-priority']!.path))!);
  expect(sums).toMatchObject({ _account: 'usr_ann', priority: 'low', tasks: 1 });
});

test('an entity that replaces another ends the old one and starts the new one', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await backend.store.put(chore, newChore('usr_ann', 'a'));
  const stored = { pk: 'USER#usr_ann', sk: 'TASK#a', kind: 'something else', user_id: 'usr_ann' };
  await backend.client.put({ TableName: 'chores', Item: stored });
  await capture(backend, lake);
  const kinds = (await readBronze(backend)).map(row => row.kind);
  expect(kinds.sort()).toEqual(['insert', 'remove']);
});

test('changes of entities that are left out touch no object', async () => {
  const backend = await openBackend();
  const { source, client, clock, store } = backend;
  const calls: string[] = [];
  const count = ([name, method]: [string, (...args: never[]) => unknown]) => [
    name,
    (...args: never[]) => {
      calls.push(name);
      return method(...args);
    },
  ];
  const objects = Object.fromEntries(Object.entries(backend.objects).map(count)) as ObjectStore;
  const lake = openLake(backend, { objects, tables: [{ ...followed, ignore: [visit] }] });
  const [subscription] = lake.subscriptions;
  const consumer = createConsumer({ subscription: subscription!, source, client, clock, log: silent });
  const stopping = new AbortController();
  const ended = consumer.run(stopping.signal);
  await store.put(visit, { user_id: 'usr_ann', at: 5 });
  await until(backend, () => consumer.counters().records === 1);
  expect(calls).toEqual([]);
  await store.put(chore, newChore('usr_ann', 'a'));
  await until(backend, () => consumer.counters().records === 2);
  expect(calls).toContain('put');
  stopping.abort();
  await ended;
});
