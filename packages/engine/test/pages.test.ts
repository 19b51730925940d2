import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import * as limits from '../src/limits.ts';
import { call, hashTable, openEngine } from './engine-fixture.ts';

let engine: Engine;

beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

const itemCount = 60;
const itemBytes = 390 * 1024;

async function fill(): Promise<void> {
  await call(engine, 'CreateTable', {
    ...hashTable('letters'),
    AttributeDefinitions: ['pk', 'box'].map(name => ({ AttributeName: name, AttributeType: 'S' })),
    GlobalSecondaryIndexes: [
      {
        IndexName: 'boxes',
        KeySchema: [{ AttributeName: 'box', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  });
  const text = { S: 'x'.repeat(itemBytes) };
  for (let n = 0; n < itemCount; n++) {
    await call(engine, 'PutItem', {
      TableName: 'letters',
      Item: { pk: { S: String(n).padStart(3, '0') }, box: { S: 'in' }, text },
    });
  }
}

async function readPages(operation: 'Query' | 'Scan', input: object): Promise<string[][]> {
  const pages: string[][] = [];
  let start: object | undefined;
  do {
    const answer = await call(engine, operation, {
      TableName: 'letters',
      ...input,
      ...(start && { ExclusiveStartKey: start }),
    });
    const items = answer.Items as { pk: { S: string } }[];
    pages.push(items.map(item => item.pk.S));
    start = answer.LastEvaluatedKey as object | undefined;
  } while (start);
  return pages;
}

const everyKey = Array.from({ length: itemCount }, (_, n) => String(n).padStart(3, '0'));

test('a page of an index ends when its items are too much to read at once', async () => {
  await fill();
  const inBox = {
    IndexName: 'boxes',
    KeyConditionExpression: 'box = :box',
    ExpressionAttributeValues: { ':box': { S: 'in' } },
  };
  const most = Math.floor(limits.pageReadBytes / itemBytes);
  for (const more of [{}, { ScanIndexForward: false }]) {
    const pages = await readPages('Query', { ...inBox, ...more });
    expect(pages.flat().toSorted()).toEqual(everyKey);
    expect(Math.max(...pages.map(page => page.length))).toBeLessThanOrEqual(most);
    expect(pages.length).toBe(Math.ceil(itemCount / most));
  }
});

test('a page of a table ends before a megabyte', async () => {
  await fill();
  const pages = await readPages('Scan', {});
  expect(pages.flat().toSorted()).toEqual(everyKey);
  expect(new Set(pages.map(page => page.length))).toEqual(new Set([2]));
});

test('a transaction reads four megabytes at most', async () => {
  await fill();
  const gets = (count: number) => ({
    TransactItems: everyKey
      .slice(0, count)
      .map(pk => ({ Get: { TableName: 'letters', Key: { pk: { S: pk } }, ProjectionExpression: 'pk' } })),
  });
  const selects = (count: number) => ({
    TransactStatements: everyKey
      .slice(0, count)
      .map(pk => ({ Statement: `SELECT pk FROM letters WHERE pk = '${pk}'` })),
  });
  const fits = Math.floor(limits.transactionBytes / itemBytes);
  expect((await call(engine, 'TransactGetItems', gets(fits))).Responses).toHaveLength(fits);
  expect((await call(engine, 'ExecuteTransaction', selects(fits))).Responses).toHaveLength(fits);
  const refusal = /aggregate size of the items in the transaction exceeding the 4MB limit/;
  await expect(call(engine, 'TransactGetItems', gets(fits + 1))).rejects.toThrow(refusal);
  await expect(call(engine, 'ExecuteTransaction', selects(fits + 1))).rejects.toThrow(refusal);
});
