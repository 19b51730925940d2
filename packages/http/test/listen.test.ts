import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type EventSink, endpoint, events, type Problem, route, sse } from '../src/index.ts';
import { exchange, openSocket, serve } from './loopback.ts';
import { openShelf } from './shelf-service.ts';

const bodyOf = (text: string) => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Problem;
const host = 'Host: localhost';
const close = 'Connection: close';
const ann = { Authorization: 'Bearer ann' };
const enter = () => {};

describe('over the wire', () => {
  it('the conventions hold', async () => {
    const { url } = await serve(openShelf());
    const headers = { ...ann, 'Content-Type': 'application/json', 'Idempotency-Key': 'k1' };
    const add = () => fetch(`${url}/v1/books`, { method: 'POST', headers, body: '{"title":"Ä"}' });
    const first = await add();
    const second = await add();
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get('x-request-id')).toMatch(/^req_/);
    const missing = await fetch(`${url}/v1/books/none`, { headers: ann });
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    expect((await fetch(`${url}/v1/books`, { method: 'HEAD', headers: ann })).status).toBe(200);
  });

  it('answers a probe over HTTP/1.0, which has no Host', async () => {
    const { port } = await serve(openShelf());
    for (const path of ['/healthz', '/readyz'])
      expect(await exchange(port, `GET ${path} HTTP/1.0`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('every response has the conventional headers, once, unless its handler sets them', async () => {
    const { port } = await serve(openShelf({ corsOrigins: ['https://console.example'] }));
    const headersOf = async (path: string) => {
      const answer = await exchange(
        port,
        `GET ${path} HTTP/1.1`,
        host,
        close,
        'Origin: https://console.example',
      );
      const lines = answer.slice(0, answer.indexOf('\r\n\r\n')).toLowerCase().split('\r\n').slice(1);
      const names = lines.map(line => line.split(':')[0]!);
      expect(new Set(names).size).toBe(names.length);
      return Object.fromEntries(lines.map(line => [line.split(':')[0], line.slice(line.indexOf(':') + 2)]));
    };
    for (const path of ['/healthz', '/v1/me', '/nowhere', '/openapi.json'])
      expect(await headersOf(path)).toMatchObject({
        'x-request-id': expect.stringMatching(/^req_/),
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': 'https://console.example',
      });
    expect((await headersOf('/openapi.json'))['ratelimit-limit']).toBe('300');
  });

  it('a POST may have no body at all', async () => {
    const { port } = await serve(openShelf());
    const answer = await exchange(port, 'POST /v1/fail/closed HTTP/1.1', host, close);
    expect(answer).toMatch(/^HTTP\/1.1 503 /);
  });

  it.each<[string, string[], number]>([
    ['garbage', ['\0\x01 hello'], 400],
    ['no host', ['GET /healthz HTTP/1.1', close], 400],
    ['a host that is none', ['GET /healthz HTTP/1.1', 'Host: a b', close], 400],
    ['two hosts', ['GET /healthz HTTP/1.1', 'Host: a', 'Host: b', close], 400],
    ['two lengths', ['POST /v1/books HTTP/1.1', host, 'Content-Length: 1', 'Content-Length: 2'], 400],
    [
      'length and chunks',
      ['POST /v1/books HTTP/1.1', host, 'Content-Length: 5', 'Transfer-Encoding: chunked'],
      400,
    ],
    ['a backslash', ['GET /v1\\books HTTP/1.1', host, close], 400],
    ['a huge header', ['GET /healthz HTTP/1.1', host, `X-Big: ${'x'.repeat(20_000)}`], 431],
    ['a huge address', [`GET /${'x'.repeat(20_000)} HTTP/1.1`, host], 400],
    ['a huge cursor', [`GET /v1/books?cursor=${'x'.repeat(60_000)} HTTP/1.1`, host], 400],
    [
      'many headers',
      ['GET /healthz HTTP/1.1', host, ...Array.from({ length: 3000 }, (_, i) => `X-${i}: 1`)],
      431,
    ],
    [
      'two tokens',
      ['GET /v1/me HTTP/1.1', host, 'Authorization: Bearer ann', 'Authorization: Bearer bob', close],
      401,
    ],
    ['a broken escape', ['GET /v1/books/%E0%A4%A HTTP/1.1', host, 'Authorization: Bearer ann', close], 404],
    ['a null in the path', ['GET /v1/books/%00 HTTP/1.1', host, 'Authorization: Bearer ann', close], 404],
    ['dots in the path', ['GET /v1/../../etc/passwd HTTP/1.1', host, close], 404],
  ])('%s gets a problem', async (_, lines, status) => {
    const { port } = await serve(openShelf());
    const answer = await exchange(port, ...lines);
    expect(answer.slice(0, answer.indexOf('\r\n'))).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.toLowerCase()).toContain('content-type: application/problem+json');
    expect(bodyOf(answer)).toMatchObject({ status });
    expect(answer).not.toContain('    at ');
  });

  it.each<[string, (name: string) => string[]]>([
    ['a Host header', name => ['GET /healthz HTTP/1.1', `Host: ${name}`, close]],
    ['an absolute address', name => [`GET http://${name}/healthz HTTP/1.1`, host, close]],
  ])('an overlong name in %s is refused before it is parsed', async (_, lines) => {
    const parsed: string[] = [];
    class CountedUrl extends URL {
      constructor(text: string | URL, base?: string | URL) {
        parsed.push(String(text));
        super(text, base);
      }
    }
    const { port } = await serve(openShelf());
    vi.stubGlobal('URL', CountedUrl);
    onTestFinished(() => void vi.unstubAllGlobals());
    const answer = await exchange(port, ...lines('%E4%B8%80%E4%B8%81'.repeat(800)));
    expect(bodyOf(answer)).toMatchObject({ status: 400, code: 'http.request_invalid' });
    expect(parsed.filter(text => text.length > 1000)).toEqual([]);
  });

  it('a body that is too large is refused before it is sent', async () => {
    const { port } = await serve(openShelf());
    const { socket, closed } = openSocket(port);
    socket.write(
      `POST /v1/books HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ann\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{`,
    );
    expect(bodyOf(await closed)).toMatchObject({ status: 413, code: 'http.body_too_large' });
  });

  it('an endless chunked body is refused midway', async () => {
    const { port } = await serve(openShelf());
    const { socket, closed } = openSocket(port);
    socket.write(
      `POST /v1/books HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ann\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `8000\r\n${' '.repeat(0x8000)}\r\n`;
    const pump = () => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', pump);
    pump();
    expect(await closed).toMatch(/^HTTP\/1.1 413 /);
  });

  it('trickling headers or bodies time out', async () => {
    const { port } = await serve(openShelf(), { headersMs: 50, requestMs: 100, checkMs: 10 });
    const slowHeaders = openSocket(port);
    slowHeaders.socket.write('GET /healthz HTTP/1.1\r\nHost: ');
    const slowBody = openSocket(port);
    slowBody.socket.write(
      `POST /v1/books HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ann\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{`,
    );
    for (const { closed } of [slowHeaders, slowBody])
      expect(bodyOf(await closed)).toMatchObject({ status: 408, code: 'http.body_too_slow' });
  });
});

const feedRoute = route({
  method: 'get',
  path: '/feed',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  tenant: 'none',
  mcp: false,
  auth: 'public',
  summary: 'Follow',
  responses: { 200: events() },
});

function openFeed() {
  const sinks: EventSink[] = [];
  const feed = endpoint(feedRoute, c =>
    sse(c, { enter, bufferBytes: 100_000, subscribe: (_, sink) => new Promise(() => void sinks.push(sink)) }),
  );
  return { ...openShelf({ more: [feed] }), sinks };
}

describe('an event stream over the wire', () => {
  it('arrives as it happens and ends when the client disconnects', async () => {
    const shelf = openFeed();
    const { port } = await serve(shelf);
    const { socket, until } = openSocket(port);
    socket.write(`GET /feed HTTP/1.1\r\n${host}\r\n\r\n`);
    await until('retry: 2000');
    shelf.sinks[0]!.send({ id: '1', data: 'now' });
    await until('id: 1\ndata: now\n\n');
    const gone = once(shelf.sinks[0]!.signal, 'abort');
    socket.destroy();
    await gone;
  });

  it('ends at once for a client that left before it began', async () => {
    const ended: Promise<unknown>[] = [];
    const feed = endpoint(feedRoute, async c => {
      await once(c.env!.outgoing!, 'close');
      return sse(c, {
        enter,
        subscribe: (_, { signal }) => {
          ended.push(once(signal, 'abort'));
          return new Promise(() => {});
        },
      });
    });
    const shelf = openShelf({ more: [feed] });
    const { port } = await serve(shelf);
    const { socket } = openSocket(port);
    socket.write(`GET /feed HTTP/1.1\r\n${host}\r\n\r\n`, () => socket.destroy());
    await vi.waitFor(() => expect(ended).toHaveLength(1), 20_000);
    await ended[0];
  });

  it('disconnects a consumer that does not read', async () => {
    const shelf = openFeed();
    const { port } = await serve(shelf);
    const { socket, until, closed } = openSocket(port);
    socket.write(`GET /feed HTTP/1.1\r\n${host}\r\n\r\n`);
    await until('retry: 2000');
    socket.pause();
    const { signal, send } = shelf.sinks[0]!;
    while (!signal.aborted) {
      send({ data: 'x'.repeat(50_000) });
      await new Promise(setImmediate);
    }
    expect(signal.reason).toBe('slow_consumer');
    await shelf.clock.advance(5000);
    socket.resume();
    await closed;
    expect(shelf.clock.sleepers()).toBe(0);
  });
});

describe('closing', () => {
  it('finishes requests in flight, ends streams and idle connections, and accepts no more', async () => {
    let release = () => {};
    const begun = new Promise<void>(resolve => {
      release = resolve;
    });
    let isAdding = () => {};
    const adding = new Promise<void>(resolve => {
      isAdding = resolve;
    });
    const feed = openFeed();
    const shelf = openShelf({
      onAdd: () => {
        isAdding();
        return begun;
      },
      more: [
        endpoint(feedRoute, c =>
          sse(c, { enter, subscribe: (_, sink) => new Promise(() => void feed.sinks.push(sink)) }),
        ),
      ],
    });
    const stop = new AbortController();
    const server = await serve(shelf, { signal: stop.signal });
    const idle = openSocket(server.port);
    idle.socket.write(`GET /healthz HTTP/1.1\r\n${host}\r\n\r\n`);
    await idle.until('"ok"');
    const ahead = openSocket(server.port); // as a browser does that may want to ask something soon
    await once(ahead.socket, 'connect');
    const stream = openSocket(server.port);
    stream.socket.write(`GET /feed HTTP/1.1\r\n${host}\r\n\r\n`);
    await stream.until('retry: 2000');
    const headers = { ...ann, 'Content-Type': 'application/json' };
    const slow = request(`${server.url}/v1/books`, {
      method: 'POST',
      headers,
      agent: new Agent({ keepAlive: true }),
    });
    slow.end('{"title":"A"}');
    await adding;

    stop.abort();
    expect(await stream.closed).toContain('data: {"reason":"stopping"}');
    await idle.closed;
    await ahead.closed;
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
    release();
    const [answer] = await once(slow, 'response');
    expect([answer.statusCode, answer.headers.connection]).toEqual([201, 'close']);
    answer.resume();
    await server.closed;
    expect(shelf.clock.sleepers()).toBe(0);
  });

  it('fails its readiness first and keeps serving until proxies have noticed', async () => {
    const shelf = openShelf();
    const server = await serve(shelf, { lameDuckMs: 5000 });
    const get = (path: string) => fetch(`${server.url}${path}`, { headers: ann });
    const kept = openSocket(server.port);
    kept.socket.write(`GET /healthz HTTP/1.1\r\n${host}\r\n\r\n`);
    await kept.until('"ok"');
    const closing = server.close();
    const readiness = await get('/readyz');
    expect([readiness.status, await readiness.json()]).toEqual([503, { status: 'stopping', checks: {} }]);
    // New connections are answered, and end with their answer; so do those that were there.
    const answer = await get('/v1/books');
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    kept.socket.write(`GET /healthz HTTP/1.1\r\n${host}\r\n\r\n`);
    expect((await kept.closed).match(/HTTP\/1.1 200/g)).toHaveLength(2);
    await shelf.clock.advance(5000);
    await closing;
    await expect(get('/healthz')).rejects.toThrow();
  });

  it('disconnects when its time is over', async () => {
    let isAdding = () => {};
    const adding = new Promise<void>(resolve => {
      isAdding = resolve;
    });
    const shelf = openShelf({
      onAdd: () => {
        isAdding();
        return new Promise(() => {});
      },
    });
    const server = await serve(shelf, { drainMs: 1000 });
    const answer = fetch(`${server.url}/v1/books`, {
      method: 'POST',
      headers: { ...ann, 'Content-Type': 'application/json' },
      body: '{"title":"A"}',
    }).catch(() => 'hung up');
    await adding;
    const closed = server.close();
    await shelf.clock.advance(1000);
    expect(await answer).toBe('hung up');
    await closed;
  });

  it('reports why it cannot listen', async () => {
    const shelf = openShelf();
    const { port } = await serve(shelf);
    await expect(serve(openShelf(), { port })).rejects.toThrow('EADDRINUSE');
  });
});
