import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { call, hashTable, newIndex, openEngine, streaming, testClock } from './engine-fixture.ts';

const clock = testClock(Date.UTC(2026, 0, 1, 12));
let engine: Engine;

beforeEach(async () => {
  clock.ms = Date.UTC(2026, 0, 1, 12);
  engine = await openEngine({ clock, region: 'eu-west-1', accountId: '123456789012' });
});
afterEach(() => engine.close());

const describe = async (name: string) => (await call(engine, 'DescribeTable', { TableName: name })).Table;
const update = (name: string, changes: object) =>
  call(engine, 'UpdateTable', { TableName: name, ...changes });
const provisioned = { ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 } };

test('a new table is returned as CREATING and described as ACTIVE', async () => {
  const { TableDescription } = await call(engine, 'CreateTable', hashTable('orders'));
  expect(TableDescription).toMatchObject({ TableStatus: 'CREATING', ItemCount: 0, TableSizeBytes: 0 });
  expect(TableDescription.BillingModeSummary).toEqual({ BillingMode: 'PAY_PER_REQUEST' });
  expect(await describe('orders')).toEqual({
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    TableName: 'orders',
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    TableStatus: 'ACTIVE',
    CreationDateTime: clock.ms / 1000,
    ProvisionedThroughput: { NumberOfDecreasesToday: 0, ReadCapacityUnits: 0, WriteCapacityUnits: 0 },
    TableSizeBytes: 0,
    ItemCount: 0,
    TableArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/orders',
    TableId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
    BillingModeSummary: {
      BillingMode: 'PAY_PER_REQUEST',
      LastUpdateToPayPerRequestDateTime: clock.ms / 1000,
    },
    DeletionProtectionEnabled: false,
  });
});

test('an index needs its keys defined, in the types that they have', async () => {
  await call(engine, 'CreateTable', hashTable('orders'));
  const { GlobalSecondaryIndexUpdates } = newIndex('by-pk', 'pk');
  await expect(update('orders', { GlobalSecondaryIndexUpdates })).rejects.toMatchObject({
    name: 'ValidationException',
    message:
      'One or more parameter values were invalid: AttributeDefinitions is not specified for index: by-pk',
  });
  await expect(update('orders', newIndex('by-pk', 'pk', 'N'))).rejects.toMatchObject({
    name: 'ValidationException',
    message: expect.stringContaining('cannot be redefined as N'),
  });
  await expect(
    update('orders', {
      ...newIndex('by-day', 'day'),
      AttributeDefinitions: ['S', 'N'].map(type => ({ AttributeName: 'day', AttributeType: type })),
    }),
  ).rejects.toMatchObject({ message: 'Attribute Name is duplicated: day' });
  await update('orders', newIndex('by-pk', 'pk'));
});

test('a batch accepts ARNs of tables, and responds with the same names', async () => {
  await call(engine, 'CreateTable', hashTable('orders'));
  const { TableArn: arn } = await describe('orders');
  const keys = [{ pk: { S: 'a' } }];
  const written = await call(engine, 'BatchWriteItem', {
    ReturnConsumedCapacity: 'TOTAL',
    RequestItems: { [arn]: keys.map(Item => ({ PutRequest: { Item } })) },
  });
  expect(written.ConsumedCapacity).toEqual([{ TableName: arn, CapacityUnits: 1 }]);
  const { Responses } = await call(engine, 'BatchGetItem', { RequestItems: { [arn]: { Keys: keys } } });
  expect(Responses).toEqual({ [arn]: keys });
  const twice = 'Provided list of item keys contains duplicates';
  const requests = keys.map(Item => ({ PutRequest: { Item } }));
  await expect(
    call(engine, 'BatchWriteItem', { RequestItems: { [arn]: requests, orders: requests } }),
  ).rejects.toThrow(twice);
  await expect(
    call(engine, 'BatchGetItem', { RequestItems: { [arn]: { Keys: keys }, orders: { Keys: keys } } }),
  ).rejects.toThrow(twice);
  await expect(
    call(engine, 'BatchGetItem', { RequestItems: { [`${arn}/index/x`]: { Keys: keys } } }),
  ).rejects.toMatchObject({ name: 'ValidationException' });
});

