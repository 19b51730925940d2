import { setImmediate } from 'node:timers/promises';
import { createStore, type DynamoClient } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInbox, type Inbox } from '../src/index.ts';
import type { KeyedRequest } from '../src/publish/publish.ts';
import { createTestServer, hello, type TestServer } from './test-server.ts';

const inboxId = { tenant_key: 'acme', inbox_key: 'main' };
const user = { ...inboxId, uid: 'u1' };
const toUser = { ...hello, uids: ['u1'] };

let server: TestServer;
let requests: { reads: string[]; writes: number; refused: number };
beforeEach(async () => {
  server = await createTestServer();
  requests = { reads: [], writes: 0, refused: 0 };
});
afterEach(() => server.close());

// Counts what reaches the table.
function counting(client: DynamoClient): DynamoClient {
  return {
    ...client,
    get(input) {
      requests.reads.push(String(input.Key.sk));
      return client.get(input);
    },
    batchGet(input) {
      for (const { Keys = [] } of Object.values(input.RequestItems ?? {}))
        requests.reads.push(...Keys.map(key => String(key.sk)));
      return client.batchGet(input);
    },
    async transactWrite(input) {
      requests.writes += 1;
      return client.transactWrite(input).catch(error => {
        requests.refused += 1;
        throw error;
      });
    },
  };
}

// Another process on the same table. It does not wait for the test's clock after a conflict.
function openProcess(wrap: (client: DynamoClient) => DynamoClient = counting): Inbox {
  const clock = { ...server.clock, sleep: () => setImmediate() };
  const deps = { ...server.deps, clock };
  return createInbox({ ...deps, store: createStore({ ...deps, client: wrap(server.engine.client) }) });
}
const publish = (inbox: Inbox, draft: object = toUser, request?: KeyedRequest) =>
  inbox.operations.publish(inboxId, draft, { sender: 'usr_ann', ...(request && { request }) });

describe('publishing to a user again', () => {
  it('reads the settings that the message depends on, and not the state', async () => {
    await server.ask('PUT', 'main', { send: { title: 'Main', ttl: { default: '30d' } } });
    const inbox = openProcess();
    await publish(inbox);
    requests.reads = [];
    await publish(inbox);
    await publish(inbox, { ...toUser, taxonomy: { category: 'news' } });
    await publish(inbox, { ...toUser, taxonomy: { category: 'news' } });
    expect(requests.reads).toEqual(['si#main', 'si#main', 'sc#main', 'sc#main', 'si#main', 'sc#main']);
    expect(await inbox.operations.counts(user)).toMatchObject({ total: 4, unread: 4 });
  });

  it('notices what another process has written to the state', async () => {
    await server.ask('PUT', 'main', { send: { title: 'Main' } });
    const [one, other] = [openProcess(), openProcess()];
    const { send } = await publish(one);
    await publish(other);
    await other.operations.mark(user, [send.id], { kind: 'read' });
    await publish(one);
    expect(requests.refused).toBe(1);
    expect(await one.operations.counts(user)).toMatchObject({ total: 3, unread: 2 });
    expect(await other.operations.counts(user)).toMatchObject({ total: 3, unread: 2 });
  });

  it('does not take the state of a user who joined again for the one it wrote', async () => {
    await server.ask('PUT', 'main', { send: { title: 'Main' } });
    const [one, other] = [openProcess(), openProcess()];
    await publish(one);
    await publish(one);
    while ((await other.eraser.eraseUser!('acme', 'u1')) !== 'done');
    const { send } = await publish(other);
    await other.operations.mark(user, [send.id], { kind: 'read' }); // of the same version
    await publish(one);
    expect(await one.operations.counts(user)).toMatchObject({ total: 2, unread: 1 });
  });

  it('counts every message of processes that publish at the same time', async () => {
    await server.ask('PUT', 'main', { send: { title: 'Main' } });
    const processes = [openProcess(), openProcess()];
    await Promise.all(Array.from({ length: 40 }, (_, i) => publish(processes[i % 2]!)));
    expect(await processes[0]!.operations.counts(user)).toMatchObject({ total: 40, unread: 40 });
  });

  it('reads the state where several processes write it, so that few writes are refused', async () => {
    await server.ask('PUT', 'main', { send: { title: 'Main' } });
    const processes = [openProcess(), openProcess()];
    for (let i = 0; i < 400; i++) await publish(processes[i % 2]!);
    expect(requests.refused).toBeLessThan(8);
    expect(await processes[0]!.operations.counts(user)).toMatchObject({ total: 400 });
  });

  it('counts a message once whose response was lost', async () => {
    await server.ask('PUT', 'main', { send: { title: 'Main' } });
    let isLost = false;
    const inbox = openProcess(client => ({
      ...client,
      async transactWrite(input) {
        const output = await client.transactWrite(input);
        if (!isLost) return output;
        isLost = false;
        throw new Error('the connection broke');
      },
    }));
    await publish(inbox);
    isLost = true;
    const request = { key: 'k1', id: server.deps.ids.next(), isRepeated: false };
    await expect(publish(inbox, toUser, request)).rejects.toThrow('the connection broke');
    expect(await publish(inbox, toUser, { ...request, isRepeated: true })).toMatchObject({ isNew: false });
    await publish(inbox);
    expect(await inbox.operations.counts(user)).toMatchObject({ total: 3, unread: 3 });
  });
});

describe('settings that another process has just changed', () => {
  const nowS = () => server.clock.now() / 1000;
  const hour = 3600;

  it('decide about the next message: of the inbox and of the tenant', async () => {
    await server.ask('PUT', 'main', { send: { title: 'Main', ttl: { default: '2h' } } });
    const inbox = openProcess();
    const expiryOf = async (draft: object = toUser) => (await publish(inbox, draft)).send.expiredat - nowS();
    expect(await expiryOf()).toBe(2 * hour);
    await server.ask('PUT', 'main', { send: { title: 'Main', ttl: { news: '3h' } } });
    expect(await expiryOf({ ...toUser, taxonomy: { category: 'news' } })).toBe(3 * hour);
    expect(await expiryOf()).toBe(30 * 24 * hour);
    const settings = '/v1/tenants/acme/inbox-settings';
    expect((await server.ask('PUT', settings, { send: { title: 'Acme', ttl: '5h' } })).status).toBe(200);
    expect(await expiryOf()).toBe(5 * hour);
    await server.ask('PUT', 'main', { send: { title: 'Main', ttl: { default: '6h' } } });
    expect(await expiryOf()).toBe(6 * hour);
    expect(await expiryOf({ ...toUser, ttl: '7h' })).toBe(7 * hour);
  });

  it('refuse messages of a category or an inbox that was deleted', async () => {
    await server.ask('PUT', 'main', { send: { title: 'Main' } });
    const inbox = openProcess();
    const news = { ...toUser, taxonomy: { category: 'news' } };
    await publish(inbox, news);
    await server.ask('DELETE', 'main/categories/news?messages=delete');
    await expect(publish(inbox, news)).rejects.toThrow(
      expect.objectContaining({ code: 'inbox.category_being_deleted' }),
    );
    await server.ask('DELETE', 'main');
    await expect(publish(inbox)).rejects.toThrow(expect.objectContaining({ code: 'inbox.not_found' }));
  });
});
