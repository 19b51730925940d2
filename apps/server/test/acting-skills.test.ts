import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import type { createWebhooks } from '@stak/webhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';
import { startModel, textOf } from './model-server.ts';

// The skills that act, through a whole server: what an agent does is in the other services, once, and nobody else's.

let server: RunningServer;
let destination: Server;
const hits: string[] = [];
const as = (token?: string) => createClient({ baseUrl: server.localUrl, token });
const tenant_id = 'shop';
const skills = [
  'create_task',
  'complete_task',
  'send_inbox_message',
  'look_at_delivery',
  'replay_delivery',
  'query_lake',
  'inbox_summary',
];
// Asked for `{ "call": …, "input": … }`, it calls that, and says what came of it.
let model: Awaited<ReturnType<typeof startModel>>;
const modelling = (call: string, input: object) => JSON.stringify({ call, input });
let host: ReturnType<typeof as>;

beforeAll(async () => {
  destination = createServer((request, response) => {
    hits.push(String(request.headers['webhook-id']));
    response.end();
  });
  await new Promise<void>(resolve => destination.listen(0, '127.0.0.1', resolve));
  model = await startModel(messages => {
    const last = messages.at(-1)!;
    return last.role === 'tool' ? { text: textOf(last) } : JSON.parse(textOf(last));
  });
  const config = readServerConfig(
    { port: 0, memory: true, demo: false },
    {
      STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
      STAK_OPENAI_URL: model.url,
      STAK_MODEL: 'openai-compatible/local',
      // An account that bought nothing has the plan of the installation, and what that allows.
      STAK_MODEL_PRICES: 'openai-compatible/local=1/1',
      STAK_MODEL_SPEND_PER_DAY: 'free=0',
    },
  );
  server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  const person = { email: 'ann@example.com', password: 'a long enough password', name: 'Ann', cookie: false };
  const { data } = await as().accounts.signUp({ body: person });
  host = as(data.access_token);
  await host.tenants.create({ body: { tenant_id, name: 'Shop', status: 'active' } });
  for (const [user_id, role] of [
    ['bob', 'member'],
    ['eve', 'admin'],
  ] as const)
    await host.tenants.createUser({ tenant_id, body: { user_id, display_name: user_id, role } });
  const body = { enabled_skills: skills };
  await host.tenants.updateSettings({ tenant_id, body }, { ifMatch: '*' });
}, 30_000);

afterAll(async () => {
  await server.stop();
  await model.close();
  destination.closeAllConnections();
  await new Promise(resolve => destination.close(resolve));
});

// As one of its users, or as the host itself.
async function openChat(sub: string | undefined, scope = 'agents:chat tasks:read tasks:write inbox:read') {
  const token = sub && (await host.tenants.mintToken({ tenant_id, body: { sub, scope } })).data.token;
  const client = token ? as(token) : host;
  const { data } = await client.agents.createConversation({ tenant_id, body: {} });
  const conversation = { tenant_id, conversation_id: data.conversation_id };
  const ask = async (content: string) => {
    const { data: sent } = await client.agents.sendMessage({ ...conversation, body: { content } });
    const approvals = 'approvals' in sent ? (sent.approvals ?? []) : [];
    const reply = async () => {
      const answer = (await client.agents.getReply({ ...conversation, message_id: sent.message_id })).data;
      return 'reply' in answer ? answer.reply.content : answer.status;
    };
    return { approvals, reply };
  };
  const decide = (approval_id: string, approved = true) =>
    client.agents.decideApproval({ ...conversation, approval_id, body: { approved } });
  return { client, conversation, ask, decide };
}

test('tasks are created and completed as the user, after the user approves', async () => {
  const { client, ask, decide } = await openChat('bob');
  const created = await ask('create task: buy milk');
  expect(created.approvals).toMatchObject([{ name: 'create_task', input: { title: 'buy milk' } }]);
  expect((await client.tasks.list({})).data.data).toEqual([]);
  const inbox = { tenant_id, inbox_key: 'approvals', uid: 'me' };
  await expect
    .poll(async () => (await client.inbox.feed(inbox)).data.data.map(one => one.message))
    .toMatchObject([{ title: 'Approve create_task?', body: expect.stringContaining('buy milk') }]);
  const listed = async () => (await client.inbox.feed(inbox)).data.data.length;
  await decide(created.approvals[0]!.approval_id);
  await decide(created.approvals[0]!.approval_id); // its answer got lost
  expect(await created.reply()).toMatch(/^Created the task "buy milk"/);
  const [task] = (await client.tasks.list({})).data.data;
  expect((await client.tasks.list({})).data.data).toHaveLength(1);
  await expect.poll(listed).toBe(0); // there is nothing to decide any more
  const completed = await ask(`complete task ${task!.task_id}`);
  await decide(completed.approvals[0]!.approval_id);
  expect(await completed.reply()).toBe('Completed the task "buy milk".');
  expect((await client.tasks.get({ task_id: task!.task_id })).data.status).toBe('completed');
}, 30_000);