test('sets come back sorted', async () => {
  await call(engine, 'CreateTable', hashTable('orders'));
  const bytes = (...values: number[]) => values.map(value => Uint8Array.of(value));
  const sets = { pk: 'a', texts: new Set(['b', '\u{1F600}', 'a', '\uFF5E']), numbers: new Set([10, 9, -1]) };
  await engine.client.put({ TableName: 'orders', Item: { ...sets, bytes: new Set(bytes(2, 1)) } });
  const { Attributes } = await engine.client.update({
    TableName: 'orders',
    Key: { pk: 'a' },
    UpdateExpression: 'ADD texts :t, numbers :n, bytes :b',
    ExpressionAttributeValues: {
      ':t': new Set(['aa']),
      ':n': new Set([9.5]),
      ':b': new Set(bytes(3, 0)),
    },
    ReturnValues: 'ALL_NEW',
  });
  const { Item } = await engine.client.get({ TableName: 'orders', Key: { pk: 'a' } });
  expect(Attributes).toEqual(Item);
  expect([...Item!.texts]).toEqual(['a', 'aa', 'b', '\uFF5E', '\u{1F600}']);
  expect([...Item!.numbers]).toEqual([-1, 9, 9.5, 10]);
  expect([...Item!.bytes]).toEqual(bytes(0, 1, 2, 3));
});

