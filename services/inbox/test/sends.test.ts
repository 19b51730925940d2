import { manualOwners } from '@stak/kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bucketOf } from '../src/inbox-id.ts';
import { createInbox } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { requestKey } from '../src/tables.ts';
import { startConsumers } from './consumers.ts';
import { createTestServer, fill, hello, main, storedOf, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
});
afterEach(() => server.close());

const many = (count: number) => Array.from({ length: count }, (_, i) => `u${i}`);
const totalOf = async (uid: string) =>
  ((await server.ask('GET', `main/users/${uid}/counts`)).body as unknown as { total: number }).total;
const sendOf = async (id: string) => (await server.ask('GET', `main/sends/${id}`)).body;
const nowS = () => Math.floor(server.clock.now() / 1000);

describe('a long list of recipients', () => {
  it('is stored at once and delivered by the worker, to each of them once', async () => {
    const { status, body } = await server.ask('POST', 'main/messages', {
      send: { ...hello, uids: many(60) },
    });
    expect([status, body.status]).toEqual([202, 'delivering']);
    await Promise.all([server.inbox.operations.runDue(), server.inbox.operations.runDue()]);
    expect(await sendOf(body.id)).toMatchObject({ status: 'sent', recipients: 60, delivered: 60 });
    for (const uid of many(60)) expect(await totalOf(uid)).toBe(1);
    expect(await totalOf('u60')).toBe(0);
  });

  it('is continued by another worker when the first one’s lease ends', async () => {
    const { body } = await server.ask('POST', 'main/messages', { send: { ...hello, uids: many(40) } });
    const { transactWrite } = server.engine.client;
    let left = 1;
    const dying = async (input: never) => {
      if (left-- === 0) throw new Error('killed');
      return transactWrite(input);
    };
    Object.assign(server.engine.client, { transactWrite: dying });
    await server.inbox.operations.runDue();
    Object.assign(server.engine.client, { transactWrite });
    expect(await sendOf(body.id)).toMatchObject({ status: 'delivering', delivered: 18 });
    await server.inbox.operations.runDue();
    expect(await sendOf(body.id)).toMatchObject({ delivered: 18 });
    await server.clock.advance(limits.leaseMs);
    await server.inbox.operations.runDue();
    expect(await sendOf(body.id)).toMatchObject({ status: 'sent', delivered: 40 });
    for (const uid of many(40)) expect(await totalOf(uid)).toBe(1);
  });

  it('is resumed at once by another process if its process has died', async () => {
    const owners = manualOwners();
    await server.close();
    server = await createTestServer({ owners: owners.as('victim') });
    await server.ask('PUT', 'main', { send: main });
    const { body } = await server.ask('POST', 'main/messages', { send: { ...hello, uids: many(40) } });
    const { transactWrite } = server.engine.client;
    let left = 1;
    const dying = async (input: never) => {
      if (left-- === 0) throw new Error('killed');
      return transactWrite(input);
    };
    Object.assign(server.engine.client, { transactWrite: dying });
    await server.inbox.operations.runDue();
    Object.assign(server.engine.client, { transactWrite });
    const stopping = new AbortController();
    const [worker] = createInbox({ ...server.deps, owners: owners.as('heir') }).workers;
    const running = worker!.run(stopping.signal);
    await expect.poll(() => server.clock.sleepers()).toBe(1);
    expect(await sendOf(body.id)).toMatchObject({ status: 'delivering', delivered: 18 });
    owners.end('victim');
    await expect.poll(() => sendOf(body.id)).toMatchObject({ status: 'sent', delivered: 40 });
    stopping.abort();
    await running;
  });

  it('disappears for everyone at once when it is redacted, before its copies are removed', async () => {
    const { body } = await server.ask('POST', 'main/messages', { send: { ...hello, uids: many(50) } });
    await server.inbox.operations.runDue();
    await server.ask('PUT', `main/users/u7/messages/${body.id}/read`);
    expect((await server.ask('DELETE', `main/messages/${body.id}`)).status).toBe(204);
    expect(await totalOf('u7')).toBe(0);
    expect((await server.ask('GET', 'main/users/u8/messages')).body.data).toEqual([]);
    expect(await sendOf(body.id)).toMatchObject({ status: 'redacting', title: null });
    await server.inbox.operations.runDue();
    expect(await sendOf(body.id)).toMatchObject({ status: 'redacted' });
    for (const uid of many(50)) expect(await totalOf(uid)).toBe(0);
    expect((await server.ask('DELETE', `main/messages/${body.id}`)).status).toBe(204);
  });

  it('can be redacted while it is being delivered', async () => {
    const { body } = await server.ask('POST', 'main/messages', { send: { ...hello, uids: many(40) } });
    await server.ask('DELETE', `main/messages/${body.id}`);
    await server.inbox.operations.runDue();
    expect(await sendOf(body.id)).toMatchObject({ status: 'redacted', delivered: 0 });
    expect(await totalOf('u3')).toBe(0);
  });
});

