import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  createMemoryRateLimits,
  type PlainRequest,
  plainEndpoint,
  type RequestRecord,
  raw,
  route,
} from '../src/index.ts';
import { exchange, serve } from './loopback.ts';
import { openShelf, shelfErrors } from './shelf-service.ts';

const ingest = route({
  method: 'any',
  path: '/in/{source_id}',
  auth: 'public',
  summary: 'Take anything',
  operationId: 'ingest.receive',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  tenant: 'none',
  mcp: false,
  request: { params: z.strictObject({ source_id: z.string().max(60) }), body: raw() },
  responses: { 202: { description: 'Kept', content: { 'text/plain': { schema: z.string() } } } },
  problems: ['shelf.full'],
  limits: { bodyBytes: 1000, isWebhook: true },
});

type Seen = Omit<PlainRequest, 'body'> & { body: string };

// Two servers with the same route: one takes plain requests by itself, the other leaves all of them to Hono.
async function openBoth(requests = 1000) {
  const seen: Seen[] = [];
  const receive = plainEndpoint(ingest, async request => {
    const body = Buffer.from(request.body).toString('latin1');
    seen.push({ ...request, body });
    if (body === 'refused') throw shelfErrors.create('shelf.full', 'No.', { why: 'not this one' });
    if (body === 'broken') throw new Error('secret');
    return { status: 202, contentType: 'text/plain', body: `é ${body}` };
  });
  const records: RequestRecord[] = [];
  const open = () =>
    openShelf({
      more: [receive],
      observe: record => void records.push(record),
      rateLimits: {
        store: createMemoryRateLimits(),
        perWebhookAddress: { name: 'w', limit: requests, windowMs: 60_000, by: 'address' },
      },
    });
  const direct = open();
  const throughHono = open();
  const { port } = await serve(direct);
  const { port: otherPort } = await serve({
    ...throughHono,
    api: { ...throughHono.api, servePlain: undefined },
  });
  // The answer without what differs each time, and what the handler got.
  const ask = async (to: number, ...lines: string[]) => {
    seen.length = 0;
    const text = await exchange(to, ...lines);
    const answer = text
      .replaceAll(/req_[0-9a-z]+/g, 'REQUEST')
      .replace(/Date: .*\r\n/i, '')
      .split('\r\n')
      .map(line => line.replace(/^[^:{]+:/, name => name.toLowerCase()))
      .sort();
    return { answer, seen: [...seen] };
  };
  return {
    direct,
    records,
    ask: async (...lines: string[]) => {
      const both = [await ask(port, ...lines), await ask(otherPort, ...lines)] as const;
      expect(both[0]).toEqual(both[1]);
      return both[0];
    },
  };
}

const lines = (first: string, ...more: string[]) => [
  `${first} HTTP/1.1`,
  'Host: localhost',
  'Connection: close',
  ...more,
];
const post = (body: string, path = '/in/src_1') =>
  lines(`POST ${path}`, `Content-Length: ${Buffer.byteLength(body)}`, '', body);

describe('a plain handler', () => {
  it('gets the request as it was sent', async () => {
    const { ask } = await openBoth();
    const sent = lines(
      'PUT /in/src_1?a="b"&c=%20',
      'X-Odd: One',
      'x-odd: two',
      'Content-Length: 2',
      '',
      'hi',
    );
    const { seen, answer } = await ask(...sent);
    expect(seen).toMatchObject([
      { params: { source_id: 'src_1' }, method: 'PUT', path: '/in/src_1', query: 'a="b"&c=%20', body: 'hi' },
    ]);
    expect(seen[0]!.headers).toContainEqual(['X-Odd', 'One']);
    expect(seen[0]!.headers).toContainEqual(['x-odd', 'two']);
    expect(answer).toContain('HTTP/1.1 202 Accepted');
    expect(answer).toContain('ratelimit-remaining: 999');
    expect(answer).toContain('x-content-type-options: nosniff');
  });

  it('is called without Hono', async () => {
    const { direct } = await openBoth();
    const fetch = () => Response.error();
    const { port } = await serve({ ...direct, api: { ...direct.api, app: { fetch } as never } });
    expect(await exchange(port, ...post('hi'))).toMatch(/^HTTP\/1.1 202 /);
  });

  it.each([
    ['without a body', lines('GET /in/src_1')],
    ['without bytes', lines('POST /in/src_1', 'Content-Length: 0')],
    ['in chunks', lines('POST /in/src_1', 'Transfer-Encoding: chunked', '', '2', 'hi', '0')],
    ['with an encoded id', post('hi', '/in/src%5F1')],
    ['with a long id', post('hi', `/in/${'a'.repeat(60)}`)],
    ['with an id that is too long', post('hi', `/in/${'a'.repeat(61)}`)],
    ['without an id', post('hi', '/in/')],
    ['with more of a path', post('hi', '/in/src_1/more')],
    ['to an absolute address', post('hi', 'http://localhost/in/src_1')],
    ['with a body that is too large', lines('POST /in/src_1', 'Content-Length: 1001', '', 'x')],
    ['that is refused', post('refused')],
    ['that fails', post('broken')],
    ['with an id of its own', lines('GET /in/src_1', 'X-Request-Id: mine-12345678')],
    ['as OPTIONS', lines('OPTIONS /in/src_1')],
    ['as HEAD', lines('HEAD /in/src_1')],
    ['as another method', lines('PROPFIND /in/src_1')],
  ])('gives the same answer as Hono to a request %s', async (_, sent) => {
    const { ask } = await openBoth();
    const { answer } = await ask(...sent);
    expect(answer.join()).not.toContain('secret');
  });

  it('is limited like any route', async () => {
    const { ask } = await openBoth(2);
    await ask(...post('one'));
    await ask(...post('two'));
    const { answer, seen } = await ask(...post('three'));
    expect(answer).toContain('HTTP/1.1 429 Too Many Requests');
    expect(seen).toEqual([]);
  });

  it('releases what a request holds, and is observed', async () => {
    const { direct, records, ask } = await openBoth();
    await ask(...post('hi'));
    await ask(...post('broken'));
    expect(direct.api.inFlight.usage()).toMatchObject({ requests: 0, bodyBytes: 0 });
    // Each of them twice: directly, and through Hono.
    expect(records.map(({ route, status, code }) => [route, status, code])).toEqual([
      ['ANY /in/{source_id}', 202, undefined],
      ['ANY /in/{source_id}', 202, undefined],
      ['ANY /in/{source_id}', 500, 'http.internal'],
      ['ANY /in/{source_id}', 500, 'http.internal'],
    ]);
  });

  it('must accept any short id', () => {
    const params = z.strictObject({ source_id: z.string().max(10) });
    const strict = { ...ingest, request: { ...ingest.request, params } };
    const handle = async () => ({ status: 200, contentType: 'text/plain', body: '' });
    expect(() => openShelf({ more: [plainEndpoint(route(strict), handle)] })).toThrow('any short id');
  });
});
