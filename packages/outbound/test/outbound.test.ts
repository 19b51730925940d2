import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { manualClock } from '@stak/kit';
import { describe, expect, it } from 'vitest';
import {
  openOutbound,
  readAll,
  type Seen,
  startSecureServer,
  startServer,
  startSocketServer,
} from './destinations.ts';

// Nobody listens there any more.
async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return `http://127.0.0.1:${port}/`;
}

describe('send', () => {
  it('sends bytes and headers as given and returns the response with its address', async () => {
    let seen: Seen | undefined;
    const server = await startServer(async (request, response) => {
      seen = await readAll(request);
      response.writeHead(
        201,
        [
          ['X-Kind', 'a'],
          ['Set-Cookie', '1'],
          ['Set-Cookie', '2'],
        ].flat(),
      );
      response.end('made');
    });
    const body = Uint8Array.from([0, 255, 10, 128]);
    const result = await openOutbound().send({
      url: `${server.url}path?x=1#part`,
      method: 'POST',
      headers: [
        ['X-One', '1'],
        ['Content-Type', 'application/octet-stream'],
      ],
      body,
    });
    expect(result).toMatchObject({ ok: true, status: 201, truncated: false, address: '127.0.0.1' });
    if (!result.ok) return;
    expect(Buffer.from(result.body).toString()).toBe('made');
    expect(result.headers.filter(([name]) => name === 'set-cookie').map(([, value]) => value)).toEqual([
      '1',
      '2',
    ]);
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/path?x=1',
      headers: { 'x-one': '1', 'content-length': '4', host: `127.0.0.1:${server.port}` },
    });
    expect([...seen!.body]).toEqual([...body]);
  });

  it('follows no redirect', async () => {
    const paths: string[] = [];
    const server = await startServer((request, response) => {
      paths.push(request.url ?? '');
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await openOutbound().send({ url: server.url, method: 'POST' })).toMatchObject({
      ok: true,
      status: 302,
    });
    expect(paths).toEqual(['/']);
  });

  it('reuses connections and opens a bounded number for one origin', async () => {
    const server = await startServer();
    const outbound = openOutbound({ connectionsPerOrigin: 4 });
    const send = () => outbound.send({ url: server.url, method: 'POST', body: '{}' });
    const results = await Promise.all(Array.from({ length: 100 }, send));
    expect(results.every(result => result.ok && result.status === 200)).toBe(true);
    expect(server.connections()).toBeLessThanOrEqual(4);
  });

  it('sends uncommon methods', async () => {
    const methods: string[] = [];
    const server = await startServer(async (request, response) => {
      methods.push((await readAll(request)).method);
      response.end();
    });
    const outbound = openOutbound();
    for (const method of ['PATCH', 'PROPFIND', 'DELETE'])
      expect(await outbound.send({ url: server.url, method, body: '{}' })).toMatchObject({ ok: true });
    expect(methods).toEqual(['PATCH', 'PROPFIND', 'DELETE']);
  });

  it('uses no proxy from the environment', async () => {
    const proxy = await startServer((_, response) => response.end('proxied'));
    const server = await startServer((_, response) => response.end('direct'));
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = proxy.url;
    try {
      const result = await openOutbound().send({ url: server.url, method: 'GET' });
      expect(result.ok && Buffer.from(result.body).toString()).toBe('direct');
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
  });

  it.each(['CONNECT', 'TRACE', 'TRACK', 'post', 'GET / HTTP/1.1\r\nX: y', ''])(
    'refuses the method %j',
    async method => {
      expect(await openOutbound().send({ url: 'http://127.0.0.1:8080', method })).toMatchObject({
        ok: false,
        reason: 'invalid_request',
      });
    },
  );

  it.each([
    ['Host', 'internal'],
    ['Content-Length', '1'],
    ['transfer-encoding', 'chunked'],
    ['Proxy-Authorization', 'x'],
    ['Connection', 'upgrade'],
    ['x\r\ny', '1'],
    ['', '1'],
    ['x-bad', 'a\r\nInjected: 1'],
    ['x-nul', 'a\0'],
  ])('refuses the header %j', async (name, value) => {
    const server = await startServer();
    const result = await openOutbound().send({ url: server.url, method: 'POST', headers: [[name, value]] });
    expect(result).toMatchObject({ ok: false, reason: 'invalid_request' });
    expect(server.connections()).toBe(0);
  });
});

