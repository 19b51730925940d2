import { expect, test } from 'vitest';
import { errand, newErrand, visit } from './errands.ts';
import { expectEveryChangeOnce, readBronze, readParquet, readState } from './evidence.ts';
import { capture, keep, openHouse, openLake, readObjects } from './lake-fixture.ts';

test('every kind of change is a row, with both images, keys, sequence and time', async () => {
  const house = await openHouse();
  const lake = openLake(house);
  const { store, clock, engine } = house;
  const a = { user_id: 'usr_ann', task_id: 'a' };
  await store.put(errand, newErrand('usr_ann', 'a', { secret: 'hush', labels: ['x'] }));
  await store.update(errand, a, { set: { status: 'completed' } });
  await store.delete(errand, a);
  await store.put(errand, newErrand('t1:u1', 'b', { ttl: clock.now() / 1000 + 60 }));
  await store.put(visit, { user_id: 'usr_ann', at: 5 });
  await house.client.put({
    TableName: 'errands',
    Item: { pk: 'stray', sk: 'item', bytes: Buffer.from('hi') },
  });
  await clock.advance(3_600_000);
  await engine.sweep();
  await capture(house, lake);

  const rows = await readBronze(house);
  const errands = rows
    .filter(row => row.key.includes('TASK#'))
    .sort((x, y) => (x.sequence < y.sequence ? -1 : 1));
  expect(errands.map(row => row.kind)).toEqual(['insert', 'modify', 'remove', 'insert', 'expire']);
  const [first, second, third, fourth, fifth] = errands;
  expect(JSON.parse(first!.key)).toEqual({ pk: 'USER#usr_ann', sk: 'TASK#a' });
  expect(first).toMatchObject({ old: null, account_id: 'usr_ann', tenant_id: null, generation: 0 });
  expect(JSON.parse(first!.new!)).toEqual({ ...newErrand('usr_ann', 'a'), labels: ['x'] });
  expect(second).toMatchObject({ old: first!.new, at: new Date(Date.UTC(2026, 0, 1)) });
  expect(third).toMatchObject({ old: second!.new, new: null });
  expect(fourth).toMatchObject({ account_id: null, tenant_id: 't1', user_id: 'u1' });
  expect(fifth).toMatchObject({ old: fourth!.new, new: null });
  const stray = rows.find(row => row.key.includes('stray'));
  expect(JSON.parse(stray!.new!)).toEqual({ pk: 'stray', sk: 'item', bytes: 'aGk=' });
  expect(JSON.stringify(rows)).not.toContain('hush');
  await expectEveryChangeOnce(house);
});

test('files are named by table, entity, day, shard and sequence', async () => {
  const house = await openHouse();
  const lake = openLake(house);
  await house.store.put(errand, newErrand('usr_ann', 'a'));
  await house.store.put(errand, newErrand('usr_ann', 'b'));
  await capture(house, lake);
  const [row] = await readBronze(house);
  const [path] = await readObjects(house.objects, 'bronze/');
  const { shards } = await readState(house);
  const [shard] = Object.keys(shards);
  expect(path).toBe(
    `bronze/table=errands/entity=errand/day=2026-01-01/${shard}-${row!.sequence}-${shards[shard!]!.through}.parquet`,
  );
});

test('silver and gold are files that any reader opens', async () => {
  const house = await openHouse();
  const lake = openLake(house);
  await house.store.put(errand, newErrand('usr_ann', 'a', { labels: ['x', 'y'], priority: 'low' }));
  await capture(house, lake);
  await keep(lake);
  const { silver, gold } = await readState(house);
  const [row] = await readParquet<object>((await house.objects.get(silver.errand!.path))!);
  expect(row).toMatchObject({
    _account: 'usr_ann',
    _kind: 'snapshot',
    task_id: 'a',
    status: 'pending',
    created_at: 1767225600n,
    due_date: null,
  });
  const [sums] = await readParquet<object>((await house.objects.get(gold['tasks-by-priority']!.path))!);
  expect(sums).toMatchObject({ _account: 'usr_ann', priority: 'low', tasks: 1 });
});

test('one entity in the place of another is the end of one and the beginning of the other', async () => {
  const house = await openHouse();
  const lake = openLake(house);
  await house.store.put(errand, newErrand('usr_ann', 'a'));
  const stored = { pk: 'USER#usr_ann', sk: 'TASK#a', kind: 'something else', user_id: 'usr_ann' };
  await house.client.put({ TableName: 'errands', Item: stored });
  await capture(house, lake);
  const kinds = (await readBronze(house)).map(row => row.kind);
  expect(kinds.sort()).toEqual(['insert', 'remove']);
});
