import { DynamoDBClient, SearchVectorsCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, SearchVectorsCommand as SearchPlain } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createHttpServer, type Engine, type Item } from '../src/index.ts';
import { call, openEngine } from './engine-fixture.ts';
import { note, search, searchVector, vectorTable } from './vectors-fixture.ts';

// Texts and behaviour are those that were seen of Amazon's service in August 2026.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearchWorkingWith.html

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
  return () => engine.close();
});

const put = (Item: Item, more: object = {}) => call(engine, 'PutItem', { TableName: 'notes', Item, ...more });
const invalid = 'One or more parameter values were invalid: ';

async function expectRefusal(asked: Promise<unknown>, message: string, name = 'ValidationException') {
  await expect(asked).rejects.toMatchObject({ name, message });
}

describe('a write', () => {
  beforeEach(() => call(engine, 'CreateTable', vectorTable()) as Promise<never>);

  const vectorRefusals: [string, Item, string][] = [
    [
      'another number of dimensions',
      note('a', [1, 0]),
      'Invalid size for parameter embedding, Expected: 3, Actual: 2 IndexName: byMeaning',
    ],
    [
      'a member that is no number',
      { pk: { S: 'a' }, embedding: { L: [{ N: '1' }, { S: 'oops' }, { N: '0' }] } },
      'Invalid type for parameter embedding[1], Expected: 32-bit floating point number, Actual: S. IndexName: byMeaning',
    ],
    [
      'a number that is too large',
      { pk: { S: 'a' }, embedding: { L: [{ N: '1' }, { N: '0' }, { N: '1e39' }] } },
      'Invalid type for parameter embedding[2], Expected: 32-bit floating point number, Actual: N. IndexName: byMeaning',
    ],
    [
      'another type',
      { pk: { S: 'a' }, embedding: { S: 'text' } },
      'Invalid type for parameter embedding, Expected: 32-bit floating point number list IndexName: byMeaning',
    ],
  ];
  test.each(vectorRefusals)('is refused with a vector that has %s', async (_, item, message) => {
    const whole = `One or more parameter values were invalid. ${message}`;
    await expectRefusal(put(item), whole);
    await expectRefusal(
      call(engine, 'UpdateItem', {
        TableName: 'notes',
        Key: { pk: { S: 'a' } },
        UpdateExpression: 'SET embedding = :v',
        ExpressionAttributeValues: { ':v': item.embedding },
      }),
      whole,
    );
    await expectRefusal(
      call(engine, 'BatchWriteItem', { RequestItems: { notes: [{ PutRequest: { Item: item } }] } }),
      whole,
    );
    await expect(
      call(engine, 'TransactWriteItems', { TransactItems: [{ Put: { TableName: 'notes', Item: item } }] }),
    ).rejects.toMatchObject({ CancellationReasons: [{ Code: 'ValidationError', Message: whole }] });
    await expect(
      engine.client.put({ TableName: 'notes', Item: { pk: 'a', embedding: ['x'] } }),
    ).rejects.toThrow('Invalid size for parameter embedding');
    expect(await search(engine, [1, 0, 0])).toEqual([]);
  });

  test('is refused with a partition key that no key can be', async () => {
    await expectRefusal(
      put(note('a', [1, 0, 0], { tenant: { S: '' } })),
      'One or more parameter values are not valid. A value specified for a secondary index key is not supported. The ' +
        'AttributeValue for a key attribute cannot contain an empty string value. IndexName: ofTenant, IndexKey: tenant',
    );
    await expectRefusal(
      put(note('a', [1, 0, 0], { category: { N: '1' } })),
      `${invalid}Type mismatch for Index Key category Expected: S Actual: N IndexName: ofTenant`,
    );
  });

  test('reports what it changes in the indexes', async () => {
    const written = async (Item: Item, ReturnConsumedCapacity = 'INDEXES') =>
      (await put(Item, { ReturnConsumedCapacity })).ConsumedCapacity;
    const whole = note('a', [1, 0, 0], { tenant: { S: 't' } });
    const large = { ...whole, text: { S: 'x'.repeat(2000) } };
    expect(await written(whole)).toEqual({
      TableName: 'notes',
      CapacityUnits: 1,
      Table: { CapacityUnits: 1 },
      VectorIndexes: {
        byMeaning: { VectorWriteRequestBytes: 1024 },
        ofTenant: { VectorWriteRequestBytes: 1024 },
      },
    });
    expect(await written(whole)).not.toHaveProperty('VectorIndexes');
    // Four bytes a dimension, and every name and value: embedding, pk, tenant, text.
    expect((await written(large))?.VectorIndexes).toMatchObject({
      byMeaning: { VectorWriteRequestBytes: 12 + 9 + 3 + 7 + 2004 },
    });
    expect(await written(note('b', [0, 1, 0]), 'TOTAL')).toEqual({ TableName: 'notes', CapacityUnits: 1 });
    expect(await written({ pk: { S: 'c' } })).not.toHaveProperty('VectorIndexes');
    // Without a partition key it is in one of the two.
    expect(Object.keys((await written(note('d', [1, 1, 1])))!.VectorIndexes!)).toEqual(['byMeaning']);
  });
});

