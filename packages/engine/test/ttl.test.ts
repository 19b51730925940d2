import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { call, hashTable, openEngine, readStream, streaming, streamOf, testClock } from './engine-fixture.ts';

const clock = testClock();
const nowSeconds = () => clock.ms / 1000;
let folder: string;
let engine: Engine;

beforeEach(async () => {
  clock.ms = Date.UTC(2026, 0, 1);
  folder = mkdtempSync(join(tmpdir(), 'stak-ttl-'));
  engine = await openEngine({ path: folder, clock });
  await call(engine, 'CreateTable', hashTable('notes', streaming()));
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true });
});

const put = (pk: string, ttl?: number | string) =>
  call(engine, 'PutItem', {
    TableName: 'notes',
    Item: { pk: { S: pk }, ...(ttl !== undefined && { ttl: { N: String(ttl) } }) },
  });
const setTtl = (Enabled: boolean, AttributeName = 'ttl') =>
  call(engine, 'UpdateTimeToLive', {
    TableName: 'notes',
    TimeToLiveSpecification: { Enabled, AttributeName },
  });
const status = async () =>
  (await call(engine, 'DescribeTimeToLive', { TableName: 'notes' })).TimeToLiveDescription;
const left = async () =>
  ((await call(engine, 'Scan', { TableName: 'notes' })).Items as { pk: { S: string } }[]).map(
    ({ pk }) => pk.S,
  );

async function enable(): Promise<void> {
  await setTtl(true);
  await engine.settled();
}

test('switched on, filled, switched off', async () => {
  expect(await status()).toEqual({ TimeToLiveStatus: 'DISABLED' });
  for (let i = 0; i < 600; i++) void put(`n${i}`, nowSeconds() + i);
  await put('last', 1);
  expect(await setTtl(true)).toEqual({ TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' } });
  expect(await status()).toEqual({ TimeToLiveStatus: 'ENABLING', AttributeName: 'ttl' });
  await put('during', nowSeconds() + 5);
  await engine.settled();
  expect(await status()).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' });
  expect(engine.check()).toMatchObject({ ttlEntries: 602, problems: [] });
  await setTtl(false);
  expect((await status()).TimeToLiveStatus).toBe('DISABLING');
  await engine.settled();
  expect(await status()).toEqual({ TimeToLiveStatus: 'DISABLED' });
  expect(engine.check()).toMatchObject({ ttlEntries: 0, problems: [] });
});

test('contradictory changes are refused', async () => {
  await expect(setTtl(false)).rejects.toThrow('TimeToLive is already disabled');
  await Promise.all(Array.from({ length: 600 }, (_, i) => put(`n${i}`)));
  await setTtl(true);
  await expect(setTtl(false)).rejects.toThrow('modified multiple times within a fixed interval');
  await engine.settled();
  await expect(setTtl(true)).rejects.toThrow('TimeToLive is already enabled');
  await expect(setTtl(true, 'other')).rejects.toThrow(
    'TimeToLive is active on a different AttributeName: current AttributeName is ttl',
  );
});

test('an interrupted fill and removal resume after a restart', async () => {
  await Promise.all(Array.from({ length: 1500 }, (_, i) => put(`n${i}`, nowSeconds() + i)));
  await setTtl(true);
  await engine.close();
  engine = await openEngine({ path: folder, clock });
  await engine.settled();
  expect((await status()).TimeToLiveStatus).toBe('ENABLED');
  expect(engine.check()).toMatchObject({ ttlEntries: 1500, problems: [] });
  await setTtl(false);
  await engine.close();
  engine = await openEngine({ path: folder, clock });
  await engine.settled();
  expect(engine.check()).toMatchObject({ ttlEntries: 0, problems: [] });
});

test('the sweep removes what has expired and nothing else', async () => {
  await enable();
  const fiveYears = 5 * 365 * 24 * 60 * 60;
  await put('past', nowSeconds() - 1);
  await put('now', nowSeconds());
  await put('future', nowSeconds() + 1);
  await put('ancient', nowSeconds() - fiveYears - 10);
  await put('old', nowSeconds() - fiveYears + 10);
  await put('milliseconds', clock.ms - 60_000);
  await put('never');
  await call(engine, 'PutItem', { TableName: 'notes', Item: { pk: { S: 'text' }, ttl: { S: '1' } } });
  expect(await engine.sweep()).toBe(2);
  expect((await left()).sort()).toEqual(['ancient', 'future', 'milliseconds', 'never', 'now', 'text']);
  clock.ms += 500;
  expect(await engine.sweep()).toBe(1);
  clock.ms += 1000;
  expect(await engine.sweep()).toBe(1);
  expect((await left()).sort()).toEqual(['ancient', 'milliseconds', 'never', 'text']);
  expect(engine.check().problems).toEqual([]);
});

test('a removal is a stream record of the service', async () => {
  await enable();
  await put('a', nowSeconds() - 1);
  await engine.sweep();
  const records = await readStream(engine, await streamOf(engine, 'notes'));
  expect(records.map(({ eventName }) => eventName)).toEqual(['INSERT', 'REMOVE']);
  expect(records[0]?.userIdentity).toBeUndefined();
  expect(records[1]).toMatchObject({
    userIdentity: { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' },
    dynamodb: { Keys: { pk: { S: 'a' } }, OldImage: { pk: { S: 'a' } } },
  });
});

test('an item that is extended during the sweep stays', async () => {
  await enable();
  await put('a', nowSeconds() - 1);
  const [, removed] = await Promise.all([put('a', nowSeconds() + 100), engine.sweep()]);
  expect(removed).toBe(0);
  expect(await left()).toEqual(['a']);
  expect(engine.check()).toMatchObject({ ttlEntries: 1, problems: [] });
});

test('a sweep removes everything that is due, in chunks, from every table', async () => {
  await enable();
  await call(engine, 'CreateTable', hashTable('other'));
  await call(engine, 'UpdateTimeToLive', {
    TableName: 'other',
    TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' },
  });
  await engine.settled();
  await Promise.all(Array.from({ length: 1500 }, (_, i) => put(`n${i}`, nowSeconds() - 10)));
  const Item = { pk: { S: 'x' }, ttl: { N: String(nowSeconds() - 1) } };
  await call(engine, 'PutItem', { TableName: 'other', Item });
  expect(await engine.sweep()).toBe(1501);
  expect((await call(engine, 'Scan', { TableName: 'other' })).Count).toBe(0);
  expect(await engine.sweep()).toBe(0);
});

test('tokens of transactions expire after ten minutes', async () => {
  const write = (pk: string) =>
    call(engine, 'TransactWriteItems', {
      ClientRequestToken: 'token',
      TransactItems: [{ Put: { TableName: 'notes', Item: { pk: { S: pk } } } }],
    });
  await write('a');
  await engine.sweep();
  expect(engine.check()).toMatchObject({ tokens: 1, problems: [] });
  clock.ms += 10 * 60_000;
  // Used anew before the sweep came by: the old expiry must not take the new answer with it.
  await write('b');
  clock.ms += 1;
  await engine.sweep();
  expect(engine.check()).toMatchObject({ tokens: 1, problems: [] });
  await expect(write('c')).rejects.toMatchObject({ name: 'IdempotentParameterMismatchException' });
  clock.ms += 11 * 60_000;
  await engine.sweep();
  expect(engine.check()).toMatchObject({ tokens: 0, problems: [] });
});
