import type { Engine } from '../../src/index.ts';
import { counterCount, counterKey, tableName, unitsPerCounter } from './workload.ts';

export const lateIndex = 'by-late';
// The attribute that an item must have to be in each.
export const indexes = {
  'by-owner': 'owner',
  'by-sparse': 'sparse',
  'by-several': 'sparse',
  'by-rank': 'rank',
};

const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });
const number = (AttributeName: string) => ({ AttributeName, AttributeType: 'N' });
const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' });
const range = (AttributeName: string) => ({ AttributeName, KeyType: 'RANGE' });
const all = { ProjectionType: 'ALL' };

export async function createTables(engine: Engine): Promise<void> {
  await engine.execute('CreateTable', {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...['pk', 'sk', 'owner', 'rank'].map(text), ...['at', 'sparse'].map(number)],
    KeySchema: [hash('pk'), range('sk')],
    GlobalSecondaryIndexes: [
      { IndexName: 'by-owner', KeySchema: [hash('owner'), range('at')], Projection: all },
      { IndexName: 'by-sparse', KeySchema: [hash('sparse')], Projection: { ProjectionType: 'KEYS_ONLY' } },
      {
        IndexName: 'by-several',
        KeySchema: [hash('owner'), hash('sparse'), range('rank'), range('at')],
        Projection: all,
      },
    ],
    LocalSecondaryIndexes: [
      { IndexName: 'by-rank', KeySchema: [hash('pk'), range('rank')], Projection: all },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  await enableExpiry(engine, tableName);
  for (let counter = 0; counter < counterCount; counter++) {
    const Item = { ...counterKey(counter), op: 'setup', units: unitsPerCounter };
    await engine.client.put({ TableName: tableName, Item });
  }
}

export async function enableExpiry(engine: Engine, name: string): Promise<void> {
  await engine.execute('UpdateTimeToLive', {
    TableName: name,
    TimeToLiveSpecification: { Enabled: true, AttributeName: 'expires' },
  });
  await engine.settled();
}

export const createScratchTable = (engine: Engine, name: string) =>
  engine.execute('CreateTable', {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'owner'].map(text),
    KeySchema: [hash('pk')],
    GlobalSecondaryIndexes: [{ IndexName: 'by-owner', KeySchema: [hash('owner')], Projection: all }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
  });

export const dropTable = (engine: Engine, name: string) => engine.execute('DeleteTable', { TableName: name });

export const addLateIndex = (engine: Engine) =>
  engine.execute('UpdateTable', {
    TableName: tableName,
    AttributeDefinitions: [text('late')],
    GlobalSecondaryIndexUpdates: [
      { Create: { IndexName: lateIndex, KeySchema: [hash('late')], Projection: all } },
    ],
  });

export const dropLateIndex = (engine: Engine) =>
  engine.execute('UpdateTable', {
    TableName: tableName,
    GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: lateIndex } }],
  });