describe('a hostile destination', () => {
  it('that sends too much is cut off, and its status counts', async () => {
    const server = await startServer((_, response) => response.end(Buffer.alloc(10 * 1024 * 1024, 'a')));
    const result = await openOutbound({ maxResponseBytes: 1000 }).send({ url: server.url, method: 'POST' });
    expect(result).toMatchObject({ ok: true, status: 200, truncated: true });
    expect(result.ok && result.body.length).toBe(1000);
  });

  it('that sends exactly the limit is not cut off', async () => {
    const server = await startServer((_, response) => response.end(Buffer.alloc(1000)));
    const result = await openOutbound({ maxResponseBytes: 1000 }).send({ url: server.url, method: 'POST' });
    expect(result).toMatchObject({ ok: true, truncated: false });
  });

  it('that hangs times out', async () => {
    const clock = manualClock();
    const server = await startSocketServer(socket => socket.once('data', () => arrived.abort()));
    const arrived = new AbortController();
    const sent = openOutbound({ clock }).send({ url: server.url, method: 'POST', timeoutMs: 10_000 });
    await once(arrived.signal, 'abort');
    await clock.advance(10_000);
    expect(await sent).toMatchObject({
      ok: false,
      reason: 'timeout',
      latencyMs: 10_000,
      address: '127.0.0.1',
    });
    expect(clock.sleepers()).toBe(0);
  });

  it('that drips its body times out at the same deadline, with its status', async () => {
    const clock = manualClock();
    const server = await startSocketServer(socket => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\na');
        const drip = setInterval(() => socket.write('a', () => dripped.abort()), 5);
        socket.on('close', () => {
          clearInterval(drip);
          closed.abort();
        });
      });
    });
    const dripped = new AbortController();
    const closed = new AbortController();
    const sent = openOutbound({ clock }).send({ url: server.url, method: 'POST', timeoutMs: 10_000 });
    await once(dripped.signal, 'abort');
    while (clock.sleepers() > 0) await clock.advance(2_000);
    expect(await sent).toMatchObject({ ok: false, reason: 'timeout', status: 200 });
    if (!closed.signal.aborted) await once(closed.signal, 'abort');
  });

  it('that resets is a reset', async () => {
    const server = await startSocketServer(socket => socket.once('data', () => socket.resetAndDestroy()));
    const result = await openOutbound().send({ url: server.url, method: 'POST' });
    expect(result).toMatchObject({ ok: false, reason: 'reset' });
  });

  it('that stops in the middle of its body is a reset with a status', async () => {
    const server = await startSocketServer(socket =>
      socket.once('data', () => socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 50\r\n\r\nhalf')),
    );
    const result = await openOutbound().send({ url: server.url, method: 'POST' });
    expect(result).toMatchObject({ ok: false, reason: 'reset', status: 202 });
  });

  it.each([
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['has endless headers', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(64 * 1024)}\r\n\r\n`],
    ['has conflicting lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nhello'],
  ])('whose answer %s is an invalid response', async (_, text) => {
    const server = await startSocketServer(socket => socket.once('data', () => socket.write(text)));
    const result = await openOutbound().send({ url: server.url, method: 'POST' });
    expect(result).toMatchObject({ ok: false, reason: 'invalid_response' });
  });

  it('that sends interim answers is judged by the last one', async () => {
    const server = await startSocketServer(socket =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
      ),
    );
    expect(await openOutbound().send({ url: server.url, method: 'POST' })).toMatchObject({
      ok: true,
      status: 204,
    });
  });

  it('that sends only interim responses is cut off', async () => {
    const server = await startSocketServer(socket => {
      const flood = () => {
        while (socket.writable && socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'));
      };
      socket.once('data', flood).on('drain', flood);
    });
    const result = await openOutbound({ clock: manualClock() }).send({ url: server.url, method: 'POST' });
    expect(result).toMatchObject({ ok: false, reason: 'invalid_response' });
  });

  it('that refuses connections fails to connect', async () => {
    const result = await openOutbound().send({ url: await closedUrl(), method: 'POST' });
    expect(result).toMatchObject({ ok: false, reason: 'connect', address: '127.0.0.1' });
  });

  it('that refuses connections also fails waiting requests', async () => {
    const outbound = openOutbound({ connectionsPerOrigin: 2, clock: manualClock() });
    const url = await closedUrl();
    const send = () => outbound.send({ url, method: 'POST' });
    for (const result of await Promise.all(Array.from({ length: 20 }, send)))
      expect(result).toMatchObject({ ok: false, reason: 'connect' });
  });

  it('does not delay another one', async () => {
    const hung = await startSocketServer(() => {});
    const quick = await startServer();
    const outbound = openOutbound({ clock: manualClock() });
    const stuck = Array.from({ length: 200 }, () => outbound.send({ url: hung.url, method: 'POST' }));
    expect(await outbound.send({ url: quick.url, method: 'POST' })).toMatchObject({ ok: true, status: 200 });
    await outbound.close();
    for (const result of await Promise.all(stuck))
      expect(result).toMatchObject({ ok: false, reason: 'closed' });
  });
});

describe('requests to one origin', () => {
  // Customers share destinations, and a deadline includes the wait for a connection.
  it('do not wait for each other', async () => {
    const server = await startServer((request, response) => {
      if (request.url === '/quick') response.end();
    });
    const outbound = openOutbound({ clock: manualClock() });
    const stuck = Array.from({ length: 200 }, () => outbound.send({ url: server.url, method: 'POST' }));
    const quick = await outbound.send({ url: `${server.url}quick`, method: 'POST' });
    expect(quick).toMatchObject({ ok: true, status: 200 });
    await outbound.close();
    for (const result of await Promise.all(stuck)) expect(result).toMatchObject({ reason: 'closed' });
  });
});

describe('the caller', () => {
  it('may abort, before and during', async () => {
    const arrived = new AbortController();
    const server = await startSocketServer(socket => socket.once('data', () => arrived.abort()));
    const outbound = openOutbound();
    const stop = new AbortController();
    const sent = outbound.send({ url: server.url, method: 'POST', signal: stop.signal });
    await once(arrived.signal, 'abort');
    stop.abort();
    expect(await sent).toMatchObject({ ok: false, reason: 'aborted' });
    const late = await outbound.send({ url: server.url, method: 'POST', signal: stop.signal });
    expect(late).toMatchObject({ ok: false, reason: 'aborted' });
  });

  it('whose deadline passes while waiting for a connection sends nothing', async () => {
    const clock = manualClock();
    const bodies: string[] = [];
    let release = () => {};
    const first = new AbortController();
    const server = await startServer(async (request, response) => {
      bodies.push((await readAll(request)).body.toString());
      release = () => response.end();
      first.abort();
    });
    const outbound = openOutbound({ clock, connectionsPerOrigin: 1 });
    const send = (body: string, timeoutMs: number) =>
      outbound.send({ url: server.url, method: 'POST', body, timeoutMs });
    const slow = send('first', 10_000);
    const queued = send('second', 1_000);
    await once(first.signal, 'abort');
    await clock.advance(1_000);
    expect(await queued).toMatchObject({ ok: false, reason: 'timeout' });
    release();
    expect(await slow).toMatchObject({ ok: true });
    const third = send('third', 10_000);
    while (bodies.length < 2) await new Promise(setImmediate);
    release();
    await third;
    expect(bodies).toEqual(['first', 'third']);
  });

  it('learns whether a request that failed may have arrived', async () => {
    const arrived = new AbortController();
    const server = await startServer((request, response) => {
      if (request.url === '/reset') response.destroy();
      else arrived.abort();
    });
    const outbound = openOutbound({ connectionsPerOrigin: 1 });
    const send = (url: string) => outbound.send({ url, method: 'POST' });
    expect(await send(`${server.url}reset`)).toMatchObject({ reason: 'reset', isSent: true });
    const refused = await send(await closedUrl());
    const held = send(server.url);
    await once(arrived.signal, 'abort');
    const queued = send(server.url);
    await outbound.close();
    expect(await held).toMatchObject({ reason: 'closed', isSent: true });
    for (const result of [refused, await queued, await send(server.url)])
      expect(result).not.toHaveProperty('isSent');
  });

  it('gets an error when too much is in flight', async () => {
    const server = await startSocketServer(() => {});
    const outbound = openOutbound({ requestsInFlight: 1, clock: manualClock() });
    const held = outbound.send({ url: server.url, method: 'POST' });
    expect(await outbound.send({ url: server.url, method: 'POST' })).toMatchObject({
      ok: false,
      reason: 'busy',
    });
    await outbound.close();
    expect(await held).toMatchObject({ reason: 'closed' });
    expect(await outbound.send({ url: server.url, method: 'POST' })).toMatchObject({ reason: 'closed' });
  });
});

describe('TLS', () => {
  const resolver = async () => ['127.0.0.1'];

  it('verifies the certificate by name, not by address', async () => {
    const { certificate } = await import('./certificate.ts');
    const server = await startSecureServer();
    const outbound = openOutbound({ resolver, ca: certificate });
    const send = (host: string) => outbound.send({ url: `https://${host}:${server.port}/`, method: 'POST' });
    expect(await send('hooks.example.com')).toMatchObject({ ok: true, status: 200, address: '127.0.0.1' });
    expect(await send('hooks.example.com.')).toMatchObject({ ok: true, status: 200 });
    expect(await send('other.example.com')).toMatchObject({ ok: false, reason: 'tls' });
    expect(await send('127.0.0.1')).toMatchObject({ ok: false, reason: 'tls' });
  });

  it('trusts no unknown certificate, and is not used with a plain server', async () => {
    const secure = await startSecureServer();
    const plain = await startServer();
    const outbound = openOutbound({ resolver });
    for (const { port } of [secure, plain]) {
      const result = await outbound.send({ url: `https://hooks.example.com:${port}/`, method: 'POST' });
      expect(result).toMatchObject({ ok: false, reason: 'tls' });
    }
  });
});
