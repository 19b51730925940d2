import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/engine.ts';
import type { PartitionUsage } from '../src/partition-usage.ts';

// The units by partition add up to what the answer of each call says it consumed.

let engine: Engine;
let usages: PartitionUsage[] = [];

beforeAll(async () => {
  engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0, onUsage: usage => usages.push(usage) });
  await engine.execute('CreateTable', {
    TableName: 'things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk', 'group'].map(name => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-group',
        KeySchema: [{ AttributeName: 'group', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });
});
afterAll(() => engine.close());

const letter = fc.constantFrom('a', 'b', 'c');
const Key = fc.record({ pk: letter, sk: letter });
const Item = fc
  .tuple(Key, fc.option(letter, { nil: undefined }), fc.nat(5_000))
  .map(([key, group, size]) => ({ ...key, ...(group && { group }), text: 'x'.repeat(size) }));
const TableName = 'things';
const write = fc.oneof(
  Item.map(Item => ({ Put: { TableName, Item } })),
  Key.map(Key => ({ Delete: { TableName, Key } })),
  Key.map(Key => ({
    ConditionCheck: {
      TableName,
      Key,
      ConditionExpression: 'pk <> :x',
      ExpressionAttributeValues: { ':x': 'x' },
    },
  })),
);

const ReturnConsumedCapacity = 'INDEXES' as const;
const call = fc.oneof(
  Item.map(Item => () => engine.client.put({ TableName, Item, ReturnConsumedCapacity })),
  Key.map(Key => () => engine.client.delete({ TableName, Key, ReturnConsumedCapacity })),
  fc.tuple(Key, letter).map(
    ([Key, group]) =>
      () =>
        engine.client.update({
          TableName,
          Key,
          UpdateExpression: 'SET #g = :g',
          ExpressionAttributeNames: { '#g': 'group' },
          ExpressionAttributeValues: { ':g': group },
          ReturnConsumedCapacity,
        }),
  ),
  fc.tuple(Key, fc.boolean()).map(
    ([Key, ConsistentRead]) =>
      () =>
        engine.client.get({ TableName, Key, ConsistentRead, ReturnConsumedCapacity }),
  ),
  letter.map(
    group => () =>
      engine.client.query({
        TableName,
        IndexName: 'by-group',
        KeyConditionExpression: '#g = :g',
        ExpressionAttributeNames: { '#g': 'group' },
        ExpressionAttributeValues: { ':g': group },
        ReturnConsumedCapacity,
      }),
  ),
  fc
    .uniqueArray(write, {
      minLength: 1,
      maxLength: 3,
      selector: one => {
        const { pk, sk } =
          'Put' in one ? one.Put.Item : 'Delete' in one ? one.Delete.Key : one.ConditionCheck.Key;
        return pk + sk;
      },
    })
    .map(
      TransactItems => () => engine.client.transactWrite({ TransactItems, ReturnConsumedCapacity } as never),
    ),
);

it('adds up to DynamoDB’s bill', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async calls => {
      for (const one of calls) {
        usages = [];
        const { ConsumedCapacity } = (await one()) as { ConsumedCapacity: object };
        const billed = [ConsumedCapacity].flat() as { CapacityUnits: number }[];
        const sum = usages.reduce((total, { units }) => total + units, 0);
        expect(sum).toBe(billed.reduce((total, { CapacityUnits }) => total + CapacityUnits, 0));
      }
    }),
    { numRuns: 60 },
  );
});

it('names the partition of the table and of the index', async () => {
  usages = [];
  await engine.client.put({ TableName, Item: { pk: 'p', sk: 's', group: 'g', text: 'x'.repeat(2000) } });
  expect(usages).toEqual([
    { table: 'things', partition: 'p', kind: 'write', units: 2 },
    { table: 'things', index: 'by-group', partition: 'g', kind: 'write', units: 2 },
  ]);
  usages = [];
  await engine.client.get({ TableName, Key: { pk: 'p', sk: 's' }, ConsistentRead: true });
  expect(usages).toEqual([{ table: 'things', partition: 'p', kind: 'read', units: 1 }]);
});