test('an agent gives users no more rights than they have', async () => {
  const narrow = await openChat('bob', 'agents:chat');
  const refused = await narrow.ask('create task: sneak in');
  await narrow.decide(refused.approvals[0]!.approval_id);
  expect(await refused.reply()).toContain('does not hold the scope tasks:write');
  expect(await (await narrow.ask('look at event evt_0mjuxvy9s00abcdefghijklm')).reply()).toContain(
    'its users cannot see them',
  );
  const stranger = await openChat('eve');
  const theirs = await narrow.ask('create task: not yours');
  const { approval_id } = theirs.approvals[0]!;
  const { conversation_id } = narrow.conversation;
  await expect(
    stranger.client.agents.decideApproval({
      tenant_id,
      conversation_id,
      approval_id,
      body: { approved: true },
    }),
  ).rejects.toMatchObject({ code: 'agents.approval_not_found' });
}, 30_000);

test('actions that need an admin are approved by an admin or the account', async () => {
  const settings = (skill_approvals: object | null) =>
    host.tenants.updateSettings({ tenant_id, body: { skill_approvals } }, { ifMatch: '*' });
  await settings({ create_task: 'admin' });
  const [bob, eve] = [await openChat('bob'), await openChat('eve')];
  const created = await bob.ask('create task: a big one');
  await settings(null);
  const { approval_id } = created.approvals[0]!;
  await expect(bob.decide(approval_id)).rejects.toMatchObject({ code: 'agents.approval_not_yours' });
  const titles = async (client: typeof host, tenant: string) =>
    (await client.inbox.feed({ tenant_id: tenant, inbox_key: 'approvals', uid: 'me' })).data.data.map(
      ({ message }) => message.title,
    );
  await expect.poll(() => titles(eve.client, tenant_id)).toEqual(['Approve create_task?']);
  const own = (await host.accounts.mintInboxToken()).data;
  await expect.poll(() => titles(as(own.token), own.tenant_id)).toEqual(['Approve create_task?']);
  const { conversation_id } = bob.conversation;
  await eve.client.agents.decideApproval({
    tenant_id,
    conversation_id,
    approval_id,
    body: { approved: true },
  });
  expect(await created.reply()).toMatch(/^Created the task "a big one"/);
  await expect.poll(() => titles(eve.client, tenant_id)).toEqual([]);
  await expect.poll(() => titles(as(own.token), own.tenant_id)).toEqual([]);
}, 30_000);

type Webhooks = ReturnType<typeof createWebhooks>;

test('the host inspects a delivery and replays it, once', async () => {
  const { data: source } = await host.webhooks.createSource({ body: { name: 'Shop', provider: 'custom' } });
  const { sourceId } = source;
  const destinationUrl = `http://127.0.0.1:${(destination.address() as AddressInfo).port}/`;
  await host.webhooks.createConnection({ sourceId, body: { name: 'Shop', destinationUrl } });
  const { eventId } = (await host.webhooks.sendTestEvent({ sourceId })).data;
  await expect.poll(() => hits.length).toBe(1);
  const { ask, decide } = await openChat(undefined);
  await expect.poll(async () => (await ask(`show event ${eventId}`)).reply()).toContain('delivered after 1');
  // As after a crash: the replay is made and delivered, its outcome gets lost, and the same call is made again.
  const webhooks = server.services.all.find(one => 'replay' in Object((one as Partial<Webhooks>).operations));
  const { operations } = webhooks as unknown as Webhooks;
  const { replay } = operations;
  const made: number[] = [];
  operations.replay = async (...call) => {
    made.push(await replay(...call));
    await expect.poll(async () => (await operations.detail(call[0], call[1])).event.status).toBe('delivered');
    made.push(await replay(...call));
    return made[0]!;
  };
  const replayed = await ask(`replay event ${eventId}`);
  await decide(replayed.approvals[0]!.approval_id);
  await expect.poll(replayed.reply).toBe(`${eventId} is delivered again: 1 delivery.`);
  operations.replay = replay;
  expect(made).toEqual([1, 1]);
  expect(hits).toHaveLength(2);
  const again = await ask(`replay event ${eventId}`); // another call: it has a key of its own
  await decide(again.approvals[0]!.approval_id);
  await expect.poll(() => hits.length).toBe(3);
}, 30_000);

