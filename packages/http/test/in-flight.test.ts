import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../src/index.ts';
import { createInFlight } from '../src/input/in-flight.ts';
import { exchange, openSocket, serve } from './loopback.ts';
import { openShelf } from './shelf-service.ts';

const codeOf = (act: () => void): string => {
  try {
    act();
    return 'taken';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

// A body of an address that is being sent, with what it was told when it had to give way.
function send(inFlight: ReturnType<typeof createInFlight>, address: string, bytes = 0) {
  const flight = inFlight.enter(address);
  const cuts: Error[] = [];
  flight.reading(error => void cuts.push(error));
  if (bytes > 0) flight.take(bytes);
  return { flight, cuts };
}

describe('the memory of bodies', () => {
  it('is limited for one address, and released', () => {
    const inFlight = createInFlight({ bodyBytes: 1000 });
    const { flight } = send(inFlight, 'a', 400);
    const { flight: other } = send(inFlight, 'a', 100);
    expect(codeOf(() => other.take(1))).toBe('http.rate_limited');
    expect(codeOf(() => send(inFlight, 'b', 500))).toBe('taken');
    expect(inFlight.usage()).toMatchObject({ bodyBytes: 1000, requests: 3 });
    flight.complete();
    flight.leave();
    flight.leave();
    expect(inFlight.usage()).toMatchObject({ bodyBytes: 600, requests: 2 });
    other.take(1);
  });

  it('is taken from the address that holds most when another one needs some', () => {
    const inFlight = createInFlight({ bodyBytes: 1000 });
    const small = send(inFlight, 'hog', 200);
    const large = send(inFlight, 'hog', 300);
    const second = send(inFlight, 'second', 450);
    const added = send(inFlight, 'newcomer', 100);
    expect([small, large, second, added].map(({ cuts }) => cuts.length)).toEqual([0, 1, 0, 0]);
    expect(large.cuts[0]).toMatchObject({ code: 'http.unavailable', details: { retryAfterS: 1 } });
    expect(inFlight.usage().bodyBytes).toBe(750);
    large.flight.leave();
    expect(inFlight.usage().bodyBytes).toBe(750);
  });

  it('is not taken from complete bodies, nor given to the address that holds most', () => {
    const inFlight = createInFlight({ bodyBytes: 1000 });
    const done = send(inFlight, 'a', 500);
    done.flight.complete();
    send(inFlight, 'b', 400);
    const { flight, cuts } = send(inFlight, 'b', 100);
    expect(codeOf(() => send(inFlight, 'c', 600))).toBe('http.rate_limited');
    expect(codeOf(() => flight.take(1))).toBe('http.rate_limited');
    expect([done.cuts.length, cuts.length]).toEqual([0, 0]);
    send(inFlight, 'c', 100); // of b, which is still sending
    expect(done.cuts).toEqual([]);
  });

  it('does not depend on how many addresses there were', () => {
    const inFlight = createInFlight();
    for (let i = 0; i < 200_000; i++) inFlight.enter(`2001:db8:${i}::/64`).leave();
    expect(inFlight.usage()).toMatchObject({ requests: 0, bodyBytes: 0 });
    expect(inFlight.usage().addresses).toBeLessThanOrEqual(10_000);
  });

  it('counts the bytes, however small the chunks they arrive in', async () => {
    const { call, api } = openShelf();
    const text = `{"title":"${'é'.repeat(99)}"}${' '.repeat(50_000)}`;
    const bytes = new TextEncoder().encode(text);
    let most = 0;
    let at = 0;
    const body = new ReadableStream({
      pull(controller) {
        most = Math.max(most, api.inFlight.usage().bodyBytes);
        if (at === bytes.length) controller.close();
        else controller.enqueue(bytes.subarray(at, ++at));
      },
    });
    const headers = { 'Content-Type': 'application/json' };
    const response = await call('/v1/books', { method: 'POST', as: 'ann', headers, body, duplex: 'half' });
    expect([response.status, ((await response.json()) as { title: string }).title]).toEqual([
      201,
      'é'.repeat(99),
    ]);
    expect(most).toBeLessThanOrEqual(2 * bytes.length);
    expect(api.inFlight.usage()).toMatchObject({ requests: 0, bodyBytes: 0 });
  });
});

describe('over the wire', () => {
  const head = (length: number) =>
    `POST /hooks/a HTTP/1.1\r\nHost: localhost\r\nX-Signature: signed\r\nContent-Length: ${length}\r\n\r\n`;
  const bodyOf = (text: string) => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Problem;

  it('half-sent bodies have a memory limit, and time out', async () => {
    const shelf = openShelf({ inFlight: { bodyBytes: 100_000 } });
    const { port } = await serve(shelf);
    const usage = () => shelf.api.inFlight.usage();
    const sockets = Array.from({ length: 200 }, () => openSocket(port));
    for (const { socket } of sockets) socket.write(`${head(1000)}${'x'.repeat(900)}`);
    // 55 of them fit into the half that one address may have. The others hear so.
    const refused: string[] = [];
    for (const { closed } of sockets) closed.then(text => void refused.push(text));
    await expect.poll(() => refused.length).toBe(145);
    expect(bodyOf(refused[0]!)).toMatchObject({ status: 429, code: 'http.rate_limited' });
    expect(refused[0]).toMatch(/^retry-after: 1\r$/im);
    expect(usage()).toMatchObject({ requests: 55, bodyBytes: 55 * 900 });
    await shelf.clock.advance(15_000);
    const answers = await Promise.all(sockets.map(({ closed }) => closed));
    const codes = answers.map(answer => bodyOf(answer).code);
    expect(codes.filter(code => code === 'http.body_too_slow')).toHaveLength(55);
    expect(codes.filter(code => code === 'http.rate_limited')).toHaveLength(145);
    expect(usage()).toMatchObject({ requests: 0, bodyBytes: 0 });
  });

  it('bodies of handlers beside the routes count as well', async () => {
    const shelf = openShelf({ inFlight: { bodyBytes: 10_000 } });
    const { mount, withBody, inFlight } = shelf.api;
    mount({ method: 'post', path: '/beside', unguarded: 'a test' }, c =>
      withBody(c, 1000, body => c.text(`${body.length} bytes`)),
    );
    const { port } = await serve(shelf);
    const post = (length: number, body: string) => {
      const { socket, until } = openSocket(port);
      socket.write(`POST /beside HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${body}`);
      return { socket, until };
    };
    expect(await post(3000, '').until('}')).toMatch(/^HTTP\/1.1 413 /);
    const halves = Array.from({ length: 5 }, () => post(1000, 'x'.repeat(999)));
    await expect.poll(() => inFlight.usage().bodyBytes).toBe(5 * 999);
    expect(await post(1000, 'x'.repeat(999)).until('}')).toMatch(/^HTTP\/1.1 429 /);
    for (const { socket } of halves) socket.write('x');
    for (const { until } of halves) await until('1000 bytes');
    expect(inFlight.usage()).toMatchObject({ requests: 0, bodyBytes: 0 });
  });

  it('one address has a limit of connections, and probes are still answered', async () => {
    const { port } = await serve(openShelf(), { connectionsPerAddress: 2 });
    const [first] = [openSocket(port), openSocket(port)];
    for (const { socket } of [first]) await new Promise(resolve => socket.once('connect', resolve));
    const refused = await openSocket(port).closed;
    expect(refused).toMatch(/^HTTP\/1.1 429 /);
    expect(refused).toMatch(/^retry-after: 1\r$/im);
    expect(bodyOf(refused)).toMatchObject({ code: 'http.rate_limited' });
    first.socket.destroy();
    await first.closed;
    const retried = () => exchange(port, 'GET /healthz HTTP/1.1', 'Host: localhost', 'Connection: close');
    await expect.poll(retried).toMatch(/^HTTP\/1.1 200 /);
  });

  it('a few addresses cannot keep others out by connections that they do not use', async () => {
    const { port } = await serve(openShelf(), { connections: 20, connectionsPerAddress: 10 });
    const idle = ['127.0.0.2', '127.0.0.3'].flatMap(localAddress =>
      Array.from({ length: 9 }, () => connect({ port, host: '127.0.0.1', localAddress })),
    );
    const half = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.3' });
    half.write(head(10));
    for (const socket of [...idle, half]) socket.on('error', () => {});
    await Promise.all([...idle, half].map(socket => once(socket, 'connect')));
    for (let i = 0; i < 40; i++) {
      const answer = await exchange(port, 'GET /healthz HTTP/1.1', 'Host: localhost', 'Connection: close');
      expect(answer, `request ${i}`).toMatch(/^HTTP\/1.1 200 /);
      const more = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }).on('error', () => {});
      await new Promise(resolve => more.once('connect', resolve));
      idle.push(more);
    }
    for (const socket of [...idle, half]) socket.destroy();
  });

  it('one address has a limit of requests in flight, by the address that a proxy passes on', async () => {
    const shelf = openShelf({ inFlight: { requestsPerAddress: 1 }, trustedProxyHops: 1 });
    const { port } = await serve(shelf);
    const half = (address: string) => {
      const opened = openSocket(port);
      opened.socket.write(head(10).replace('\r\n\r\n', `\r\nX-Forwarded-For: ${address}\r\n\r\n`));
      return opened;
    };
    half('192.0.2.1');
    await expect.poll(() => shelf.api.inFlight.usage().requests).toBe(1);
    expect(bodyOf(await half('6.6.6.6, 192.0.2.1').closed)).toMatchObject({ status: 429 });
    half('192.0.2.2');
    await expect.poll(() => shelf.api.inFlight.usage().requests).toBe(2);
  });
});
