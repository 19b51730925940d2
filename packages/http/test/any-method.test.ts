import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { endpoint, json, raw, route } from '../src/index.ts';
import { exchange, openSocket, serve } from './loopback.ts';
import { openShelf } from './shelf-service.ts';

const ingest = route({
  method: 'any',
  path: '/in/{source_id}',
  auth: 'public',
  summary: 'Take anything',
  description: 'Whatever arrives is kept.',
  operationId: 'ingest.receive',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  tenant: 'none',
  mcp: false,
  request: { params: z.strictObject({ source_id: z.string() }), body: raw() },
  responses: {
    200: json(z.strictObject({ method: z.string(), hex: z.string(), type: z.string().nullable() })),
  },
  limits: { bodyBytes: 1000, rate: false },
});

const openIngest = (corsOrigins: string[] = []) =>
  openShelf({
    corsOrigins,
    more: [
      endpoint(ingest, c =>
        c.json(
          {
            method: c.req.method,
            hex: Buffer.from(c.get('body')).toString('hex'),
            type: c.req.header('content-type') ?? null,
          },
          200,
        ),
      ),
    ],
  });

const answerOf = (text: string) => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
const lines = (method: string, ...more: string[]) => [
  `${method} /in/src_1 HTTP/1.1`,
  'Host: localhost',
  'Connection: close',
  ...more,
];

describe('a route for any method', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'accepts %s, with or without a body',
    async method => {
      const { port } = await serve(openIngest());
      const sent = await exchange(port, ...lines(method, 'Content-Length: 2', '', 'hi'));
      expect(answerOf(sent)).toEqual({ method, hex: '6869', type: null });
      const chunked = lines(method, 'Content-Type: a/b', 'Transfer-Encoding: chunked', '', '2', 'hi', '0');
      expect(answerOf(await exchange(port, ...chunked))).toEqual({ method, hex: '6869', type: 'a/b' });
      expect(answerOf(await exchange(port, ...lines(method)))).toEqual({ method, hex: '', type: null });
    },
  );

  it('answers HEAD, and lists its methods to others', async () => {
    const { port } = await serve(openIngest());
    expect(await exchange(port, ...lines('HEAD'))).toMatch(/^HTTP\/1.1 200 /);
    const refused = await exchange(port, ...lines('PROPFIND'));
    expect(refused).toMatch(/^HTTP\/1.1 405 /);
    expect(refused.toLowerCase()).toContain('allow: delete, get, head, options, patch, post, put');
  });

  it('passes on a compressed body unchanged', async () => {
    const { call } = openIngest();
    const body = gzipSync('hello');
    const headers = { 'Content-Encoding': 'gzip', 'Content-Type': 'text/plain; charset=latin1' };
    const response = await call('/in/src_1', { method: 'PUT', body, headers });
    expect(await response.json()).toMatchObject({ hex: body.toString('hex'), type: headers['Content-Type'] });
  });

  it.each(['GET', 'POST', 'DELETE'])('applies the route’s limit to %s, announced or not', async method => {
    const { port } = await serve(openIngest());
    expect(await exchange(port, ...lines(method, 'Content-Length: 1001', '', 'x'))).toMatch(
      /^HTTP\/1.1 413 /,
    );
    const { socket, closed } = openSocket(port);
    socket.write(`${lines(method, 'Transfer-Encoding: chunked').join('\r\n')}\r\n\r\n`);
    for (let i = 0; i < 10; i++) socket.write(`ff\r\n${'x'.repeat(0xff)}\r\n`);
    expect(await closed).toMatch(/^HTTP\/1.1 413 /);
  });

  it('sees an OPTIONS that is not a preflight', async () => {
    const { call } = openIngest(['https://console.example']);
    const origin = { Origin: 'https://console.example' };
    const asked = await call('/in/src_1', { method: 'OPTIONS', headers: { 'WebHook-Request-Origin': 'x' } });
    expect(asked.status).toBe(200);
    const headers = { ...origin, 'Access-Control-Request-Method': 'POST' };
    expect((await call('/in/src_1', { method: 'OPTIONS', headers })).status).toBe(204);
  });

  it('is in the document once', async () => {
    const { paths } = openIngest().api.document();
    expect(Object.keys(paths?.['/in/{source_id}'] ?? {})).toEqual(['post']);
    expect(paths?.['/in/{source_id}']?.post).toMatchObject({
      operationId: 'ingest.receive',
      'x-any-method': true,
      description: 'Whatever arrives is kept.\n\nTakes any method.',
    });
  });

  it('does not parse its body', () => {
    expect(() => route({ ...ingest, request: { ...ingest.request, body: json(z.string()) } })).toThrow(
      'takes any body',
    );
  });
});