const inboxScope = 'agents:chat inbox:read inbox:write';

test('a message from an agent reaches only the user who asked, once', async () => {
  const [bob, eve] = [await openChat('bob', inboxScope), await openChat('eve', inboxScope)];
  const inbox = { tenant_id, inbox_key: 'agent', uid: 'me' };
  const titles = async ({ client }: typeof bob) =>
    (await client.inbox.feed(inbox)).data.data.map(({ message }) => message.title);
  const sent = await bob.ask(modelling('send_inbox_message', { title: 'Tea', body: 'Buy some.' }));
  const { approval_id } = sent.approvals[0]!;
  await Promise.all([bob.decide(approval_id), bob.decide(approval_id)]);
  expect(await sent.reply()).toContain('id');
  expect(await titles(bob)).toEqual(['Tea']);

  const other = await bob.ask(modelling('send_inbox_message', { to: 'eve', title: 'Hi', body: 'Hi.' }));
  await bob.decide(other.approvals[0]!.approval_id);
  expect(await other.reply()).toContain('themselves only');
  expect(await titles(eve)).toEqual([]);

  const hosts = await openChat(undefined);
  const told = await hosts.ask(modelling('send_inbox_message', { to: 'eve', title: 'News', body: 'Hi.' }));
  await hosts.decide(told.approvals[0]!.approval_id);
  await told.reply();
  expect(await titles(eve)).toEqual(['News']);
}, 30_000);

test('the time of a message is in the time zone of the user who asks', async () => {
  await host.tenants.createUser({ tenant_id, body: { user_id: 'kei', display_name: 'Kei' } });
  const { client, ask } = await openChat('kei', 'agents:chat inbox:read tasks:write');
  const message = { title: 'Tea', body: 'Buy some.' };
  const inbox = { tenant_id, inbox_key: 'news' };
  await host.inbox.writeInbox({ ...inbox, body: { title: 'News' } });
  await host.inbox.publish({ ...inbox, body: { uids: ['kei'], message } });
  const summary = async () => (await ask('inbox summary')).reply();
  await expect.poll(summary).toMatch(/^1 unread, 1 new\.\n- Tea \(\d+ \w+ \d{4}, \d\d:\d\d UTC\)$/);
  await client.tasks.updateMe({ body: { time_zone: 'Asia/Tokyo' } });
  await expect.poll(summary).toMatch(/\d\d:\d\d GMT\+9\)$/);
}, 30_000);

test('an agent reads only what its user may read in the lake, and writes nothing', async () => {
  const scope = 'agents:chat tasks:write tasks:read lake:read';
  const [bob, eve] = [await openChat('bob', scope), await openChat('eve', scope)];
  await bob.client.tasks.create({ body: { title: 'of Bob' } });
  await eve.client.tasks.create({ body: { title: 'of Eve' } });
  const query = async (chat: typeof bob, sql: string) =>
    (await chat.ask(modelling('query_lake', { sql }))).reply();
  const sql = "select title from tasks where title like 'of %' order by title";
  await expect.poll(() => query(bob, sql), { timeout: 20_000 }).toContain('of Bob');
  expect(await query(bob, sql)).not.toContain('of Eve');
  await expect.poll(() => query(eve, sql), { timeout: 20_000 }).toContain('of Eve');
  expect(await query(eve, sql)).not.toContain('of Bob');
  for (const bad of ['delete from tasks', "copy tasks to 'x.csv'", "select * from read_text('/etc/passwd')"])
    expect(await query(bob, bad)).toContain('error');
  const narrow = await openChat('bob', 'agents:chat');
  expect(await query(narrow, sql)).toContain('does not hold the scope lake:read');
}, 60_000);
