import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAll } from '../command.ts';
import {
  type AttackedServer,
  openRaw,
  openStream,
  type Person,
  type RawConnection,
  type Stream,
  signUp,
  startAttacked,
  withBystander,
} from './attacked-server.ts';

// Connections, streams and slow senders by the thousand. Limits are those of a server without settings.

let server: AttackedServer;
let eve: Person;
beforeAll(async () => {
  server = await startAttacked();
  eve = await signUp(server.url, 'eve');
  await eve.client.tenants.create({ body: { tenant_id: 'crowd', name: 'Crowd', status: 'active' } });
}, 60_000);
afterAll(async () => {
  await server?.stop();
  killAll();
});

const inBatches = async <T>(count: number, size: number, work: (i: number) => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  for (let i = 0; i < count; i += size)
    results.push(
      ...(await Promise.all(Array.from({ length: Math.min(size, count - i) }, (_, j) => work(i + j)))),
    );
  return results;
};

test('event streams: each user has a few, an address two thousand, and others are served', async () => {
  const users = 120;
  const tokens = await inBatches(users, 20, async i => {
    const body = { sub: `user${i}`, scope: 'inbox:read tasks:read' };
    return (await eve.client.tenants.mintToken({ tenant_id: 'crowd', body })).data.token;
  });
  const before = await server.memoryMB();
  const streams: Stream[] = [];
  await withBystander(
    server.port,
    async () => {
      // 120 users with 25 each: 3,000.
      streams.push(
        ...(await inBatches(users * 25, 100, i =>
          openStream(server.port, '/v1/tasks/events', tokens[i % users]!, '127.0.0.1'),
        )),
      );
    },
    3_000,
  );
  const open = streams.filter(({ status }) => status === 200);
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200, 429]));
  expect(open.length).toBeLessThanOrEqual(2_000);
  expect(open.length).toBeGreaterThan(1_900);
  expect(((await server.memoryMB()) - before) / open.length, 'MB for a stream').toBeLessThan(0.15);

  // One caller from elsewhere still gets no more than their own.
  const ofOne = await inBatches(30, 30, () =>
    openStream(server.port, '/v1/tasks/events', tokens[0]!, '127.0.0.7'),
  );
  const hasEnough = ofOne.filter(({ status }) => status === 200).length + open.length / users;
  expect(hasEnough).toBeLessThanOrEqual(21);

  for (const one of [...streams, ...ofOne]) one.end();
  await expect
    .poll(async () => {
      const again = await openStream(server.port, '/v1/tasks/events', tokens[1]!, '127.0.0.1');
      again.end();
      return again.status;
    })
    .toBe(200);
}, 120_000);

test('nine thousand idle connections from five addresses: others are served, and they are closed', async () => {
  const idle: RawConnection[] = [];
  await withBystander(
    server.port,
    async () => {
      for (let address = 10; address < 15; address++)
        for (let batch = 0; batch < 18; batch++) {
          const opened = Array.from({ length: 100 }, () => openRaw(server.port, `127.0.0.${address}`));
          await Promise.all(opened.map(({ socket }) => once(socket, 'connect')));
          idle.push(...opened);
        }
      expect(idle).toHaveLength(9_000);
    },
    3_000,
  );
  // Nobody holds a connection without a request for longer than ten seconds.
  const answers = await Promise.all(idle.map(({ closed }) => closed));
  expect(answers.filter(text => text.startsWith('HTTP/1.1 408')).length).toBeGreaterThan(8_000);
}, 120_000);

test('the connection after two thousand of one address is refused', async () => {
  const many: RawConnection[] = [];
  for (let batch = 0; batch < 21; batch++) {
    const opened = Array.from({ length: 100 }, () => openRaw(server.port, '127.0.0.20'));
    await Promise.all(opened.map(({ socket }) => once(socket, 'connect').catch(() => {})));
    many.push(...opened);
  }
  await expect.poll(() => many.filter(one => one.text().startsWith('HTTP/1.1 429')).length).toBe(100);
  await withBystander(server.port, () => pause(200));
  for (const { socket } of many) socket.destroy();
}, 60_000);

