import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../src/index.ts';

// Written by version 0.1.0: a table with an index and a stream; twenty notes, one edited and one deleted since.
const written = join(import.meta.dirname, 'stores/store-0.1.0.mdb.gz');

test('a store of an earlier version opens, passes the check, and reads and writes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stak-earlier-'));
  await writeFile(join(folder, 'stak.mdb'), gunzipSync(await readFile(written)));
  const engine = await createEngine({ path: folder });
  onTestFinished(async () => {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  });
  const TableName = 'notes';
  const { client } = engine;
  expect(await engine.check()).toMatchObject({ tables: 1, items: 19, problems: [] });
  expect((await client.get({ TableName, Key: { pk: 'p0', sk: 0 } })).Item).toBeUndefined();
  const { Item } = await client.get({ TableName, Key: { pk: 'p1', sk: 1 } });
  expect(Item).toEqual({
    ...{ pk: 'p1', sk: 1, owner: 'o1', text: 'edited', list: [1, null, true] },
    ...{ bytes: new Uint8Array([1]), tags: new Set(['a', 't1']) },
  });
  const ofOwner = {
    TableName,
    IndexName: 'by-owner',
    KeyConditionExpression: '#o = :o',
    ExpressionAttributeNames: { '#o': 'owner' },
    ExpressionAttributeValues: { ':o': 'o0' },
  };
  expect((await client.query(ofOwner)).Items).toHaveLength(9);
  await client.put({ TableName, Item: { pk: 'p0', sk: 0, owner: 'o0' } });
  expect((await client.query(ofOwner)).Items).toHaveLength(10);
  expect(await engine.check()).toMatchObject({ items: 20, problems: [] });
});
