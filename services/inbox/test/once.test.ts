import { createLogger } from '@stak/kit';
import { toLambda } from '@stak/streams';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordReader, type StreamRecords } from './oracle/backend.ts';
import { createTestServer, hello, main, type TestServer } from './test-server.ts';

// Counts and positions, when pages of the stream are repeated and writers overtake each other.

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
});
afterEach(() => server.close());

async function handle(name: string, records: StreamRecords): Promise<void> {
  const subscription = server.inbox.subscriptions.find(one => one.name === name)!;
  const log = createLogger({ level: 'silent' });
  const { batchItemFailures } = await toLambda(subscription, { log })({ Records: records });
  expect(batchItemFailures).toEqual([]);
}

// Holds the next transaction of the store back that names `part`, while others overtake it.
function holdNext(part = '') {
  const { transactWrite } = server.engine.client;
  let held = () => {};
  let resume = () => {};
  const isHeld = new Promise<void>(resolve => {
    held = resolve;
  });
  const resumed = new Promise<void>(resolve => {
    resume = resolve;
  });
  let isFirst = true;
  Object.assign(server.engine.client, {
    transactWrite: async (input: never) => {
      if (isFirst && JSON.stringify(input).includes(part)) {
        isFirst = false;
        held();
        await resumed;
      }
      return transactWrite(input);
    },
  });
  return { isHeld, resume: () => resume() };
}

const readOf = async (id: string) =>
  ((await server.ask('GET', `main/sends/${id}`)).body as unknown as { read: number }).read;
const totalOf = async (uid: string) =>
  ((await server.ask('GET', `main/users/${uid}/counts`)).body as unknown as { total: number }).total;
const publish = async (send: object = {}) =>
  (await server.ask('POST', 'main/broadcasts', { send: { ...hello, ...send } })).body.id;
const mark = (uid: string, id: string, how: string, method = 'PUT') =>
  server.ask(method, `main/users/${uid}/messages/${id}/${how}`);

describe('the readers of a message', () => {
  it('count once each, however often pages are repeated and messages are marked', async () => {
    const { id: own } = (
      await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1', 'u2'] } })
    ).body;
    const toAll = await publish();
    const next = recordReader(server.engine);
    for (const uid of ['u1', 'u2'])
      for (const id of [own, toAll]) {
        await mark(uid, id, 'read');
        await mark(uid, id, 'archive');
      }
    const first = await next();
    await mark('u1', own, 'read', 'DELETE');
    await mark('u2', toAll, 'read', 'DELETE');
    const second = await next();
    for (const page of [first, first, second, first.slice(3), second, [...first, ...second]])
      await handle('inbox-reads', page);
    expect([await readOf(own), await readOf(toAll)]).toEqual([1, 1]);
  });
});

it('a mark of all messages that is written down spares what is marked meanwhile', async () => {
  const { id } = (await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'] } })).body;
  const next = recordReader(server.engine);
  await server.ask('POST', 'main/users/u1/read', { send: {} });
  const page = await next();
  const { isHeld, resume } = holdNext('"touched"');
  const writing = handle('inbox-reads', page);
  await isHeld;
  await mark('u1', id, 'read', 'DELETE');
  resume();
  await writing;
  expect((await server.ask('GET', 'main/users/u1/messages')).body.data).toMatchObject([{ id, read: false }]);
  expect((await server.ask('GET', 'main/users/u1/counts')).body).toMatchObject({ total: 1, unread: 1 });
});

describe('a message to everyone', () => {
  it('is not lost if it is published while the messages are counted again', async () => {
    await server.ask('PUT', 'main/users/u1');
    await publish({ ttl: '1h' });
    await publish();
    const next = recordReader(server.engine);
    await server.clock.advance(2 * 60 * 60_000);
    await server.engine.sweep();
    const swept = await next();
    const { isHeld, resume } = holdNext();
    const counting = handle('inbox-expiries', swept);
    await isHeld;
    await publish();
    resume();
    await counting;
    await publish();
    expect(await totalOf('u1')).toBe(3);
  });

  it('is not for those who join while it is published, if the inbox hides earlier ones', async () => {
    await server.ask('PUT', 'main', { send: { ...main, late_joiners: 'none' } });
    await publish();
    const { isHeld, resume } = holdNext();
    const joining = server.ask('PUT', 'main/users/u9');
    await isHeld;
    await publish();
    resume();
    const { status } = await joining;
    expect(status).toBeLessThan(300);
    expect(await totalOf('u9')).toBe(0);
    await publish();
    expect(await totalOf('u9')).toBe(1);
  });
});
