import { createEngine, type Engine } from '../src/engine.ts';
import { DynamoError } from '../src/errors.ts';
import type { AttributeValue, Item } from '../src/values/attribute-value.ts';

// One table with every kind of index, and statements sent to it.

const key = (hash: string, range?: string) => [
  { AttributeName: hash, KeyType: 'HASH' },
  ...(range ? [{ AttributeName: range, KeyType: 'RANGE' }] : []),
];

export const music = {
  TableName: 'Music',
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: key('Artist', 'Song'),
  AttributeDefinitions: ['Artist', 'Song', 'Genre', 'Album'].map(AttributeName => ({
    AttributeName,
    AttributeType: 'S',
  })),
  GlobalSecondaryIndexes: [
    {
      IndexName: 'ByGenre',
      KeySchema: key('Genre', 'Album'),
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['Awards'] },
    },
  ],
  LocalSecondaryIndexes: [
    { IndexName: 'ByAlbum', KeySchema: key('Artist', 'Album'), Projection: { ProjectionType: 'KEYS_ONLY' } },
  ],
};

export async function openMusic(): Promise<Engine> {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  await engine.execute('CreateTable', music);
  return engine;
}

export type Answer = {
  Items: Item[];
  NextToken?: string;
  LastEvaluatedKey?: Item;
  ConsumedCapacity?: { CapacityUnits: number; Table?: { CapacityUnits: number } };
};

export const run = (engine: Engine, Statement: string, Parameters?: AttributeValue[], more?: object) =>
  engine.execute('ExecuteStatement', {
    Statement,
    ...(Parameters && { Parameters }),
    ...more,
  }) as Promise<Answer>;

export const transact = (engine: Engine, statements: string[], more?: object) =>
  engine.execute('ExecuteTransaction', {
    TransactStatements: statements.map(Statement => ({ Statement })),
    ...more,
  }) as Promise<{ Responses?: { Item?: Item }[]; ConsumedCapacity?: object[] }>;

export async function refusal(work: Promise<unknown>): Promise<DynamoError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DynamoError) return error;
    throw error;
  }
  throw new Error('the statement was accepted');
}
