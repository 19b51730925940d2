import { expect, it } from 'vitest';
import { createEngine } from '../src/index.ts';
import { hashTable } from './engine-fixture.ts';

it('lets timers run during intensive reads', async () => {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  await engine.execute('CreateTable', hashTable('things'));
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, 1);
  let reads = 0;
  while (!isOver && reads < 1_000_000) {
    await engine.client.get({ TableName: 'things', Key: { pk: 'none' } });
    reads += 1;
  }
  expect(isOver).toBe(true);
  await engine.close();
});

it('lets timers run while a segment of a scan skips items of other segments', async () => {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  await engine.execute('CreateTable', hashTable('things'));
  for (let i = 0; i < 160; i++) {
    const requests = Array.from({ length: 25 }, (_, n) => ({ PutRequest: { Item: { pk: `${i}-${n}` } } }));
    await engine.client.batchWrite({ RequestItems: { things: requests } });
  }
  const found = new Set<unknown>();
  const ticks = new Set<number>();
  let tick = 0;
  const counting = () => {
    tick += 1;
    ticking = setImmediate(counting);
  };
  let ticking = setImmediate(counting);
  for (let Segment = 0; Segment < 8; Segment++) {
    const before = tick;
    const { Items = [] } = await engine.client.scan({ TableName: 'things', Segment, TotalSegments: 8 });
    ticks.add(tick - before);
    for (const { pk } of Items) found.add(pk);
  }
  clearImmediate(ticking);
  expect(found.size).toBe(4000);
  expect(Math.min(...ticks)).toBeGreaterThanOrEqual(4);
  await engine.close();
});

it('skips a partition of another segment without reading its items', async () => {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  await engine.execute('CreateTable', {
    ...hashTable('things'),
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
  });
  const put = (pk: string, from: number) => {
    const requests = Array.from({ length: 25 }, (_, n) => ({ PutRequest: { Item: { pk, sk: from + n } } }));
    return engine.client.batchWrite({ RequestItems: { things: requests } });
  };
  for (let i = 0; i < 2000; i += 25) await put('large', i);
  await put('other', 0);
  const counts = new Map<string, number>();
  for (const Segment of [0, 1, 2, 3])
    for (
      let ExclusiveStartKey: object | undefined, isFirst = true;
      isFirst || ExclusiveStartKey;
      isFirst = false
    ) {
      const page = await engine.client.scan({
        TableName: 'things',
        Segment,
        TotalSegments: 4,
        Limit: 700,
        ...(ExclusiveStartKey && { ExclusiveStartKey: ExclusiveStartKey as { pk: string } }),
      });
      for (const { pk } of page.Items ?? []) counts.set(String(pk), (counts.get(String(pk)) ?? 0) + 1);
      ExclusiveStartKey = page.LastEvaluatedKey;
    }
  expect(Object.fromEntries(counts)).toEqual({ large: 2000, other: 25 });
  await engine.close();
});
