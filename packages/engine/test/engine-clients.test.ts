import {
  BatchGetItemCommand,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand as QueryItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/index.ts';

// Commands of the AWS SDK, sent to the engine in process as they would be to AWS.

let engine: Engine;
let client: DynamoDBDocumentClient;
beforeAll(async () => {
  engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  client = engine.documentClient() as unknown as DynamoDBDocumentClient;
});
afterAll(() => engine.close());

const TableName = 'music';

describe('commands of client-dynamodb', () => {
  it('create and describe a table', async () => {
    const { TableDescription } = await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'artist', KeyType: 'HASH' },
          { AttributeName: 'song', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: 'artist', AttributeType: 'S' },
          { AttributeName: 'song', AttributeType: 'S' },
          { AttributeName: 'genre', AttributeType: 'S' },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: 'by-genre',
            KeySchema: [{ AttributeName: 'genre', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      }),
    );
    expect(TableDescription?.TableName).toBe(TableName);
    const { Table, $metadata } = await client.send(new DescribeTableCommand({ TableName }));
    expect(Table?.TableStatus).toBe('ACTIVE');
    expect(Table?.CreationDateTime).toBeInstanceOf(Date);
    expect($metadata.httpStatusCode).toBe(200);
    expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual([TableName]);
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName,
        TimeToLiveSpecification: { Enabled: true, AttributeName: 'expires' },
      }),
    );
  });

  it('accept and return tagged values', async () => {
    const Item = {
      artist: { S: 'a' },
      song: { S: 's' },
      plays: { N: '1' },
      cover: { B: Uint8Array.of(1, 2) },
    };
    await client.send(new PutItemCommand({ TableName, Item }));
    const Key = { artist: { S: 'a' }, song: { S: 's' } };
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'ADD plays :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
        ReturnValues: 'UPDATED_NEW',
      }),
    );
    expect(Attributes).toEqual({ plays: { N: '2' } });
    const { Item: found } = await client.send(new GetItemCommand({ TableName, Key }));
    expect(found?.plays).toEqual({ N: '2' });
    expect(Uint8Array.from(found!.cover!.B!)).toEqual(Uint8Array.of(1, 2));
    const { Items } = await client.send(
      new QueryItemsCommand({
        TableName,
        KeyConditionExpression: 'artist = :a',
        ExpressionAttributeValues: { ':a': { S: 'a' } },
      }),
    );
    expect(Items).toHaveLength(1);
    const { Responses } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [Key] } } }),
    );
    expect(Responses?.[TableName]).toHaveLength(1);
    await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Delete: { TableName, Key } }] }));
    expect((await client.send(new GetItemCommand({ TableName, Key }))).Item).toBeUndefined();
  });
});

describe('commands of lib-dynamodb', () => {
  it('accept and return plain values', async () => {
    const song = {
      artist: 'a',
      song: 'one',
      genre: 'jazz',
      tags: new Set(['x']),
      big: 2n ** 60n,
      list: [1, null],
    };
    await client.send(new PutCommand({ TableName, Item: song }));
    const { Item } = await client.send(new GetCommand({ TableName, Key: { artist: 'a', song: 'one' } }));
    expect(Item).toEqual(song);
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName,
        Key: { artist: 'a', song: 'one' },
        UpdateExpression: 'SET #n = if_not_exists(#n, :zero) + :one',
        ExpressionAttributeNames: { '#n': 'count' },
        ExpressionAttributeValues: { ':zero': 0, ':one': 1 },
        ReturnValues: 'ALL_NEW',
      }),
    );
    expect(Attributes).toEqual({ ...song, count: 1 });
  });

  it('write and read in batches and transactions', async () => {
    const songs = ['two', 'three', 'four'].map(name => ({ artist: 'a', song: name, genre: 'folk' }));
    await client.send(
      new BatchWriteCommand({ RequestItems: { [TableName]: songs.map(Item => ({ PutRequest: { Item } })) } }),
    );
    const Keys = songs.map(({ artist, song }) => ({ artist, song }));
    const got = await client.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }));
    expect(got.Responses?.[TableName]).toHaveLength(3);
    expect(got.UnprocessedKeys).toEqual({});
    await client.send(
      new TransactWriteCommand({
        TransactItems: [
          { Put: { TableName, Item: { artist: 'b', song: 'five', genre: 'folk' } } },
          { Delete: { TableName, Key: Keys[0]! } },
        ],
      }),
    );
    const { Responses } = await client.send(
      new TransactGetCommand({
        TransactItems: [
          { Get: { TableName, Key: Keys[0]! } },
          { Get: { TableName, Key: { artist: 'b', song: 'five' } } },
        ],
      }),
    );
    expect(Responses).toEqual([{}, { Item: { artist: 'b', song: 'five', genre: 'folk' } }]);
  });

  it('query an index page by page, and scan', async () => {
    const input = {
      TableName,
      IndexName: 'by-genre',
      KeyConditionExpression: 'genre = :g',
      ExpressionAttributeValues: { ':g': 'folk' },
      Limit: 2,
    };
    const first = await client.send(new QueryCommand(input));
    const second = await client.send(
      new QueryCommand({ ...input, ExclusiveStartKey: first.LastEvaluatedKey }),
    );
    const songs = [...first.Items!, ...second.Items!].map(item => item.song).sort();
    expect(songs).toEqual(['five', 'four', 'three']);
    expect((await client.send(new ScanCommand({ TableName }))).Count).toBe(4);
  });

  it('fail as the SDK fails, with the item if it was requested', async () => {
    const guarded = new PutCommand({
      TableName,
      Item: { artist: 'b', song: 'five' },
      ConditionExpression: 'attribute_not_exists(artist)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    // The document client leaves the items of errors tagged.
    await expect(client.send(guarded)).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: { artist: { S: 'b' }, song: { S: 'five' }, genre: { S: 'folk' } },
    });
    await expect(client.send(new GetCommand({ TableName: 'nowhere', Key: {} }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    const transaction = new TransactWriteCommand({
      TransactItems: [
        {
          ConditionCheck: {
            TableName,
            Key: { artist: 'no', song: 'no' },
            ConditionExpression: 'attribute_exists(artist)',
          },
        },
        { Put: { TableName, Item: { artist: 'c', song: 'six' } } },
      ],
    });
    await expect(client.send(transaction)).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'ConditionalCheckFailed' }, { Code: 'None' }],
    });
  });

  it('are not sent if they were aborted', async () => {
    const abortSignal = AbortSignal.abort();
    const put = new PutCommand({ TableName, Item: { artist: 'late', song: 'late' } });
    await expect(client.send(put, { abortSignal })).rejects.toMatchObject({ name: 'AbortError' });
    const { Item } = await client.send(new GetCommand({ TableName, Key: { artist: 'late', song: 'late' } }));
    expect(Item).toBeUndefined();
  });

  it('delete an item, and the table', async () => {
    const { Attributes } = await client.send(
      new DeleteCommand({ TableName, Key: { artist: 'b', song: 'five' }, ReturnValues: 'ALL_OLD' }),
    );
    expect(Attributes).toEqual({ artist: 'b', song: 'five', genre: 'folk' });
    await client.send(new DeleteTableCommand({ TableName }));
    await engine.settled();
    expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual([]);
  });
});