test('a table describes its indexes, stream, class and encryption', async () => {
  await call(engine, 'CreateTable', {
    TableName: 'orders',
    AttributeDefinitions: ['pk', 'sk', 'at', 'who'].map(name => ({
      AttributeName: name,
      AttributeType: 'S',
    })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    LocalSecondaryIndexes: [
      {
        IndexName: 'byTime',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'at', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'byPerson',
        KeySchema: [{ AttributeName: 'who', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['total'] },
        ...provisioned,
      },
    ],
    ...provisioned,
    ...streaming('KEYS_ONLY'),
    TableClass: 'STANDARD_INFREQUENT_ACCESS',
    SSESpecification: { Enabled: true, SSEType: 'KMS', KMSMasterKeyId: 'key' },
  });
  const item = { pk: { S: 'a' }, sk: { S: 'b' }, at: { S: 'c' }, who: { S: 'd' }, total: { N: '1' } };
  await call(engine, 'PutItem', { TableName: 'orders', Item: item });
  const table = await describe('orders');
  expect(table).toMatchObject({
    ItemCount: 1,
    TableSizeBytes: 20,
    LatestStreamLabel: '2026-01-01T12:00:00.000',
    LatestStreamArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/orders/stream/2026-01-01T12:00:00.000',
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
    TableClassSummary: { TableClass: 'STANDARD_INFREQUENT_ACCESS' },
    SSEDescription: { Status: 'ENABLED', SSEType: 'KMS', KMSMasterKeyArn: 'key' },
  });
  expect(table.BillingModeSummary).toBeUndefined();
  expect(table.LocalSecondaryIndexes).toEqual([
    {
      IndexName: 'byTime',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'at', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
      IndexSizeBytes: 9,
      ItemCount: 1,
      IndexArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/orders/index/byTime',
    },
  ]);
  expect(table.GlobalSecondaryIndexes).toEqual([
    expect.objectContaining({
      IndexStatus: 'ACTIVE',
      ItemCount: 1,
      IndexSizeBytes: 17,
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['total'] },
      ProvisionedThroughput: { NumberOfDecreasesToday: 0, ReadCapacityUnits: 5, WriteCapacityUnits: 5 },
    }),
  ]);
});

test('names are unique', async () => {
  const both = await Promise.allSettled([
    call(engine, 'CreateTable', hashTable('orders')),
    call(engine, 'CreateTable', hashTable('orders')),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(call(engine, 'CreateTable', hashTable('orders'))).rejects.toMatchObject({
    name: 'ResourceInUseException',
    message: 'Table already exists: orders',
  });
});

test.each(['DescribeTable', 'DeleteTable', 'DescribeTimeToLive'] as const)(
  '%s names the missing table',
  async op => {
    await expect(call(engine, op, { TableName: 'nowhere' })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: 'Requested resource not found: Table: nowhere not found',
    });
  },
);

test('a dropped table is removed with its records, and its name is free at once', async () => {
  await call(engine, 'CreateTable', hashTable('orders'));
  await update('orders', newIndex('byColor', 'color'));
  await engine.settled();
  const items = Array.from({ length: 1500 }, (_, i) => ({ pk: { S: `o${i}` }, color: { S: 'red' } }));
  await Promise.all(items.map(Item => call(engine, 'PutItem', { TableName: 'orders', Item })));
  const { TableDescription } = await call(engine, 'DeleteTable', { TableName: 'orders' });
  expect(TableDescription).toMatchObject({ TableName: 'orders', TableStatus: 'DELETING' });
  await call(engine, 'CreateTable', hashTable('orders'));
  expect(engine.check()).toMatchObject({ problems: [] });
  expect((await call(engine, 'Scan', { TableName: 'orders' })).Items).toEqual([]);
  await engine.settled();
  expect(engine.check()).toMatchObject({ items: 0, indexEntries: 0, problems: [] });
});

test('a protected table is not dropped', async () => {
  await call(engine, 'CreateTable', hashTable('orders', { DeletionProtectionEnabled: true }));
  await expect(call(engine, 'DeleteTable', { TableName: 'orders' })).rejects.toThrow(
    'Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.',
  );
  await update('orders', { DeletionProtectionEnabled: false });
  await call(engine, 'DeleteTable', { TableName: 'orders' });
});

test('tables are listed by name, in pages', async () => {
  for (const name of ['cherry', 'apple', 'banana']) await call(engine, 'CreateTable', hashTable(name));
  expect(await call(engine, 'ListTables')).toEqual({ TableNames: ['apple', 'banana', 'cherry'] });
  expect(await call(engine, 'ListTables', { Limit: 2 })).toEqual({
    TableNames: ['apple', 'banana'],
    LastEvaluatedTableName: 'banana',
  });
  expect(await call(engine, 'ListTables', { Limit: 2, ExclusiveStartTableName: 'banana' })).toEqual({
    TableNames: ['cherry'],
  });
});

test('throughput and billing change, and remember when', async () => {
  await call(engine, 'CreateTable', { ...hashTable('orders', provisioned), BillingMode: 'PROVISIONED' });
  await expect(update('orders', provisioned)).rejects.toThrow('will not change');
  clock.ms += 1000;
  await update('orders', { ProvisionedThroughput: { ReadCapacityUnits: 9, WriteCapacityUnits: 1 } });
  expect((await describe('orders')).ProvisionedThroughput).toEqual({
    LastIncreaseDateTime: clock.ms / 1000,
    LastDecreaseDateTime: clock.ms / 1000,
    NumberOfDecreasesToday: 1,
    ReadCapacityUnits: 9,
    WriteCapacityUnits: 1,
  });
  clock.ms += 24 * 60 * 60_000;
  expect((await describe('orders')).ProvisionedThroughput.NumberOfDecreasesToday).toBe(0);

  await update('orders', { BillingMode: 'PAY_PER_REQUEST' });
  const table = await describe('orders');
  expect(table.BillingModeSummary).toEqual({
    BillingMode: 'PAY_PER_REQUEST',
    LastUpdateToPayPerRequestDateTime: clock.ms / 1000,
  });
  expect(table.ProvisionedThroughput.ReadCapacityUnits).toBe(0);
  await update('orders', { BillingMode: 'PAY_PER_REQUEST' });
  await update('orders', { BillingMode: 'PROVISIONED', ...provisioned });
  expect((await describe('orders')).BillingModeSummary?.BillingMode).toBe('PROVISIONED');
});

test('an impossible update is refused and changes nothing', async () => {
  await call(engine, 'CreateTable', hashTable('orders'));
  await update('orders', newIndex('byColor', 'color'));
  await engine.settled();
  const before = await describe('orders');
  const refused: [object, string][] = [
    [newIndex('byColor', 'color'), 'ValidationException'],
    [{ ...newIndex('bySize', 'size'), AttributeDefinitions: undefined }, 'ValidationException'],
    [{ GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'none' } }] }, 'ResourceNotFoundException'],
    [
      {
        ...newIndex('bySize', 'size'),
        GlobalSecondaryIndexUpdates: [
          ...newIndex('bySize', 'size').GlobalSecondaryIndexUpdates,
          { Delete: { IndexName: 'byColor' } },
        ],
      },
      'LimitExceededException',
    ],
    [{ StreamSpecification: { StreamEnabled: false } }, 'ValidationException'],
    [{ StreamSpecification: { StreamEnabled: true } }, 'ValidationException'],
    [{ BillingMode: 'PROVISIONED', ...provisioned }, 'ValidationException'],
    [{ BillingMode: 'PAY_PER_REQUEST', ...provisioned }, 'ValidationException'],
  ];
  for (const [changes, name] of refused)
    await expect(update('orders', changes)).rejects.toMatchObject({ name });
  await expect(update('nowhere', provisioned)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  expect(await describe('orders')).toEqual(before);
});

