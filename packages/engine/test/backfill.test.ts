import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { call, hashTable, newIndex, openEngine } from './engine-fixture.ts';

let folder: string;
let engine: Engine;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stak-backfill-'));
  engine = await openEngine({ path: folder });
  await call(engine, 'CreateTable', hashTable('orders'));
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true });
});

const put = (pk: string, more: object = {}) =>
  call(engine, 'PutItem', { TableName: 'orders', Item: { pk: { S: pk }, ...more } });
const load = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, i) => put(`o${i}`, { color: { S: i % 2 ? 'red' : 'blue' } })),
  );
const update = (changes: object) => call(engine, 'UpdateTable', { TableName: 'orders', ...changes });
const describe = async () => (await call(engine, 'DescribeTable', { TableName: 'orders' })).Table;
const index = async () => (await describe()).GlobalSecondaryIndexes?.[0];
const ofColor = (color: string) =>
  call(engine, 'Query', {
    TableName: 'orders',
    IndexName: 'byColor',
    KeyConditionExpression: 'color = :c',
    ExpressionAttributeValues: { ':c': { S: color } },
    Select: 'COUNT',
  });

test('a new index is CREATING while it is filled, then ACTIVE with every item', async () => {
  await load(1000);
  const { TableDescription } = await update(newIndex('byColor', 'color'));
  expect(TableDescription).toMatchObject({
    TableStatus: 'UPDATING',
    GlobalSecondaryIndexes: [{ IndexName: 'byColor', IndexStatus: 'CREATING', Backfilling: true }],
  });
  await engine.settled();
  expect(await index()).toMatchObject({ IndexStatus: 'ACTIVE', ItemCount: 1000 });
  expect((await index())?.Backfilling).toBeUndefined();
  expect((await ofColor('red')).Count).toBe(500);
  expect(engine.check().problems).toEqual([]);
});

test('writes during the fill are neither lost nor counted twice', async () => {
  await load(1000);
  await update(newIndex('byColor', 'color', 'S', 'KEYS_ONLY'));
  expect((await index())?.IndexStatus).toBe('CREATING');
  // Behind and ahead of the walk: moved, unchanged in the index, removed from it, deleted, and new.
  const writes = Array.from({ length: 1000 }, (_, i) => {
    if (i % 5 === 0) return put(`o${i}`, { color: { S: 'green' } });
    if (i % 5 === 1) return put(`o${i}`, { color: { S: i % 2 ? 'red' : 'blue' }, note: { S: 'x' } });
    if (i % 5 === 2) return put(`o${i}`);
    if (i % 5 === 3) return call(engine, 'DeleteItem', { TableName: 'orders', Key: { pk: { S: `o${i}` } } });
    return put(`new${i}`, { color: { S: 'green' } });
  });
  const during = engine.check();
  await Promise.all(writes);
  const after = engine.check();
  await engine.settled();
  expect([during.problems, after.problems, engine.check().problems]).toEqual([[], [], []]);
  expect((await ofColor('green')).Count).toBe(400);
  expect((await index())?.ItemCount).toBe(800);
});

test('items whose attribute cannot be a key stay out of the index, and can still be changed', async () => {
  await put('number', { color: { N: '1' } });
  await put('empty', { color: { S: '' } });
  await put('long', { color: { S: 'x'.repeat(5000) } });
  await put('red', { color: { S: 'red' } });
  await update(newIndex('byColor', 'color'));
  await engine.settled();
  expect((await index())?.ItemCount).toBe(1);
  for (const pk of ['number', 'empty', 'long']) {
    await call(engine, 'DeleteItem', { TableName: 'orders', Key: { pk: { S: pk } } });
  }
  expect((await index())?.ItemCount).toBe(1);
  expect(engine.check().problems).toEqual([]);
});

test('an interrupted fill resumes when the store is opened again', async () => {
  await load(2000);
  await update(newIndex('byColor', 'color'));
  await engine.close();
  engine = await openEngine({ path: folder });
  expect((await index())?.IndexStatus).toBe('CREATING');
  await engine.settled();
  expect(await index()).toMatchObject({ IndexStatus: 'ACTIVE', ItemCount: 2000 });
  expect(engine.check()).toMatchObject({ indexEntries: 2000, problems: [] });
});

test('a dropped index is removed in steps, and its removal survives an interruption', async () => {
  await load(2000);
  await update(newIndex('byColor', 'color'));
  await engine.settled();
  const dropped = await update({ GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'byColor' } }] });
  expect(dropped.TableDescription.GlobalSecondaryIndexes?.[0]?.IndexStatus).toBe('DELETING');
  await put('o1', { color: { S: 'green' } });
  await engine.close();
  engine = await openEngine({ path: folder });
  expect(engine.check().problems).toEqual([]);
  await engine.settled();
  expect(await index()).toBeUndefined();
  expect((await describe()).AttributeDefinitions).toEqual([{ AttributeName: 'pk', AttributeType: 'S' }]);
  expect(engine.check()).toMatchObject({ items: 2000, indexEntries: 0, problems: [] });
});

test('an index may be dropped while it is being filled, and created again', async () => {
  await load(1000);
  await update(newIndex('byColor', 'color'));
  await expect(update(newIndex('byPlace', 'place'))).rejects.toMatchObject({
    name: 'LimitExceededException',
  });
  await update({ GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'byColor' } }] });
  await engine.settled();
  expect(engine.check()).toMatchObject({ indexEntries: 0, problems: [] });
  await update(newIndex('byColor', 'color'));
  await engine.settled();
  expect(await index()).toMatchObject({ IndexStatus: 'ACTIVE', ItemCount: 1000 });
});

test('a table may be dropped while an index is being filled; the rest is removed after a restart', async () => {
  await load(2000);
  await update(newIndex('byColor', 'color'));
  await call(engine, 'DeleteTable', { TableName: 'orders' });
  await engine.close();
  engine = await openEngine({ path: folder });
  expect(engine.check().problems).toEqual([]);
  await engine.settled();
  expect(engine.check()).toMatchObject({ tables: 0, items: 0, indexEntries: 0, problems: [] });
  expect(engine.stats().tables).toEqual([]);
});

test('several engines on one store fill the same index without harm', async () => {
  await load(1500);
  await update(newIndex('byColor', 'color'));
  const other = await openEngine({ path: folder });
  await Promise.all([engine.settled(), other.settled()]);
  await other.close();
  expect(await index()).toMatchObject({ IndexStatus: 'ACTIVE', ItemCount: 1500 });
  expect(engine.check().problems).toEqual([]);
});
