import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { createHttpServer, type HttpServer } from '../src/http/server.ts';
import { call, hashTable, newIndex, openEngine, streaming } from './engine-fixture.ts';
import { exchange } from './http-exchange.ts';

let engine: Engine;
let server: HttpServer;
let url: string;
let port: number;

beforeEach(async () => {
  engine = await openEngine();
  server = createHttpServer(engine, { showTables: true });
  ({ url, port } = await server.listen());
});
afterEach(async () => {
  await server.close();
  await engine.close();
});

async function open(path: string) {
  const response = await fetch(url + path);
  return { status: response.status, text: await response.text(), headers: response.headers };
}
const put = (Item: object) => call(engine, 'PutItem', { TableName: 'notes', Item });

it('lists the tables, with their keys, counts and indexes', async () => {
  expect((await open('/tables')).text).toContain('There are no tables yet');
  await call(engine, 'CreateTable', hashTable('notes', streaming()));
  await call(engine, 'UpdateTable', { TableName: 'notes', ...newIndex('byColor', 'color') });
  await put({ pk: { S: 'a' } });
  const { status, text, headers } = await open('/tables');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  for (const shown of ['href="/tables/notes"', 'byColor', 'NEW_AND_OLD_IMAGES', '<td>1</td>'])
    expect(text).toContain(shown);
});

it('shows items of every type, and what they contain is text', async () => {
  await call(engine, 'CreateTable', hashTable('notes'));
  await put({
    pk: { S: '<script>alert("&")</script>' },
    n: { N: '1.50' },
    b: { B: Buffer.from('hi') },
    ss: { SS: ['x'] },
    deep: { M: { list: { L: [{ NULL: true }, { BOOL: false }] } } },
  });
  const { text } = await open('/tables/notes');
  expect(text).not.toContain('<script>');
  expect(text).toContain('&quot;&lt;script&gt;alert(\\&quot;&amp;\\&quot;)&lt;/script&gt;&quot;');
  expect(text).toContain('&quot;b&quot;: base64 aGk=');
  expect(text).toContain('&quot;deep&quot;: {&quot;list&quot;: [null, false]}');
  expect(text).toContain('&quot;n&quot;: 1.5');
  expect(text).toContain('&quot;ss&quot;: &lt;&quot;x&quot;&gt;');
});

it('pages through a table, and reads a partition of a table and of an index', async () => {
  await call(engine, 'CreateTable', hashTable('notes'));
  for (let n = 0; n < 120; n++)
    await put({ pk: { S: `k${n}` }, color: { S: n % 60 === 0 ? 'red' : 'blue' } });
  await call(engine, 'UpdateTable', { TableName: 'notes', ...newIndex('byColor', 'color') });
  await engine.settled();
  const seen = new Set<string>();
  for (let path: string | undefined = '/tables/notes'; path; ) {
    const { text } = await open(path);
    for (const [, key] of text.matchAll(/<code>&quot;(k\d+)&quot;/g)) seen.add(key!);
    const next: string | undefined = /href="\?([^"]+)"/.exec(text)?.[1];
    path = next && `/tables/notes?${next.replaceAll('&amp;', '&')}`;
  }
  expect(seen.size).toBe(120);
  const one = (await open('/tables/notes?partition=k7')).text;
  expect(one.match(/<tr><td>/g)).toHaveLength(1);
  const red = (await open('/tables/notes?index=byColor&partition=red')).text;
  expect(red.match(/<tr><td>/g)).toHaveLength(2);
});

it('pages through a table whose keys are binary', async () => {
  const definition = hashTable('bytes', {
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'B' }],
  });
  await call(engine, 'CreateTable', definition);
  for (let n = 0; n < 60; n++)
    await call(engine, 'PutItem', { TableName: 'bytes', Item: { pk: { B: Buffer.from([n]) } } });
  const next = /href="\?([^"]+)"/.exec((await open('/tables/bytes')).text)![1]!;
  const { text } = await open(`/tables/bytes?${next.replaceAll('&amp;', '&')}`);
  expect(text.match(/<tr><td>/g)).toHaveLength(10);
});

it.each([
  ['/tables/nothing', 404],
  ['/tables/%', 400],
  ['/tables/notes?after=x', 400],
  [`/tables/notes?after=${Buffer.from('{"pk":null}').toString('base64url')}`, 400],
  [`/tables/notes?after=${Buffer.from('7').toString('base64url')}`, 400],
  ['/tables/notes?partition=x&index=nothing', 200],
  ['/tables/__proto__', 404],
])('%s answers with %i', async (path, status) => {
  await call(engine, 'CreateTable', hashTable('notes'));
  expect((await open(path)).status).toBe(status);
});

it('is not shown by a name that another site can have, and not unless it is wanted', async () => {
  const ask = (host: string) =>
    exchange(port, `GET /tables HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect((await ask('evil.example')).status).toBe(403);
  for (const host of ['localhost:1', '127.0.0.1', '192.168.1.7:8000', '[::1]:8000'])
    expect((await ask(host)).status).toBe(200);
  expect((await open('/')).text).toContain('healthy');
  const plain = createHttpServer(engine);
  const other = await plain.listen();
  expect(await (await fetch(`${other.url}/tables`)).text()).toContain('healthy');
  await plain.close();
});
