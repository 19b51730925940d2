import { crc32, deflateRawSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../src/http/server.ts';
import {
  exchange,
  expectWellFormed,
  type Reply,
  requestBytes,
  signedHeaders,
  typeOf,
} from './http-exchange.ts';

const open: HttpServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

// Answers with what it was asked, as often as it was asked for.
async function serve(options: HttpServerOptions = {}): Promise<number> {
  const execute = async (_: string, input: unknown) => {
    const { ExclusiveStartTableName: name = '', Limit = 1 } = input as Record<string, never>;
    return { TableNames: Array.from({ length: Limit }, () => name) };
  };
  const server = createHttpServer({ execute }, options);
  open.push(server);
  return (await server.listen()).port;
}

const send = (port: number, headers: Record<string, string>, body: string | Uint8Array): Promise<Reply> =>
  exchange(port, requestBytes({ ...signedHeaders('ListTables'), ...headers }, body));

describe('a compressed request', () => {
  const json = '{"ExclusiveStartTableName":"näme"}';

  test.each([
    ['gzip', gzipSync(json)],
    ['x-gzip', gzipSync(json)],
    ['GZIP', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['deflate', deflateRawSync(json)],
    ['identity', Buffer.from(json)],
  ])('in %s is decompressed', async (encoding, body) => {
    const reply = await send(await serve(), { 'content-encoding': encoding }, body);
    expectWellFormed(reply);
    expect(JSON.parse(reply.body)).toEqual({ TableNames: ['näme'] });
  });

  test.each([
    ['gzip', Buffer.from(json)],
    ['gzip', gzipSync(json).subarray(0, 20)],
    ['deflate', Buffer.from([0xff, 0xff, 0xff])],
    ['deflate', Buffer.from([8])],
  ])('in %s that is damaged is not JSON', async (encoding, body) => {
    const reply = await send(await serve(), { 'content-encoding': encoding }, body);
    expectWellFormed(reply);
    expect(typeOf(reply)).toBe('com.amazon.coral.service#SerializationException');
  });

  test.each(['gzip, gzip', 'br', 'compress', ''])('in %j is 415', async encoding => {
    const reply = await send(await serve(), { 'content-encoding': encoding }, gzipSync(json));
    expectWellFormed(reply);
    expect(reply.status).toBe(415);
  });

  test('is measured uncompressed: at the limit it passes, a bomb is 413', async () => {
    const port = await serve({ maxBodyBytes: 1000 });
    const bodyOf = (bytes: number) => '{}'.padEnd(bytes, ' ');
    expect((await send(port, { 'content-encoding': 'gzip' }, gzipSync(bodyOf(1000)))).status).toBe(200);
    const bomb = Buffer.alloc(48 * 1024 * 1024);
    for (const [encoding, body] of [
      ['gzip', gzipSync(bodyOf(1001))],
      ['deflate', deflateSync(bodyOf(1001))],
    ] as const) {
      const reply = await send(port, { 'content-encoding': encoding }, body);
      expectWellFormed(reply);
      expect(reply.status).toBe(413);
    }
    const roomy = await serve();
    const before = process.memoryUsage().arrayBuffers;
    const reply = await send(roomy, { 'content-encoding': 'gzip' }, gzipSync(bomb, { level: 1 }));
    expect(reply.status).toBe(413);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(45 * 1024 * 1024);
  });
});

describe('a large response', () => {
  const body = JSON.stringify({ ExclusiveStartTableName: 'x'.repeat(30), Limit: 100 });

  test('is compressed for a client that accepts gzip, with the checksum of what was sent', async () => {
    const port = await serve();
    for (const accepted of ['gzip', 'deflate, gzip;q=0.5', 'br, GZIP']) {
      const reply = await send(port, { 'accept-encoding': accepted }, body);
      expect(reply.headers.get('content-encoding')).toBe('gzip');
      expect(reply.headers.get('x-amz-crc32')).toBe(String(crc32(reply.bytes)));
      expect(JSON.parse(gunzipSync(reply.bytes).toString()).TableNames).toHaveLength(100);
    }
  });

  test.each(['identity', 'br', 'gzip;q=0', 'deflate', ''])('is sent uncompressed for %j', async accepted => {
    const reply = await send(await serve(), { 'accept-encoding': accepted }, body);
    expect(reply.headers.has('content-encoding')).toBe(false);
    expectWellFormed(reply);
  });

  test('only: a small one is never compressed', async () => {
    const reply = await send(await serve(), { 'accept-encoding': 'gzip' }, '{}');
    expect(reply.headers.has('content-encoding')).toBe(false);
    expectWellFormed(reply);
  });
});

describe('web pages', () => {
  const page = 'http://localhost:5173';
  const ask = (port: number, origin: string, host = 'localhost:8000') =>
    exchange(
      port,
      `OPTIONS / HTTP/1.1\r\nhost: ${host}\r\norigin: ${origin}\r\naccess-control-request-method: POST\r\n` +
        'access-control-request-headers: authorization,x-amz-target\r\n\r\n',
    );
  const corsOf = ({ headers }: Reply) =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control')));

  test('may call from a configured origin', async () => {
    const port = await serve({ allowOrigins: [page] });
    const reply = await ask(port, page);
    expect(reply.status).toBe(200);
    expect(corsOf(reply)).toEqual({
      'access-control-allow-origin': page,
      'access-control-allow-headers': 'authorization,x-amz-target',
      'access-control-allow-methods': 'POST',
      'access-control-max-age': '172800',
    });
    const answer = await send(port, { origin: page }, '{}');
    expect(corsOf(answer)).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-expose-headers': expect.stringContaining('x-amz-crc32'),
    });
    const refused = await send(port, { origin: page }, 'no JSON');
    expect(corsOf(refused)).toHaveProperty('access-control-allow-origin', page);
  });

  test('may not call from any other', async () => {
    for (const allowOrigins of [undefined, [], [page]]) {
      const port = await serve(allowOrigins && { allowOrigins });
      const reply = await ask(port, 'http://elsewhere.example');
      expect([reply.status, corsOf(reply)]).toEqual([404, {}]);
      expect(corsOf(await send(port, { origin: 'http://elsewhere.example' }, '{}'))).toEqual({});
    }
  });

  test('may all call if configured, except by DNS rebinding', async () => {
    const port = await serve({ allowOrigins: ['*'] });
    const origin = 'http://rebound.example:8000';
    expect(corsOf(await ask(port, 'http://a.example'))).toHaveProperty('access-control-allow-origin');
    const rebound = await ask(port, origin, 'rebound.example:8000');
    expect(typeOf(rebound)).toContain('AccessDeniedException');
    const call = await send(port, { origin, host: 'rebound.example:8000' }, '{}');
    expect(typeOf(call)).toContain('AccessDeniedException');
    const named = await serve({ allowOrigins: [origin] });
    expect((await send(named, { origin, host: 'rebound.example:8000' }, '{}')).status).toBe(200);
  });
});
