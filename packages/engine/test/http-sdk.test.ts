import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ResourceNotFoundException,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEngine, type Engine } from '../src/engine.ts';
import { createHttpServer, type HttpServer } from '../src/http/server.ts';

let engine: Engine;
let server: HttpServer;
let client: DynamoDBClient;
let streams: DynamoDBStreamsClient;

beforeAll(async () => {
  engine = await createEngine({ path: ':memory:' });
  server = createHttpServer(engine);
  const { url } = await server.listen();
  const settings = {
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  };
  client = new DynamoDBClient(settings);
  streams = new DynamoDBStreamsClient(settings);
  await client.send(
    new CreateTableCommand({
      TableName: 'notes',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'B' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    }),
  );
});

afterAll(async () => {
  client?.destroy();
  streams?.destroy();
  await server?.close();
  await engine?.close();
});

const bytes = (...values: number[]) => Uint8Array.from(values);
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );

test('every kind of value survives a round trip', async () => {
  const item = {
    pk: { S: 'kinds é 🙂' },
    sk: { B: bytes(0, 255, 128) },
    n: { N: '-12345678901234567890.5' },
    yes: { BOOL: true },
    none: { NULL: true },
    ss: { SS: ['a', 'b'] },
    ns: { NS: ['1', '2'] },
    bs: { BS: [bytes(1), bytes(2, 3)] },
    nested: { M: { list: { L: [{ B: bytes(9) }, { M: {} }, { S: '' }] } } },
  };
  await client.send(new PutItemCommand({ TableName: 'notes', Item: item }));
  const found = await client.send(
    new GetItemCommand({ TableName: 'notes', Key: { pk: item.pk, sk: item.sk }, ConsistentRead: true }),
  );
  expect(found.Item).toEqual(item);
  expect(found.$metadata.requestId).toMatch(/^[0-9A-V]{52}$/);
});

test('query pages by binary sort key', async () => {
  for (const last of [3, 1, 2])
    await client.send(
      new PutItemCommand({ TableName: 'notes', Item: { pk: { S: 'pages' }, sk: { B: bytes(7, last) } } }),
    );
  const query = {
    TableName: 'notes',
    KeyConditionExpression: 'pk = :p AND begins_with(sk, :s)',
    ExpressionAttributeValues: { ':p': { S: 'pages' }, ':s': { B: bytes(7) } },
  };
  const first = await client.send(new QueryCommand({ ...query, Limit: 2 }));
  expect(first.Items?.map(item => item.sk)).toEqual([{ B: bytes(7, 1) }, { B: bytes(7, 2) }]);
  const rest = await client.send(new QueryCommand({ ...query, ExclusiveStartKey: first.LastEvaluatedKey }));
  expect(rest.Items?.map(item => item.sk)).toEqual([{ B: bytes(7, 3) }]);
});

test('a failed condition carries the item', async () => {
  const item = { pk: { S: 'condition' }, sk: { B: bytes(1) }, raw: { B: bytes(4, 5) } };
  await client.send(new PutItemCommand({ TableName: 'notes', Item: item }));
  const error = await failure(
    client.send(
      new UpdateItemCommand({
        TableName: 'notes',
        Key: { pk: item.pk, sk: item.sk },
        UpdateExpression: 'SET x = :x',
        ConditionExpression: 'attribute_not_exists(pk)',
        ExpressionAttributeValues: { ':x': { N: '1' } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  expect(error).toBeInstanceOf(ConditionalCheckFailedException);
  expect(error).toMatchObject({ message: 'The conditional request failed', Item: item });
});

test('a cancelled transaction carries its reasons', async () => {
  const item = { pk: { S: 'transaction' }, sk: { B: bytes(1) } };
  await client.send(new PutItemCommand({ TableName: 'notes', Item: item }));
  const error = await failure(
    client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          { Put: { TableName: 'notes', Item: { ...item, sk: { B: bytes(2) } } } },
          { Put: { TableName: 'notes', Item: item, ConditionExpression: 'attribute_not_exists(pk)' } },
        ],
      }),
    ),
  );
  expect(error).toBeInstanceOf(TransactionCanceledException);
  const { message, CancellationReasons } = error as TransactionCanceledException;
  expect(message).toContain('[None, ConditionalCheckFailed]');
  expect(CancellationReasons?.map(reason => reason.Code)).toEqual(['None', 'ConditionalCheckFailed']);
});

test('errors are the classes of the SDK', async () => {
  const key = { pk: { S: 'a' }, sk: { B: bytes(1) } };
  const missing = await failure(client.send(new GetItemCommand({ TableName: 'missing', Key: key })));
  expect(missing).toBeInstanceOf(ResourceNotFoundException);
  const invalid = await failure(client.send(new GetItemCommand({ TableName: 'notes', Key: { pk: key.pk } })));
  expect(invalid).toMatchObject({
    name: 'ValidationException',
    message: 'The provided key element does not match the schema',
    $metadata: { httpStatusCode: 400 },
  });
});

test('the stream is read through its own client', async () => {
  const { Streams } = await streams.send(new ListStreamsCommand({ TableName: 'notes' }));
  const StreamArn = Streams![0]!.StreamArn;
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  const item = { pk: { S: 'streamed' }, sk: { B: bytes(1, 2) } };
  await client.send(new PutItemCommand({ TableName: 'notes', Item: item }));
  const records = [];
  for (const { ShardId } of StreamDescription!.Shards!) {
    const { ShardIterator } = await streams.send(
      new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
    );
    records.push(...(await streams.send(new GetRecordsCommand({ ShardIterator }))).Records!);
  }
  const record = records.find(({ dynamodb }) => dynamodb?.Keys?.pk?.S === 'streamed');
  expect(record).toMatchObject({ eventName: 'INSERT', dynamodb: { NewImage: item } });
  expect(record?.dynamodb?.ApproximateCreationDateTime).toBeInstanceOf(Date);
});
