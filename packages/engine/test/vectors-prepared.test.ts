import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PreparedWrite } from '../src/prepared/write.ts';
import { call, openTwins } from './engine-fixture.ts';
import { search, vectorIndex, vectorIndexes, vectorTable } from './vectors-fixture.ts';

// Prepared writes leave vector indexes as the wire operations do, or are not supported and write nothing.

const TableName = 'notes';
const byTitle = vectorIndex({
  IndexName: 'byTitle',
  Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['title'] },
});

const small = fc.integer({ min: -2, max: 2 });
const vector = fc.oneof(
  { arbitrary: fc.tuple(small, small, small), weight: 6 },
  fc.constantFrom<unknown>([0.5, 1e-7, 0], [1, 2], [1, 2, 'x'], 'text', [1e39, 0, 0]),
);
const part = fc.oneof({ arbitrary: fc.constantFrom('x', 'y'), weight: 6 }, fc.constantFrom<unknown>('', 1));
const item = fc.record(
  { embedding: vector, tenant: part, category: part, title: fc.constantFrom('a', 'long title') },
  { requiredKeys: [] },
);
const pk = fc.constantFrom('a', 'b', 'c');
const write: fc.Arbitrary<PreparedWrite> = fc
  .oneof(
    { arbitrary: fc.tuple(pk, item), weight: 3 },
    { arbitrary: pk, weight: 1 },
    { arbitrary: fc.record({ pk, title: fc.constantFrom('b', 'another') }), weight: 2 },
  )
  .map(one => {
    if (typeof one === 'string') return { kind: 'delete', table: TableName, key: { pk: one } };
    if (Array.isArray(one)) return { kind: 'put', table: TableName, item: { pk: one[0], ...one[1] } };
    const changes = [{ op: 'set' as const, path: 'title', value: one.title }];
    return { kind: 'update', table: TableName, key: { pk: one.pk }, changes };
  });

test('prepared writes change vector indexes as those of the wire do', async () => {
  let supported = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(write, { maxLength: 15 }), async writes => {
      const VectorIndexes = [...vectorIndexes, byTitle];
      const [engine, twin] = await openTwins(vectorTable(TableName, { VectorIndexes }));
      try {
        for (const one of writes) {
          const done = await engine.client.put.prepared!.writeOne(one, { bills: false });
          if (!done) continue;
          supported++;
          if (one.kind === 'put') await twin.client.put({ TableName, Item: one.item });
          else if (one.kind === 'delete') await twin.client.delete({ TableName, Key: one.key });
          else if (one.kind === 'update')
            await twin.client.update({
              TableName,
              Key: one.key,
              UpdateExpression: 'SET title = :t',
              ExpressionAttributeValues: { ':t': one.changes[0]!.value },
            });
        }
        const [own, other] = await Promise.all(
          [engine, twin].map(async one => ({
            table: (await call(one, 'DescribeTable', { TableName })).Table.VectorIndexes,
            found: await search(one, [1, 2, 0]),
            ofTenant: await search(one, [1, 2, 0], {
              IndexName: 'ofTenant',
              SearchConditionExpression: 'tenant = :x AND category = :x',
              ExpressionAttributeValues: { ':x': { S: 'x' } },
            }),
            problems: one.check().problems,
          })),
        );
        expect(own).toEqual(other);
        expect(own!.problems).toEqual([]);
      } finally {
        await engine.close();
        await twin.close();
      }
    }),
    { numRuns: 60 },
  );
  expect(supported).toBeGreaterThan(100);
});

test('a vector that an index cannot hold is refused by the client, before its condition is looked at', async () => {
  const [engine, twin] = await openTwins(vectorTable());
  try {
    const stored = { pk: 'a', embedding: [1, 2, 3] };
    await engine.client.put({ TableName, Item: stored });
    for (const embedding of [[1, 2], [1, 2, 'x'], 'text'])
      await expect(
        engine.client.put({
          TableName,
          Item: { pk: 'a', embedding },
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      ).rejects.toMatchObject({ name: 'ValidationException' });
    expect((await engine.client.get({ TableName, Key: { pk: 'a' } })).Item).toEqual(stored);
  } finally {
    await engine.close();
    await twin.close();
  }
});
