import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  $add,
  BatchDeleteRequest,
  BatchGetCommand,
  BatchGetRequest,
  BatchPutRequest,
  BatchWriteCommand,
  ConditionCheck,
  DeleteItemCommand,
  DeleteTransaction,
  Entity,
  executeBatchGet,
  executeBatchWrite,
  executeTransactGet,
  executeTransactWrite,
  GetItemCommand,
  GetTransaction,
  item,
  list,
  map,
  number,
  PutItemCommand,
  PutTransaction,
  QueryCommand,
  ScanCommand,
  set,
  string,
  Table,
  UpdateItemCommand,
  UpdateTransaction,
} from 'dynamodb-toolbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/index.ts';

// DynamoDB-Toolbox as it comes, on the engine in process.

const pokedex = new Table({
  name: 'toolbox',
  partitionKey: { name: 'pk', type: 'string' },
  sortKey: { name: 'sk', type: 'string' },
  indexes: {
    byLevel: {
      type: 'global',
      partitionKey: { name: 'kind', type: 'string' },
      sortKey: { name: 'level', type: 'number' },
    },
  },
});

const pokemon = new Entity({
  name: 'pokemon',
  table: pokedex,
  schema: item({
    trainer: string().key().savedAs('pk'),
    name: string().key().savedAs('sk'),
    kind: string(),
    level: number().default(1),
    moves: set(string()).optional(),
    stats: map({ speed: number(), history: list(number()) }).optional(),
  }),
});
const trainer = new Entity({
  name: 'trainer',
  table: pokedex,
  schema: item({
    id: string().key().savedAs('pk'),
    page: string().key().savedAs('sk').default('profile'),
    badges: number().default(0),
  }),
});

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  const keys = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
  await engine.execute('CreateTable', {
    TableName: 'toolbox',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keys('pk', 'sk'),
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
      { AttributeName: 'kind', AttributeType: 'S' },
      { AttributeName: 'level', AttributeType: 'N' },
    ],
    GlobalSecondaryIndexes: [
      { IndexName: 'byLevel', KeySchema: keys('kind', 'level'), Projection: { ProjectionType: 'ALL' } },
    ],
  });
  pokedex.documentClient = engine.documentClient() as unknown as DynamoDBDocumentClient;
});
afterAll(() => engine.close());

const pikachu = { trainer: 'ash', name: 'pikachu' };

describe('DynamoDB-Toolbox', () => {
  it('puts and gets', async () => {
    await pokemon
      .build(PutItemCommand)
      .item({ ...pikachu, kind: 'electric', moves: new Set(['spark']), stats: { speed: 9, history: [1, 2] } })
      .options({ condition: { attr: 'name', exists: false } })
      .send();
    const { Item } = await pokemon.build(GetItemCommand).key(pikachu).options({ consistent: true }).send();
    expect(Item).toMatchObject({
      ...pikachu,
      level: 1,
      moves: new Set(['spark']),
      stats: { history: [1, 2] },
    });
    const again = pokemon.build(PutItemCommand).item({ ...pikachu, kind: 'x' });
    await expect(again.options({ condition: { attr: 'name', exists: false } }).send()).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
    });
  });

  it('updates and deletes', async () => {
    const { Attributes } = await pokemon
      .build(UpdateItemCommand)
      .item({ ...pikachu, level: $add(4), moves: $add(new Set(['bolt'])), stats: { speed: 10 } })
      .options({ returnValues: 'ALL_NEW' })
      .send();
    expect(Attributes).toMatchObject({
      level: 5,
      moves: new Set(['spark', 'bolt']),
      stats: { speed: 10, history: [1, 2] },
    });
    await pokemon.build(PutItemCommand).item({ trainer: 'ash', name: 'gone', kind: 'x' }).send();
    await pokemon.build(DeleteItemCommand).key({ trainer: 'ash', name: 'gone' }).send();
    const { Item } = await pokemon.build(GetItemCommand).key({ trainer: 'ash', name: 'gone' }).send();
    expect(Item).toBeUndefined();
  });

  it('writes and reads in batches', async () => {
    const names = ['eevee', 'onix', 'zubat'];
    const puts = names.map((name, i) =>
      pokemon.build(BatchPutRequest).item({ trainer: 'ash', name, kind: 'normal', level: 10 + i }),
    );
    await executeBatchWrite(pokedex.build(BatchWriteCommand).requests(...puts));
    const gets = names.map(name => pokemon.build(BatchGetRequest).key({ trainer: 'ash', name }));
    const { Responses } = await executeBatchGet(pokedex.build(BatchGetCommand).requests(...gets));
    expect(Responses?.[0]?.map(found => found?.name)).toEqual(names);
    const remove = pokemon.build(BatchDeleteRequest).key({ trainer: 'ash', name: 'zubat' });
    await executeBatchWrite(pokedex.build(BatchWriteCommand).requests(remove));
  });

  it('queries by key and by index, and scans', async () => {
    const byKey = await pokedex
      .build(QueryCommand)
      .query({ partition: 'ash', range: { beginsWith: 'p' } })
      .entities(pokemon)
      .send();
    expect(byKey.Items?.map(({ name }) => name)).toEqual(['pikachu']);
    const byLevel = await pokedex
      .build(QueryCommand)
      .query({ index: 'byLevel', partition: 'normal', range: { gte: 10 } })
      .entities(pokemon)
      .options({ reverse: true, filters: { pokemon: { attr: 'trainer', eq: 'ash' } } })
      .send();
    expect(byLevel.Items?.map(({ name }) => name)).toEqual(['onix', 'eevee']);
    const all = await pokedex
      .build(ScanCommand)
      .entities(pokemon, trainer)
      .options({ limit: 2, maxPages: 10 })
      .send();
    expect(all.Items).toHaveLength(3);
  });

  it('writes and reads in transactions, all or nothing', async () => {
    await executeTransactWrite(
      trainer.build(PutTransaction).item({ id: 'ash' }),
      pokemon.build(UpdateTransaction).item({ ...pikachu, level: $add(1) }),
    );
    const failing = executeTransactWrite(
      trainer.build(UpdateTransaction).item({ id: 'ash', badges: $add(1) }),
      pokemon
        .build(ConditionCheck)
        .key({ trainer: 'ash', name: 'mew' })
        .condition({ attr: 'name', exists: true }),
    );
    await expect(failing).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
    });
    await executeTransactWrite(pokemon.build(DeleteTransaction).key({ trainer: 'ash', name: 'onix' }));
    const { Responses } = await executeTransactGet(
      trainer.build(GetTransaction).key({ id: 'ash', page: 'profile' }),
      pokemon.build(GetTransaction).key(pikachu),
      pokemon.build(GetTransaction).key({ trainer: 'ash', name: 'onix' }),
    );
    expect(Responses?.map(({ Item }) => Item)).toMatchObject([{ badges: 0 }, { level: 6 }, undefined]);
  });
});
