import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestServer, hello, main, many, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
});
afterEach(() => server.close());

it('a user who is erased before a send begins is in no list of recipients, and gets no mailbox', async () => {
  const ask = async (send: object) =>
    (await server.ask('POST', 'main/messages', { send: { ...hello, ...send } })).body;
  const send_at = server.clock.now() / 1000 + 3600;
  const long = await ask({ uids: many(40) });
  const later = await ask({ uids: ['u6', 'u7'], send_at });
  const own = await ask({ uids: ['u7'], send_at, message: { title: 'For u7', body: 'about u7 alone' } });
  expect([long.status, later.status, own.status]).toEqual(['delivering', 'scheduled', 'scheduled']);
  for (let calls = 0; (await server.inbox.eraser.eraseUser('acme', 'u7')) === 'more'; calls++)
    expect(calls).toBeLessThan(10);
  await server.inbox.operations.runDue();
  await server.clock.advance(3600_000);
  await server.inbox.operations.runDue();
  for (const { id } of [long, later, own])
    expect((await server.ask('GET', `main/sends/${id}`)).body.status).toBe('sent');
  const { Items = [] } = await server.engine.client.scan({ TableName: 'stak-inbox' });
  const members = Items.flatMap(({ pk, uid }) => (/^t#.*R#main$/.test(String(pk)) ? (uid ?? []) : []));
  expect(members.toSorted()).toEqual(
    many(40)
      .filter(uid => uid !== 'u7')
      .toSorted(),
  );
  expect(JSON.stringify(Items)).not.toMatch(/"u7"|about u7 alone/);
});

it('the receipts of a message to everyone are of those who could read it', async () => {
  await server.ask('PUT', 'main', { send: { ...main, late_joiners: 'none' } });
  for (const uid of ['u1', 'u2']) await server.ask('PUT', `main/users/${uid}`);
  const { id } = (await server.ask('POST', 'main/broadcasts', { send: hello })).body;
  await server.ask('PUT', `main/users/u1/messages/${id}/read`);
  for (const uid of ['u3', 'u4']) await server.ask('PUT', `main/users/${uid}`);
  const { data } = (await server.ask('GET', `main/sends/${id}/receipts`)).body;
  expect(data).toMatchObject([
    { uid: 'u1', read: true },
    { uid: 'u2', read: false },
  ]);
});

it('a message that is sent while it is cancelled is sent, and the caller is told', async () => {
  const send_at = server.clock.now() / 1000 + 60;
  const { id } = (await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'], send_at } }))
    .body;
  await server.clock.advance(60_000);
  const { transactWrite } = server.engine.client;
  let isFirst = true;
  Object.assign(server.engine.client, {
    async transactWrite(input: never) {
      if (isFirst) {
        isFirst = false;
        await server.inbox.operations.runDue();
      }
      return transactWrite(input);
    },
  });
  const { status, body } = await server.ask('DELETE', `main/scheduled/${id}`);
  expect([status, body.code]).toEqual([409, 'inbox.already_sent']);
  expect((await server.ask('GET', `main/sends/${id}`)).body.status).toBe('sent');
  expect((await server.ask('GET', 'main/users/u1/messages')).body.data).toMatchObject([{ id }]);
});

it('a send stops when its message expires', async () => {
  const send = { ...hello, uids: many(40), ttl: '60s' };
  await server.ask('POST', 'main/messages', { send });
  const { transactWrite } = server.engine.client;
  let calls = 0;
  Object.assign(server.engine.client, {
    async transactWrite(input: never) {
      const output = await transactWrite(input);
      if (++calls === 1) await server.clock.advance(60_000);
      return output;
    },
  });
  await server.inbox.operations.runDue();
  const { Items = [] } = await server.engine.client.scan({ TableName: 'stak-inbox' });
  const members = Items.filter(({ pk, uid }) => /^t#.*R#main$/.test(String(pk)) && uid !== undefined);
  expect(members.length).toBeGreaterThan(0);
  expect(members.length).toBeLessThan(40);
});

it('messages whose redactions go on at the same time are all hidden', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++)
    ids.push((await server.ask('POST', 'main/messages', { send: { ...hello, uids: many(3) } })).body.id);
  const [first, second, third] = ids as [string, string, string];
  for (const id of [first, second]) await server.ask('DELETE', `main/messages/${id}`);
  const seen = async () => (await server.ask('GET', 'main/users/u1/messages')).body.data.map(({ id }) => id);
  expect(await seen()).toEqual([third]);
  await server.inbox.operations.runDue();
  expect(await seen()).toEqual([third]);
});
