import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { bytesOf, isShared } from '../src/mailbox/messages.ts';
import { readEvents, startConsumers } from './consumers.ts';
import { createTestServer, main, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
});
afterEach(() => server.close());

const many = (count: number) => Array.from({ length: count }, (_, i) => `u${i}`);
const large = { text: 'Read this. '.repeat(2000), flags: [true, null, 7] }; // 22 KB
const publish = async (uids: string[], body: unknown = large, more: object = {}) => {
  const send = { message: { title: 'Terms', body, cta_uri: 'https://a.example' }, uids, ...more };
  const answer = await server.ask('POST', 'main/messages', { send });
  await server.inbox.operations.runDue();
  return answer.body.id;
};
const stored = async (prefix: string) => {
  const { Items = [] } = await server.engine.client.scan({ TableName: 'stak-inbox' });
  return Items.filter(item => String(item.sk).startsWith(prefix));
};
const bodies = () => stored('t#');
const feedOf = async (uid: string, query = '') =>
  (await server.ask('GET', `main/users/${uid}/messages${query}`)).body;

describe('whether recipients share a body', () => {
  it.each([
    [limits.ownBodyBytes, 10_000, false],
    [limits.ownBodyBytes + 1, 10_000, true],
    [limits.savedBytes + 1, 2, true],
    [limits.messageBytes, 1, false],
    [4096, 16, false],
    [4096, 18, true],
  ])('%i bytes to %i users: %s', (bytes, recipients, expected) => {
    expect(isShared(bytes, recipients)).toBe(expected);
  });
});

describe('a body that recipients share', () => {
  it('is stored once, and read like any other', async () => {
    const id = await publish(many(40));
    expect(await bodies()).toHaveLength(1);
    for (const copy of await stored('m#')) expect(bytesOf(copy)).toBeLessThan(1024);
    const message = { title: 'Terms', body: large, cta_uri: 'https://a.example' };
    for (const uid of ['u0', 'u39']) expect((await feedOf(uid)).data).toMatchObject([{ id, message }]);
    expect((await server.ask('GET', `main/users/u7/messages/${id}`)).body.message).toEqual(message);
    expect((await server.ask('PUT', `main/users/u7/messages/${id}/read`)).body).toMatchObject({ message });
  });

  it('is not created for a small one, nor for one recipient', async () => {
    await publish(many(40), 'Short');
    await publish(['u1'], 'x'.repeat(200_000));
    expect(await bodies()).toEqual([]);
    server.ledger.clear();
    await feedOf('u1');
    expect(server.ledger.entries().map(one => one.pattern)).not.toContain('bodies of messages');
  });

  it('costs a page one read for all of them, and none if they are in memory', async () => {
    for (let i = 0; i < 5; i++) await publish(many(10), `${i}`.repeat(10_000));
    const callsOf = async (query: string) => {
      server.ledger.clear();
      expect((await feedOf('u1', query)).data).toHaveLength(5);
      return server.ledger.entries().find(one => one.pattern === 'bodies of messages')?.calls ?? 0;
    };
    expect([await callsOf('?limit=20'), await callsOf('?limit=21')]).toEqual([1, 0]);
  });

  it('shortens pages that would be too large, and loses nothing', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(await publish(['u1', 'u2'], `${i % 10}`.repeat(250_000)));
    const first = await feedOf('u1', '?limit=100');
    expect(first.data.length).toBe(16);
    const second = await feedOf('u1', `?limit=100&cursor=${first.next_cursor}`);
    expect([...first.data, ...second.data].map(one => one.id)).toEqual(ids.toReversed());
    expect(second.next_cursor).toBeNull();
  });

  it.each([
    ['some', 10],
    ['many', 40],
  ])('is removed at once when a message to %s users is redacted', async (_, count) => {
    const id = await publish(many(count));
    await feedOf('u1');
    await server.ask('DELETE', `main/messages/${id}`);
    expect(await bodies()).toEqual([]);
    expect((await feedOf('u2')).data).toEqual([]);
    expect((await server.ask('GET', `main/users/u1/messages/${id}`)).status).toBe(404);
    await server.inbox.operations.runDue();
    expect(JSON.stringify(await stored(''))).not.toContain('Read this');
  });

  it('is deleted with a cancelled send, and exists when it is sent', async () => {
    const send_at = Math.floor(server.clock.now() / 1000) + 60;
    const cancelled = await publish(many(10), large, { send_at });
    const kept = await publish(many(10), large, { send_at });
    expect(await bodies()).toHaveLength(2);
    await server.ask('DELETE', `main/scheduled/${cancelled}`);
    expect(await bodies()).toHaveLength(1);
    await server.clock.advance(60_000);
    await server.inbox.operations.runDue();
    expect((await feedOf('u9')).data).toMatchObject([{ id: kept, message: { body: large } }]);
  });

  it('leaves out a message whose body was removed between two reads', async () => {
    const id = await publish(['u1', 'u2', 'u3', 'u4', 'u5']);
    const { batchGet } = server.engine.client;
    server.engine.client.batchGet = async input => {
      server.engine.client.batchGet = batchGet;
      await server.ask('DELETE', `main/messages/${id}`);
      return batchGet(input);
    };
    expect((await feedOf('u1')).data).toEqual([]);
    expect((await server.ask('GET', 'main/users/u1/counts')).body).toMatchObject({ total: 0 });
  });

  it('expires with the copies', async () => {
    await publish(many(10), large, { ttl: '60s' });
    await server.clock.advance(61_000);
    await server.engine.sweep();
    expect([...(await bodies()), ...(await stored('m#'))]).toEqual([]);
  });

  it('is included in events', async () => {
    const consumers = startConsumers(server);
    const events = readEvents(await server.call('GET', 'main/users/u1/stream'));
    await events.next();
    const id = await publish(many(10));
    expect(await events.next()).toMatchObject({ event: 'message', data: { id, message: { body: large } } });
    await events.close();
    server.api.stop();
    await consumers.stop();
  });

  it.each([
    ['short', 10],
    ['long', 40],
  ])('is exported with a user, and erased with the last of a %s list', async (_, count) => {
    await publish(many(count));
    const exported: unknown[] = [];
    for await (const { item } of server.inbox.eraser.exportUser('acme', 'u1')) exported.push(item);
    expect(JSON.stringify(exported)).toContain(large.text);
    const erase = async (uid: string) => {
      while ((await server.inbox.eraser.eraseUser('acme', uid)) === 'more');
    };
    for (let i = 1; i < count; i += 3)
      await Promise.all(
        many(count)
          .slice(i, i + 3)
          .map(erase),
      );
    expect(await bodies()).toHaveLength(1);
    expect((await feedOf('u0')).data).toMatchObject([{ message: { body: large } }]);
    await erase('u0');
    expect(await bodies()).toEqual([]);
  });

  it('is erased with its tenant', async () => {
    await publish(many(10));
    while ((await server.inbox.eraser.eraseTenant('acme')) === 'more');
    expect(await stored('')).toEqual([]);
  });
});