test('tags are added, replaced and removed, whatever their names', async () => {
  await call(engine, 'CreateTable', hashTable('orders', { Tags: [{ Key: 'env', Value: 'test' }] }));
  const ResourceArn = 'arn:aws:dynamodb:eu-west-1:123456789012:table/orders';
  const tags = async () => (await call(engine, 'ListTagsOfResource', { ResourceArn })).Tags;
  const Tags = [
    { Key: 'env', Value: 'live' },
    { Key: '__proto__', Value: 'ключ é 表 +-=._:/@' },
  ];
  await call(engine, 'TagResource', { ResourceArn, Tags });
  expect(await tags()).toEqual(Tags);
  await call(engine, 'UntagResource', { ResourceArn, TagKeys: ['env', 'unknown'] });
  expect(await tags()).toEqual([{ Key: '__proto__', Value: 'ключ é 表 +-=._:/@' }]);
  const many = Array.from({ length: 50 }, (_, i) => ({ Key: `t${i}`, Value: '' }));
  await expect(call(engine, 'TagResource', { ResourceArn, Tags: many })).rejects.toMatchObject({
    name: 'ValidationException',
  });
  expect(await tags()).toHaveLength(1);
});

test('tags of a missing table, and of another account', async () => {
  const list = (arn: string) => call(engine, 'ListTagsOfResource', { ResourceArn: arn });
  const own = 'arn:aws:dynamodb:eu-west-1:123456789012:table/nowhere';
  await expect(list(own)).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
    message: `Requested resource not found: ResourceArn: ${own} not found`,
  });
  await expect(list('arn:aws:dynamodb:eu-west-1:999999999999:table/nowhere')).rejects.toMatchObject({
    name: 'AccessDeniedException',
  });
});

test('ids are never reused, even after a drop', async () => {
  for (let i = 0; i < 3; i++) {
    await call(engine, 'CreateTable', hashTable('orders', streaming()));
    await call(engine, 'PutItem', { TableName: 'orders', Item: { pk: { S: 'a' } } });
    expect((await call(engine, 'Scan', { TableName: 'orders' })).Count).toBe(1);
    await call(engine, 'DeleteTable', { TableName: 'orders' });
  }
  await engine.settled();
  const { Streams } = await call(engine, 'ListStreams', { TableName: 'orders' });
  expect(new Set(Streams.map(stream => stream.StreamArn)).size).toBe(3);
  expect(engine.check().problems).toEqual([]);
});

const tag = (Key: string, Value: string) => ({ Key, Value });

test.each([
  [
    { GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'ghost' } }] },
    'Requested resource not found: Index ghost for table orders',
  ],
  [{ StreamSpecification: { StreamEnabled: false } }, 'Table has no stream to disable: TableName: orders'],
  [
    { StreamSpecification: { StreamEnabled: true } },
    'If stream is being enabled then UpdateViewType is required',
  ],
  [
    { SSESpecification: { Enabled: true }, TableClass: 'STANDARD' },
    'Server-Side Encryption modification must be the only operation in the request',
  ],
  [
    { DeletionProtectionEnabled: true, BillingMode: 'PAY_PER_REQUEST' },
    'DeletionProtection modification must be the only operation in the request',
  ],
])('UpdateTable refuses %j as DynamoDB does', async (change, message) => {
  await call(engine, 'CreateTable', hashTable('orders'));
  await expect(update('orders', change)).rejects.toThrow(message);
});

test.each([
  [[tag('a', '1'), tag('a', '2')], 'Duplicate Tag Keys provided as input: Duplicate Tag Key found a'],
  [[tag('AWS:a', '1')], 'Tag Key cannot be prefixed with aws:, Key: AWS:a'],
  [
    Array.from({ length: 51 }, (_, i) => tag(`k${i}`, '')),
    'Number of Tags exceed the current limit for the provided ResourceArn',
  ],
  [[tag('a', 'x,y')], 'The Tag Value provided is invalid, Value: x,y'],
  [[tag('#a', '')], 'The Tag Key provided is invalid, Key: #a'],
  [[tag('', 'a')], 'The Tag Key provided is invalid, Key: '],
  [[tag('k'.repeat(129), 'a')], 'The Tag Key provided is invalid, Key: kkk'],
  [[{ Key: 'a' }], 'The Tag Value provided is invalid, Value: null'],
])('tags are refused as DynamoDB does, case %#', async (Tags, message) => {
  await expect(call(engine, 'CreateTable', hashTable('orders', { Tags }))).rejects.toThrow(message);
});

test('limits, endpoints and backups return what tools request', async () => {
  await call(engine, 'CreateTable', hashTable('orders'));
  expect(await call(engine, 'DescribeLimits')).toMatchObject({ TableMaxReadCapacityUnits: 40_000 });
  expect((await call(engine, 'DescribeEndpoints')).Endpoints[0]?.Address).toBe(
    'dynamodb.eu-west-1.amazonaws.com',
  );
  const backups = await call(engine, 'DescribeContinuousBackups', { TableName: 'orders' });
  expect(backups.ContinuousBackupsDescription.PointInTimeRecoveryDescription).toEqual({
    PointInTimeRecoveryStatus: 'DISABLED',
  });
});