test('senders of a byte now and then are hung up on, in headers and in bodies', async () => {
  const request = (path: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}`;
  const slow = Array.from({ length: 400 }, (_, i) => {
    const one = openRaw(server.port, '127.0.0.30');
    const isBody = i % 2 === 0;
    const path = i % 4 === 0 ? '/v1/auth/login' : '/in/src_nothing';
    one.socket.write(request(path, isBody ? 'Content-Length: 1000\r\n\r\n{' : 'X-Slow: '));
    return one;
  });
  const isOver = new AbortController();
  const dribble = (async () => {
    while (!isOver.signal.aborted) {
      for (const { socket } of slow) if (!socket.destroyed) socket.write(' ');
      await pause(250);
    }
  })();
  const beganMs = performance.now();
  await withBystander(server.port, async () => {
    const answers = await Promise.all(slow.map(({ closed }) => closed));
    for (const text of answers) expect(text).toMatch(/^HTTP\/1\.1 (404|408)/);
  });
  expect(performance.now() - beganMs).toBeLessThan(20_000);
  isOver.abort();
  await dribble;
}, 60_000);

// Two programs that disagree about where a request ends let one caller write the next one's. The answer to a request
// that can be read in two ways is an error and a closed connection, and what follows it is never served.
const hidden = 'GET /v1/hidden HTTP/1.1\r\nHost: x\r\n\r\n';
const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
const post = (...lines: string[]) =>
  ['POST /v1/auth/login HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n');

test.each([
  ['length and chunks', post('Content-Length: 4', 'Transfer-Encoding: chunked') + chunk],
  ['chunks and length', post('Transfer-Encoding: chunked', 'Content-Length: 4') + chunk],
  ['two lengths', post('Content-Length: 0', `Content-Length: ${hidden.length}`) + hidden],
  ['a list of lengths', post(`Content-Length: 0, ${hidden.length}`) + hidden],
  ['a signed length', post('Content-Length: +0') + hidden],
  ['a negative length', post('Content-Length: -1') + hidden],
  ['a length in hexadecimal', post('Content-Length: 0x0') + hidden],
  ['a space before the colon', post('Transfer-Encoding : chunked', 'Content-Length: 0') + hidden],
  ['an unknown encoding', post('Transfer-Encoding: xchunked') + hidden],
  ['chunks that are not last', post('Transfer-Encoding: chunked, identity') + hidden],
  ['a tab before chunked', post('Transfer-Encoding:\tchunked', 'Content-Length: 4') + chunk],
  ['a folded header', post('Transfer-Encoding:', ' chunked', 'Content-Length: 4') + chunk],
  ['line feeds alone', post('Content-Length: 0').replaceAll('\r\n', '\n') + hidden],
  ['a carriage return in a value', post('X-A: a\rTransfer-Encoding: chunked', 'Content-Length: 0') + hidden],
  ['a null in a name', post('Content-Len\0gth: 0') + hidden],
  ['a size of a chunk that overflows', `${post('Transfer-Encoding: chunked')}ffffffffffffffff1\r\n${hidden}`],
  ['a chunk with a bad end', `${post('Transfer-Encoding: chunked')}1\r\nxx\r\n0\r\n\r\n${hidden}`],
  ['two hosts', `GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${hidden}`],
  ['no host', `GET /healthz HTTP/1.1\r\n\r\n${hidden}`],
  ['a space in the path', `GET /healthz /v1 HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`],
  ['another version', `GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n${hidden}`],
])('refuses %s', async (_, bytes) => {
  const { socket, closed } = openRaw(server.port, '127.0.0.40');
  socket.setTimeout(5_000, () => socket.destroy());
  socket.write(bytes, 'latin1');
  const text = await closed;
  expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  expect(text.toLowerCase()).toContain('\r\nconnection: close');
});

test('a request behind another one is a request of its own, with its own caller', async () => {
  const { socket, closed } = openRaw(server.port, '127.0.0.41');
  const first = `GET /v1/whoami HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${eve.key}\r\n\r\n`;
  socket.write(`${first}GET /v1/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  const statuses = [...(await closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  expect(statuses).toEqual(['200', '401']);
});