test('Query, Scan and PartiQL do not read vector indexes', async () => {
  await call(engine, 'CreateTable', vectorTable());
  const read = { TableName: 'notes', IndexName: 'byMeaning' };
  await expectRefusal(call(engine, 'Scan', read), 'Scan operation not supported on this index type');
  await expectRefusal(
    call(engine, 'Query', {
      ...read,
      KeyConditionExpression: 'pk = :p',
      ExpressionAttributeValues: { ':p': { S: 'a' } },
    }),
    'Query operation not supported on this index type',
  );
  await expectRefusal(
    call(engine, 'ExecuteStatement', { Statement: 'SELECT * FROM "notes"."byMeaning"' }),
    'Scan operation not supported on this index type',
  );
});

test('the clients of the SDK search over HTTP and in the process', async () => {
  await call(engine, 'CreateTable', vectorTable());
  await put(note('a', [1, 0, 0], { label: { S: 'A' } }));
  const server = createHttpServer(engine);
  const { url } = await server.listen();
  onTestFinished(() => server.close());
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: url,
    credentials: { accessKeyId: 'k', secretAccessKey: 's' },
  });
  onTestFinished(() => client.destroy());
  const ask = { TableName: 'notes', IndexName: 'byMeaning', TopK: 1 };
  const { SearchResults } = await client.send(
    new SearchVectorsCommand({ ...ask, SearchVector: searchVector(1, 0, 0) }),
  );
  expect(SearchResults).toEqual([{ Item: { pk: { S: 'a' }, label: { S: 'A' } }, Score: 0 }]);
  const plain = new SearchPlain({ ...ask, SearchVector: [1, 0, 0] });
  for (const document of [DynamoDBDocumentClient.from(client), engine.documentClient()]) {
    const answer = (await document.send(plain as never)) as { SearchResults?: object[] };
    expect(answer.SearchResults).toEqual([{ Item: { pk: 'a', label: 'A' }, Score: 0 }]);
  }
});

test('expiry removes an item from the index', async () => {
  const clock = { ms: Date.UTC(2026, 0, 1), now: () => clock.ms };
  await engine.close();
  engine = await openEngine({ clock });
  await call(engine, 'CreateTable', vectorTable());
  await call(engine, 'UpdateTimeToLive', {
    TableName: 'notes',
    TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
  });
  await engine.settled();
  await put(note('a', [1, 0, 0], { expires_at: { N: String(clock.ms / 1000 + 60) } }));
  await put(note('b', [1, 0, 0]));
  clock.ms += 3_600_000;
  await engine.sweep();
  expect((await search(engine, [1, 0, 0])).map(({ pk }) => pk)).toEqual(['b']);
  expect(engine.check().problems).toEqual([]);
});

test('a backup keeps the definition of an index, and a restored table has it filled', async () => {
  await call(engine, 'CreateTable', vectorTable());
  await put(note('a', [1, 0, 0], { tenant: { S: 't' } }));
  await put(note('b', [0, 1, 0]));
  const { BackupDetails } = await call(engine, 'CreateBackup', { TableName: 'notes', BackupName: 'daily' });
  await engine.settled();
  const { BackupArn } = BackupDetails;
  const { BackupDescription } = await call(engine, 'DescribeBackup', { BackupArn });
  expect(BackupDescription.SourceTableFeatureDetails).toMatchObject({
    VectorIndexes: [{ IndexName: 'byMeaning', Dimensions: 3 }, { IndexName: 'ofTenant' }],
  });
  await call(engine, 'RestoreTableFromBackup', { BackupArn, TargetTableName: 'restored' });
  await engine.settled();
  expect(await search(engine, [1, 0, 0], { TableName: 'restored' })).toEqual([
    { pk: 'a', score: 0 },
    { pk: 'b', score: 1 },
  ]);
  await call(engine, 'RestoreTableFromBackup', {
    BackupArn,
    TargetTableName: 'bare',
    VectorIndexOverride: [],
  });
  await engine.settled();
  const { Table } = await call(engine, 'DescribeTable', { TableName: 'bare' });
  expect(Table).not.toHaveProperty('VectorIndexes');
  expect(engine.check().problems).toEqual([]);
});
