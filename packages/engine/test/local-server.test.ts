import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type LocalServerOptions, startLocalServer, useDynamoDb } from '../src/local/testing.ts';
import { hashTable } from './engine-fixture.ts';

async function start(options: LocalServerOptions = {}) {
  const server = await startLocalServer(options);
  const client = new DynamoDBClient(server.clientConfig);
  onTestFinished(async () => {
    client.destroy();
    await server.stop();
  });
  return { server, client };
}
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'stak-local-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const items = Array.from({ length: 60 }, (_, n) => ({ pk: `k${n}`, n, tags: ['a'], deep: { none: null } }));
const seed = {
  tables: [hashTable('notes'), hashTable('others')],
  items: { notes: items },
  requestItems: { others: [{ PutRequest: { Item: { pk: { S: 'x' }, set: { SS: ['a', 'b'] } } } }] },
};

it('begins with the tables and items of its seed, which may be a file, and shows them', async () => {
  const file = join(folder(), 'seed.json');
  writeFileSync(file, JSON.stringify(seed));
  const { server, client } = await start({ seed: file });
  const { Items } = await client.send(new ScanCommand({ TableName: 'notes' }));
  expect(Items).toHaveLength(60);
  expect(Items!.find(item => item.pk!.S === 'k7')).toEqual({
    pk: { S: 'k7' },
    n: { N: '7' },
    tags: { L: [{ S: 'a' }] },
    deep: { M: { none: { NULL: true } } },
  });
  const { Items: others } = await client.send(new ScanCommand({ TableName: 'others' }));
  expect(others).toEqual([{ pk: { S: 'x' }, set: { SS: ['a', 'b'] } }]);
  expect(await (await fetch(`${server.url}/tables`)).text()).toContain('href="/tables/others"');
});

it('in a folder, a table that exists keeps what it has', async () => {
  const path = folder();
  const first = await startLocalServer({ path, seed });
  await first.engine.client.put({ TableName: 'notes', Item: { pk: 'k7', changed: true } });
  await expect(first.reset()).rejects.toThrow('Only a server in memory');
  await first.stop();
  const { server } = await start({ path, seed: { ...seed, tables: [...seed.tables, hashTable('third')] } });
  const { Item } = await server.engine.client.get({ TableName: 'notes', Key: { pk: 'k7' } });
  expect(Item).toEqual({ pk: 'k7', changed: true });
  expect(await server.engine.execute('ListTables', {})).toEqual({ TableNames: ['notes', 'others', 'third'] });
});

it.each([
  [null, 'is no object with'],
  [{ table: [] }, 'has an unknown field: table'],
  [{ items: { nothing: [{ pk: 'a' }] } }, 'cannot be written: Requested resource not found'],
  [{ tables: [{ TableName: 'x' }] }, 'cannot be written: 1 validation error detected'],
  [{ tables: [null] }, 'cannot be written'],
  [{ items: { notes: 7 } }, 'cannot be written'],
])('a seed that is none says why: %j', async (wrong, message) => {
  await expect(startLocalServer({ seed: wrong as never })).rejects.toThrow(message);
});

it('a seed that is no JSON, or is not there, is named', async () => {
  const file = join(folder(), 'seed.json');
  await expect(startLocalServer({ seed: file })).rejects.toThrow(`The seed ${file} cannot be read`);
  writeFileSync(file, '{');
  await expect(startLocalServer({ seed: [file] })).rejects.toThrow(`The seed ${file} is no JSON`);
});

describe('the tests of a file', () => {
  const dynamodb = useDynamoDb({ beforeAll, beforeEach, afterAll }, { seed });
  it.each(['first', 'second'])('each begin with the seed: the %s', async name => {
    const client = new DynamoDBClient(dynamodb.clientConfig);
    const Key = { pk: { S: 'mine' } };
    expect((await client.send(new GetItemCommand({ TableName: 'notes', Key }))).Item).toBeUndefined();
    await client.send(new PutItemCommand({ TableName: 'notes', Item: { ...Key, name: { S: name } } }));
    expect((await dynamodb.engine.client.scan({ TableName: 'notes' })).Count).toBe(61);
    client.destroy();
  });
});

it('used outside of a test, it says so', () => {
  const hooks = { beforeAll: () => {}, beforeEach: () => {}, afterAll: () => {} };
  expect(() => useDynamoDb(hooks).url).toThrow('use it within a test');
});
