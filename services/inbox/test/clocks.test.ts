import { createStore } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInbox, type Inbox } from '../src/index.ts';
import { userStats } from '../src/tables.ts';
import { startConsumers } from './consumers.ts';
import { createTestServer, hello, main, type TestServer } from './test-server.ts';

const user = { tenant_key: 'acme', inbox_key: 'main', uid: 'u1' };

let server: TestServer;
let ahead: Inbox; // another process on the same table, whose clock is a second ahead
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
  const { deps, engine } = server;
  const clock = { ...server.clock, now: () => server.clock.now() + 1000 };
  ahead = createInbox({ ...deps, clock, store: createStore({ ...deps, client: engine.client, clock }) });
});
afterEach(() => server.close());

const nowS = () => server.clock.now() / 1000;
const publish = async (more: object = {}) => {
  await server.clock.advance(1000);
  return (await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'], ...more } })).body.id;
};
const counts = async () => (await server.ask('GET', 'main/users/u1/counts')).body;

// One message stays, and one has expired by the clock that is ahead, which no longer counts it.
async function expireEarly(uids = ['u1'], before: () => Promise<unknown> = async () => {}) {
  await publish();
  const expiredat = nowS() + 60;
  const id = await publish({ uids, expiredat });
  await before();
  await server.clock.advance(58_000);
  expect(await ahead.operations.counts(user)).toMatchObject({ total: 1 });
  return id;
}

async function expectCounts(expected: object) {
  for (const ms of [0, 2000]) {
    await server.clock.advance(ms);
    expect(await counts()).toMatchObject(expected);
    expect(await ahead.operations.counts(user)).toMatchObject(expected);
  }
}

describe('a message that has expired by one of two clocks', () => {
  it.each([[['u1']], [['u1', 'u2']]])(
    'is subtracted once, if it is redacted by the other (%s)',
    async uids => {
      const id = await expireEarly(uids);
      expect((await server.ask('DELETE', `main/messages/${id}`)).status).toBeLessThan(300);
      await expectCounts({ total: 1, unread: 1 });
    },
  );

  it('is not among those that a mark of all earlier ones leaves unread', async () => {
    let as_of = 0;
    const id = await expireEarly(['u1'], async () => {
      as_of = nowS() - 1;
    });
    expect((await server.ask('GET', `main/users/u1/messages/${id}`)).status).toBe(200);
    expect(await server.inbox.operations.markAll(user, { as: 'read', as_of })).toEqual({ changed: 1 });
    await expectCounts({ total: 1, unread: 0 });
  });

  it('is not among those that a mark of all later ones changes', async () => {
    let since = 0;
    await expireEarly(['u1'], async () => {
      since = nowS();
    });
    expect(await server.inbox.operations.markAll(user, { as: 'read', since })).toEqual({ changed: 0 });
    await expectCounts({ total: 1, unread: 1 });
  });

  it('does not keep a mark of all from being written to the others', async () => {
    await expireEarly(['u1'], () => server.inbox.operations.markAll(user, { as: 'read' }));
    const ranges = async () => (await server.store.get(userStats, user, { consistent: true }))?.ranges;
    expect(await ranges()).toHaveLength(1);
    const consumers = startConsumers(server);
    await consumers.until(async () => (await ranges())?.length === 0);
    await consumers.stop();
    await expectCounts({ total: 1, unread: 0 });
  });
});
