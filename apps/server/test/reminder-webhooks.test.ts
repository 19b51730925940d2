import { createHmac, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';

// A whole server, whose table the test can reach behind its back.
let server: RunningServer;
let engine: Awaited<ReturnType<typeof createEngine>>;
let closeDynamo = async () => {};

type Hit = { headers: Record<string, unknown>; text: string; body: { type: string; data: ReminderData } };
type ReminderData = { user_id: string; tenant_id?: string; task: { task_id: string; title: string } };
const hits: Hit[] = [];
const destination = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  hits.push({ headers: request.headers, text, body: JSON.parse(text) });
  response.end();
});

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  engine = await createEngine({ path: ':memory:' });
  const dynamo = createHttpServer(engine, { port: 0 });
  const { url } = await dynamo.listen();
  closeDynamo = () => dynamo.close();
  const variables = {
    STAK_STORE: 'aws',
    STAK_AWS_REGION: 'us-east-1',
    STAK_AWS_ENDPOINT: url,
    STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
  };
  server = await startServer(readServerConfig({ port: 0 }, variables), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  await new Promise<void>(resolve => destination.listen(0, '127.0.0.1', resolve));
}, 30_000);

afterAll(async () => {
  await server.stop();
  await closeDynamo();
  await engine.close();
  destination.closeAllConnections();
  await new Promise(resolve => destination.close(resolve));
  vi.unstubAllEnvs();
});

const as = (token?: string) => createClient({ baseUrl: server.localUrl, token });
const inSeconds = (seconds: number) => ({ at: new Date(Date.now() + seconds * 1000).toISOString() });

async function signUp(name: string) {
  const body = { email: `${name}@example.com`, password: 'a long enough password', name, cookie: false };
  const { data: session } = await as().accounts.signUp({ body });
  const client = as(session.access_token);
  const { data: source } = await client.webhooks.createSource({ body: { name: 'Stak', provider: 'stak' } });
  const { sourceId } = source;
  const destinationUrl = `http://127.0.0.1:${(destination.address() as AddressInfo).port}/`;
  const connection = await client.webhooks.createConnection({ sourceId, body: { name, destinationUrl } });
  const { data: own } = await client.accounts.mintInboxToken();
  return {
    client,
    accountId: own.sub,
    secret: connection.data.signingSecret,
    titles: async () => {
      const inbox = { tenant_id: own.tenant_id, inbox_key: 'tasks', uid: 'me' };
      return (await as(own.token).inbox.feed(inbox)).data.data.map(({ message }) => message.title);
    },
    events: async () => (await client.webhooks.listEvents({ sourceId })).data.data,
  };
}

const hitsOf = (taskId: string) => hits.filter(hit => hit.body.data.task.task_id === taskId);