describe('scheduled messages', () => {
  it('are sent when they are due, and listed at their due time', async () => {
    const send_at = nowS() + 60;
    const later = await server.ask('POST', 'main/broadcasts', { send: { ...hello, send_at, ttl: '100s' } });
    const users = await server.ask('POST', 'main/messages', { send: { ...hello, send_at, uids: ['u1'] } });
    expect([later.status, users.body.status]).toEqual([202, 'scheduled']);
    expect((await server.ask('GET', 'main/scheduled')).body.data).toHaveLength(2);
    await server.inbox.operations.runDue();
    expect(await totalOf('u1')).toBe(0);
    await server.clock.advance(60_000);
    await server.inbox.operations.runDue();
    expect(await totalOf('u1')).toBe(2);
    expect((await server.ask('GET', 'main/scheduled')).body.data).toEqual([]);
    await server.clock.advance(99_999);
    expect(await totalOf('u1')).toBe(2);
    await server.clock.advance(1);
    expect(await totalOf('u1')).toBe(1);
  });

  it('are sent by the worker at their second, with few polls while nothing is due', async () => {
    const stopping = new AbortController();
    const running = server.inbox.workers[0]!.run(stopping.signal);
    await expect.poll(() => server.clock.sleepers()).toBe(1);
    const before = server.ledger.entries().find(({ pattern }) => pattern === 'due sends')!.calls;
    for (let second = 0; second < 20; second++) await server.clock.advance(1000);
    const after = server.ledger.entries().find(({ pattern }) => pattern === 'due sends')!.calls;
    expect(after - before).toBeLessThanOrEqual(limits.dueShards * 5); // a look every five seconds
    const send = { ...hello, uids: ['u1'], send_at: nowS() + 3 };
    await server.ask('POST', 'main/messages', { send });
    await expect.poll(() => server.clock.sleepers()).toBe(1);
    await server.clock.advance(2_900);
    expect(await totalOf('u1')).toBe(0);
    await server.clock.advance(100);
    await expect.poll(() => totalOf('u1')).toBe(1);
    stopping.abort();
    await running;
  });

  it('leave the counts when they expire', async () => {
    await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'], ttl: '10s' } });
    await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'], ttl: '20s' } });
    expect(await totalOf('u1')).toBe(2);
    await server.clock.advance(10_000);
    expect(await totalOf('u1')).toBe(1);
    await server.clock.advance(10_000);
    expect(await totalOf('u1')).toBe(0);
  });

  it('can be cancelled until they are sent', async () => {
    const send = { ...hello, uids: ['u1'], send_at: nowS() + 5 };
    const { id } = (await server.ask('POST', 'main/messages', { send })).body;
    expect((await server.ask('DELETE', `main/scheduled/${id}`)).status).toBe(204);
    await server.clock.advance(10_000);
    await server.inbox.operations.runDue();
    expect(await totalOf('u1')).toBe(0);
    const sent = (await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'] } })).body;
    expect((await server.ask('DELETE', `main/scheduled/${sent.id}`)).body.code).toBe('inbox.already_sent');
  });

  it.each(['scheduled', 'messages'])('release their host id when they are cancelled by %s', async list => {
    const send = { ...hello, uids: ['u1'], host_system_id: 'H-1', send_at: nowS() + 60 };
    const { id } = (await server.ask('POST', 'main/messages', { send })).body;
    expect((await server.ask('DELETE', `main/${list}/${id}`)).status).toBe(204);
    const again = (await server.ask('POST', 'main/messages', { send })).body;
    expect(again).toMatchObject({ status: 'scheduled' });
    expect((await server.ask('DELETE', `main/${list}/${id}`)).status).toBe(204); // it is the other one's now
    await server.clock.advance(60_000);
    await server.inbox.operations.runDue();
    expect(await totalOf('u1')).toBe(1);
    const other = { ...send, send_at: undefined, label: 'another' };
    expect((await server.ask('POST', 'main/messages', { send: other })).status).toBe(409);
  });
});

describe('the counts of a send', () => {
  it('follow what recipients do, one by one or all at once', async () => {
    const consumers = startConsumers(server);
    const uids = ['u1', 'u2', 'u3'];
    const own = (await server.ask('POST', 'main/messages', { send: { ...hello, uids } })).body.id;
    const toEveryone = (await server.ask('POST', 'main/broadcasts', { send: hello })).body.id;
    await server.ask('PUT', `main/users/u1/messages/${own}/read`);
    await server.ask('POST', 'main/users/u2/read', { send: {} });
    await server.ask('PUT', `main/users/u3/messages/${toEveryone}/read`);
    await server.ask('DELETE', `main/users/u1/messages/${own}/read`);
    const isAs = async (id: string, read: number) =>
      ((await sendOf(id)) as unknown as { read: number }).read === read;
    await consumers.until(async () => (await isAs(own, 1)) && (await isAs(toEveryone, 2)));
    await consumers.stop();
    const { data } = (await server.ask('GET', 'main/sends?limit=10')).body;
    expect(data).toMatchObject([
      { id: toEveryone, recipients: null, delivered: 3, read: 2, read_rate: 2 / 3 },
      { id: own, recipients: 3, delivered: 3, read: 1, read_rate: 1 / 3 },
    ]);
  });
});

it('count the readers of a message page by page', async () => {
  const uids = many(40);
  for (const uid of uids) await server.ask('PUT', `main/users/${uid}`);
  const { id } = (await server.ask('POST', 'main/broadcasts', { send: hello })).body;
  for (const uid of uids) await server.ask('PUT', `main/users/${uid}/messages/${id}/read`);
  for (const uid of uids.slice(0, 5)) await server.ask('DELETE', `main/users/${uid}/messages/${id}/read`);
  const consumers = startConsumers(server);
  await consumers.until(async () => (await sendOf(id)).read === (35 as never));
  await consumers.stop();
  const written = server.ledger.entries().find(({ pattern }) => pattern === 'inbox-reads, once per event');
  expect(written!.calls).toBeLessThan(10);
});

it('write a mark of all messages only to those that it changes', async () => {
  const publish = () => server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'] } });
  const written = () => server.ledger.entries().find(({ pattern }) => pattern === 'write a range')?.calls;
  const readOf = async (id: string) => (await sendOf(id)).read as unknown as number;
  const consumers = startConsumers(server);
  for (let n = 1; n < 50; n++) await publish();
  for (const count of [50, 51, 52]) {
    const { id } = (await publish()).body;
    await server.ask('POST', 'main/users/u1/read', { send: {} });
    await consumers.until(async () => (await readOf(id)) === 1);
    expect(written()).toBe(count);
  }
  await consumers.stop();
});

describe('the sends of an inbox', () => {
  const publish = (send: object, key?: string) =>
    server.ask('POST', 'main/messages', {
      send: { ...hello, uids: ['u1'], ...send },
      ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
    });
  const listAll = async (path: string, limit: number) => {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await server.ask('GET', `main/${path}?limit=${limit}${after}`);
      expect(body.data.length).toBeLessThanOrEqual(limit);
      found.push(...body.data.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    return found;
  };
  const inbox = { tenant_key: 'acme', inbox_key: 'main' };
  // By a process that knows nothing of earlier requests.
  const request = async (key: string, id: string, isRepeated: boolean) => {
    const draft = { ...hello, uids: ['u1'] };
    const { operations } = createInbox(server.deps);
    const origin = { sender: 'usr_ann', request: { key, id, isRepeated } };
    return (await operations.publish(inbox, draft, origin)).send.id;
  };
  // As earlier versions wrote down, before the send, which one a request makes.
  const noteRequest = (bucket: string, key: string, id: string) =>
    server.store.put(requestKey, { ...inbox, bucket, key, id, expiredat: nowS() + 2 * 86_400 });
  const sentIn = async () =>
    new Set((await storedOf(server)).filter(({ kind }) => kind === 'SR').map(({ pk }) => pk));

  it('are spread over partitions, and listed newest first, page by page', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 40; n++) ids.unshift((await publish({ host_system_id: `H-${n}` }, `k-${n}`)).body.id);
    expect((await sentIn()).size).toBeGreaterThan(8);
    expect((await sentIn()).has('t#acmeS#main')).toBe(false);
    for (const limit of [7, 40, 100]) expect(await listAll('sends', limit)).toEqual(ids);
    const send_at = nowS() + 3600;
    const { id } = (await publish({ send_at })).body;
    expect(await listAll('scheduled', 1)).toEqual([id]);
  });

  it('are created once, even if a process dies in the first attempt of a request', async () => {
    const { client } = server.engine;
    const { transactWrite } = client;
    const id = server.deps.ids.next();
    Object.assign(client, { transactWrite: () => Promise.reject(new Error('killed')) });
    await expect(request('once', id, false)).rejects.toThrow('killed');
    expect(await listAll('sends', 10)).toEqual([]);
    Object.assign(client, { transactWrite });
    expect(await Promise.all([request('once', id, true), request('once', id, true)])).toEqual([id, id]);
    expect(await request('once', id, true)).toBe(id);
    expect(await totalOf('u1')).toBe(1);
    expect(await listAll('sends', 10)).toEqual([id]);
  });

  it('have the id that an attempt of an earlier version has written down', async () => {
    const { ids } = server.deps;
    const noted = ids.next();
    await noteRequest(bucketOf(inbox, 'once'), 'once', noted);
    for (let n = 0; n < 2; n++) expect(await request('once', ids.next(), true)).toBe(noted);
    expect(await totalOf('u1')).toBe(1);
  });

  it('are found where earlier versions stored them', async () => {
    await fill(server);
    const { id } = (await publish({ host_system_id: 'H-2' })).body;
    const requested = await request('before the upgrade', server.deps.ids.next(), false);
    await noteRequest('main', 'before the upgrade', requested);
    const before = await listAll('sends', 100);
    // All of it in one partition, as it was.
    for (const { pk, sk, ...rest } of await storedOf(server)) {
      if (!String(pk).includes('S#main~')) continue;
      await server.engine.client.delete({ TableName: 'stak-inbox', Key: { pk, sk } });
      await server.engine.client.put({ TableName: 'stak-inbox', Item: { pk: 't#acmeS#main', sk, ...rest } });
    }
    expect(await sentIn()).toEqual(new Set(['t#acmeS#main']));
    expect(await listAll('sends', 3)).toEqual(before);
    expect(await sendOf(id)).toMatchObject({ id, host_system_id: 'H-2', status: 'sent' });
    expect((await publish({ host_system_id: 'H-2' })).body.id).toBe(id);
    expect(await request('before the upgrade', server.deps.ids.next(), true)).toBe(requested);
    const [scheduled] = await listAll('scheduled', 10);
    await server.clock.advance(3600_000);
    await server.inbox.operations.runDue();
    expect(await sendOf(scheduled!)).toMatchObject({ status: 'sent' });
    expect((await server.ask('DELETE', 'main/host-messages/H-2')).status).toBe(204);
    expect(await sendOf(id)).toMatchObject({ status: 'redacted' });
    const { id: next } = (await publish({ host_system_id: 'H-2' })).body;
    expect(next).not.toBe(id);
    expect(new Set(await listAll('sends', 100))).toEqual(new Set([next, ...before]));
    await server.inbox.eraser.eraseTenant('acme');
    while ((await server.inbox.eraser.eraseTenant('acme')) === 'more');
    expect(await storedOf(server)).toEqual([]);
  });
});
