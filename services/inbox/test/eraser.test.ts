import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestServer, hello, main, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  for (const inbox of ['main', 'news']) await server.ask('PUT', inbox, { send: main });
});
afterEach(() => server.close());

const stored = async () =>
  JSON.stringify((await server.engine.client.scan({ TableName: 'stak-inbox' })).Items ?? []);
const many = Array.from({ length: 60 }, (_, i) => `user-${i}`);

async function fill() {
  const taxonomy = { category: 'offer' };
  for (let i = 0; i < 150; i++)
    await server.ask('POST', 'main/messages', { send: { ...hello, taxonomy, uids: ['user-7'] } });
  await server.ask('POST', 'news/messages', { send: { ...hello, uids: many } });
  await server.inbox.operations.runDue();
  const { id } = (await server.ask('POST', 'news/broadcasts', { send: hello })).body;
  await server.ask('PUT', `news/users/user-7/messages/${id}/read`);
}

it('exports all data of a user', async () => {
  await fill();
  const kinds = new Map<string, number>();
  for await (const { kind } of server.inbox.eraser.exportUser('acme', 'user-7'))
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  expect(Object.fromEntries(kinds)).toEqual({
    'inbox member': 2,
    'inbox user message': 151,
    'inbox read receipt': 1,
    'inbox user stats': 2,
    'inbox category stats': 1,
  });
});

it('erases a user from every inbox and every list of recipients, step by step', async () => {
  await fill();
  let calls = 0;
  while ((await server.inbox.eraser.eraseUser('acme', 'user-7')) === 'more') calls += 1;
  expect(calls).toBeGreaterThan(1);
  expect(await server.inbox.eraser.eraseUser('acme', 'user-7')).toBe('done');
  expect(await stored()).not.toContain('user-7"');
  expect(await stored()).toContain('user-8"');
});

it('shows no earlier messages to a user who returns', async () => {
  const ask = async () => (await server.ask('GET', 'main/users/user-7/messages')).body.data;
  const publish = () => server.ask('POST', 'main/messages', { send: { ...hello, uids: ['user-7'] } });
  await publish();
  const [before] = await ask();
  while ((await server.inbox.eraser.eraseUser('acme', 'user-7')) === 'more');
  await publish(); // the state has the same version as before
  const after = await ask();
  expect(after).toHaveLength(1);
  expect(after[0]?.id).not.toBe(before?.id);
});

it('erases a tenant, and leaves others alone', async () => {
  await fill();
  const init = { as: 'bob', send: main };
  await server.ask('PUT', '/v1/tenants/bolt/inboxes/main', init);
  await server.ask('POST', '/v1/tenants/bolt/inboxes/main/broadcasts', { as: 'bob', send: hello });
  while ((await server.inbox.eraser.eraseTenant('acme')) === 'more');
  expect(await stored()).not.toContain('acme');
  expect(await stored()).toContain('bolt');
});

it('starts afresh where a tenant was erased', async () => {
  await fill();
  expect((await server.ask('GET', 'news/users/user-1/messages')).body.data).toHaveLength(2);
  while ((await server.inbox.eraser.eraseTenant('acme')) === 'more');
  await server.ask('PUT', 'news', { send: main });
  const { id } = (await server.ask('POST', 'news/broadcasts', { send: hello })).body;
  const { data } = (await server.ask('GET', 'news/users/user-1/messages')).body;
  expect(data.map(one => one.id)).toEqual([id]);
});