test('a reminder reaches the inbox and the destination once, however often it fires', async () => {
  const ann = await signUp('ann');
  const { data: task } = await ann.client.tasks.create({ body: { title: 'Tea', reminder: inSeconds(3) } });
  const itemKey = {
    TableName: 'todo-app-data',
    Key: { PK: `REMINDER#${ann.accountId}`, SK: `TASK#${task.task_id}` },
  };
  const readReminder = async () => (await engine.client.get({ ...itemKey, ConsistentRead: true })).Item;
  const reminder = await readReminder();
  expect(reminder).toBeDefined();
  await expect.poll(() => hitsOf(task.task_id)).toHaveLength(1);
  const [{ headers, text, body }] = hitsOf(task.task_id) as [Hit];
  expect(body).toEqual({
    type: 'task.reminder',
    timestamp: new Date(task.remind_at! * 1000).toISOString(),
    data: { user_id: ann.accountId, task },
  });
  expect(headers['content-type']).toBe('application/json');
  const key = Buffer.from(ann.secret.replace('whsec_', ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  const signature = createHmac('sha256', key).update(signed).digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${signature}`);

  // As if the worker had died before it could put the reminder away. Another reminder makes it look at once.
  await expect.poll(readReminder).toBeUndefined();
  await engine.client.put({ TableName: itemKey.TableName, Item: reminder! });
  const { data: next } = await ann.client.tasks.create({ body: { title: 'Cake', reminder: inSeconds(1) } });
  await expect.poll(readReminder).toBeUndefined();
  await expect.poll(() => hitsOf(next.task_id)).toHaveLength(1);
  expect(hitsOf(task.task_id)).toHaveLength(1);
  expect(await ann.events()).toHaveLength(2);
  await expect.poll(ann.titles).toEqual(['Cake', 'Tea']);
}, 40_000);

test("a reminder of a tenant's user goes only to the tenant's account", async () => {
  const [host, stranger] = [await signUp('host'), await signUp('stranger')];
  const tenant_id = 'acme';
  await host.client.tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
  const { data: user } = await host.client.tenants.mintToken({
    tenant_id,
    body: { sub: 'ann@acme', scope: 'tasks:write' },
  });
  const { data: task } = await as(user.token).tasks.create({
    body: { title: 'Call', reminder: inSeconds(1) },
  });
  await expect.poll(() => hitsOf(task.task_id)).toHaveLength(1);
  expect(hitsOf(task.task_id)[0]!.body.data).toEqual({ tenant_id, user_id: 'ann@acme', task });
  expect(await host.events()).toHaveLength(1);
  expect(await stranger.events()).toEqual([]);
}, 40_000);

test('the audit trail is sent as events, once per entry, to sources that subscribe to it', async () => {
  const [ann, stranger] = [await signUp('audited'), await signUp('unaudited')];
  const { data: source } = await ann.client.webhooks.createSource({
    body: { name: 'Trail', provider: 'stak', auditTrail: true },
  });
  expect(source.auditTrail).toBe(true);
  const { data: key } = await ann.client.accounts.createKey({ body: { name: 'ci', permissions: 'write' } });
  await ann.client.accounts.updateMe({ body: { name: 'Ann herself' } }); // is hers, and not the organisation's
  await ann.client.tenants.create({ body: { tenant_id: 'audited', name: 'Audited', status: 'active' } });

  const events = async () => (await ann.client.webhooks.listEvents({ sourceId: source.sourceId })).data.data;
  const typesOf = async () => (await events()).map(({ eventType }) => eventType);
  await expect.poll(typesOf).toContain('audit.tenants.create');
  expect(await typesOf()).toContain('audit.key.created');
  expect(await typesOf()).not.toContain('audit.account.changed');
  const made = (await events()).find(({ eventType }) => eventType === 'audit.key.created')!;
  const { data: body } = await ann.client.webhooks.readBody({ eventId: made.eventId });
  const { data: trail } = await ann.client.accounts.listAudit({});
  const entry = trail.data.find(({ target }) => target === key.keyId)!;
  expect(JSON.parse(Buffer.from(body as Uint8Array).toString())).toEqual({
    type: 'audit.key.created',
    timestamp: entry.at,
    data: entry,
  });

  // The same record of the stream again, as after a crash.
  const found = (await engine.client.scan({ TableName: 'ferryhook-main' })).Items!;
  const item = found.find(one => one.auditId === entry.auditId)!;
  const { PK, SK } = item;
  await engine.client.delete({ TableName: 'ferryhook-main', Key: { PK, SK } });
  await engine.client.put({ TableName: 'ferryhook-main', Item: item });
  await ann.client.accounts.createKey({ body: { name: 'last', permissions: 'read' } });
  const keys = async () => (await typesOf()).filter(type => type === 'audit.key.created').length;
  await expect.poll(keys).toBe(2);
  expect(await ann.events()).toEqual([]);
  expect(await stranger.events()).toEqual([]);

  const member = as(key.key);
  const asked = member.webhooks.createSource({ body: { name: 'Spy', provider: 'stak', auditTrail: true } });
  await expect(asked).rejects.toMatchObject({ code: 'http.scope_missing' });
  const outside = ann.client.webhooks.createSource({ body: { name: 'Shop', auditTrail: true } });
  await expect(outside).rejects.toMatchObject({ code: 'webhooks.field_refused' });
}, 40_000);
