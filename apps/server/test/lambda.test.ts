import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@stak/client';
import { createHttpServer } from '@stak/engine';
import { createLogger, systemClock } from '@stak/kit';
import {
  createDeadLetters,
  type DeadLetter,
  type LambdaAnswer,
  type LambdaEvent,
  requestRedrive,
} from '@stak/streams';
import { createStore, withPrefix } from '@stak/table';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { handlerId } from '../src/aws/handlers.ts';
import { type LambdaFunction, lambdaConsumers, lambdaFunctions } from '../src/aws/lambda-functions.ts';
import { template } from '../src/aws/template.ts';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { designs } from '../src/store/designs.ts';
import { openGuard, openTables, recordStream, type Template } from './stack-fixture.ts';

// A server whose streams are followed by the functions of the stack: the bundle that is uploaded, each function behind
// the policy of its own role.

type Handler = (event: LambdaEvent, lambda: { getRemainingTimeInMillis(): number }) => Promise<LambdaAnswer>;
type Guard = Awaited<ReturnType<typeof openGuard>>;

const prefix = 'dev-';
const stack = template({ designs, prefix, streams: 'lambda' }) as unknown as Template;
const names = lambdaFunctions.map(({ name }) => name);
const functionOf = (name: string): LambdaFunction => lambdaFunctions.find(one => one.name === name)!;
const secretKeys = `k1:${randomBytes(32).toString('base64')}`;
let fixture: Awaited<ReturnType<typeof open>>;

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  fixture = await open();
}, 120_000);
afterAll(async () => {
  await fixture?.close();
  vi.unstubAllEnvs();
});
// A handler is composed by its first call, with the variables of its function.
beforeEach(() => void vi.stubEnv('STAK_AWS_REGION', 'us-east-1'));

async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'stak-handlers-'));
  execFileSync(process.execPath, [join(import.meta.dirname, '../build-handlers.mjs'), folder]);
  const handlers = (await import(pathToFileURL(join(folder, 'index.mjs')).href)) as Record<string, Handler>;
  const engine = await openTables(stack);
  const dynamo = createHttpServer(engine, { port: 0 });
  const { url } = await dynamo.listen();
  const guards = new Map<string, Guard>();
  for (const one of lambdaFunctions)
    guards.set(one.name, await openGuard(url, stack, `${handlerId(one)}Role`));
  const alerts = await openReceiver();
  const variables = {
    STAK_STORE: 'aws',
    STAK_AWS_REGION: 'us-east-1',
    STAK_AWS_ENDPOINT: url,
    STAK_TABLE_PREFIX: prefix,
    STAK_SECRET_KEYS: secretKeys,
    STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
    STAK_LAMBDA_CONSUMERS: lambdaConsumers.join(','),
    STAK_LAKE: 'off',
  };
  const server = await startServer(readServerConfig({ port: 0, demo: false }, variables), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  const person = { email: 'you@example.com', password: 'a long enough password', name: 'You', cookie: false };
  const { data } = await createClient({ baseUrl: server.localUrl }).accounts.signUp({ body: person });
  const client = createClient({ baseUrl: server.localUrl, token: data.access_token });
  const store = createStore({ client: withPrefix(engine.client, prefix) });

  return {
    accountId: data.account_id,
    alerts,
    client,
    guards,
    server,
    tables: withPrefix(engine.client, prefix),
    store,
    async letters(consumer: string) {
      const found: DeadLetter[] = [];
      for await (const one of createDeadLetters({ store, clock: systemClock, consumer }).list())
        found.push(one);
      return found;
    },
    record: (table: string) => recordStream(url, prefix + table),
    async invoke(name: string, event: LambdaEvent, leftMs = 60_000): Promise<LambdaAnswer> {
      const { isConfigured } = functionOf(name);
      vi.stubEnv('STAK_AWS_ENDPOINT', guards.get(name)!.url);
      for (const [variable, value] of Object.entries(environmentOf(name))) vi.stubEnv(variable, value);
      if (isConfigured) vi.stubEnv('STAK_OUTBOUND_ALLOW', variables.STAK_OUTBOUND_ALLOW);
      const endsAt = performance.now() + leftMs;
      const answer = await handlers[name]!(structuredClone(event), {
        getRemainingTimeInMillis: () => endsAt - performance.now(),
      });
      vi.stubEnv('STAK_SECRET_KEYS', '');
      return answer;
    },
    async close() {
      await server.stop();
      for (const guard of guards.values()) guard.close();
      alerts.server.close();
      await dynamo.close();
      await engine.close();
      rmSync(folder, { recursive: true });
    },
  };
}

// As the template says.
function environmentOf(name: string): Record<string, string> {
  const { Environment } = stack.Resources[handlerId(functionOf(name))]!.Properties as {
    Environment: { Variables: Record<string, unknown> };
  };
  const { STAK_SECRET_KEYS, ...variables } = Environment.Variables;
  return {
    ...Object.fromEntries(
      Object.entries(variables).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
    STAK_PUBLIC_URL: 'https://stak.example.com',
    STAK_LOG_LEVEL: 'silent',
    STAK_SECRET_KEYS: STAK_SECRET_KEYS === undefined ? '' : secretKeys,
  };
}

async function openReceiver() {
  const received: string[] = [];
  const server: Server = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

async function invokeAll(name: string): Promise<void> {
  for (const event of await fixture.record(functionOf(name).table.name))
    expect(await fixture.invoke(name, event), name).toEqual(done);
  expect([...fixture.guards.get(name)!.denied], name).toEqual([]);
}

const tenant_id = 'acme';
const done = { batchItemFailures: [] };

async function makeTenant() {
  const { client } = fixture;
  await client.tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
  await client.tenants.createUser({ tenant_id, body: { user_id: 'ann', display_name: 'Ann' } });
  await client.inbox.writeInbox({ tenant_id, inbox_key: 'news', body: { title: 'News' } });
}

const farAway = 4_102_444_800;
const documentedItem = {
  pk: tenant_id,
  sk: 'conv-1',
  messages: JSON.stringify([{ role: 'user', content: 'Hello?' }]),
  updated_at: '2026-01-01T10:00:00Z',
  ttl: farAway,
};
const waitingApproval = {
  pk: `CONV#${tenant_id}#conv-2`,
  sk: 'APPROVAL#apr_1',
  tenant_id,
  conversation_id: 'conv-2',
  approval_id: 'apr_1',
  turn_id: 'trn_1',
  message_id: 'msg_1',
  epoch: 1,
  tool_call_id: 'call_1',
  name: 'refund',
  input: '{}',
  approval: 'admin',
  status: 'waiting',
  waiting_since: '2026-01-01T10:00:00.000Z',
  created_at: '2026-01-01T10:00:00.000Z',
  expires_at: '2100-01-01T00:00:00.000Z',
  ttl: farAway,
};

const alertOf = (sourceId: string, connectionId: string) => ({
  PK: `USER#${fixture.accountId}`,
  SK: `ALERT#2026-01-01T10#${connectionId}#delivery_failed`,
  userId: fixture.accountId,
  sourceId,
  connectionId,
  alertKind: 'delivery_failed',
  hour: '2026-01-01T10',
  detail: 'It was refused.',
  raisedAt: '2026-01-01T10:00:00.000Z',
  expiresAt: farAway,
});

it('runs every consumer that can run in Lambda in the function of its table', () => {
  const { all } = fixture.server.services;
  const able = all.flatMap(one => one.subscriptions).filter(({ needsConsumer }) => !needsConsumer);
  expect(able.map(({ name }) => name).sort()).toEqual(lambdaConsumers.toSorted());
  for (const { name, table } of able)
    expect(lambdaFunctions.find(({ consumers }) => consumers.includes(name))?.table.name).toBe(table.name);
});

it('does what a server would do, once: a repeated event changes nothing', async () => {
  const { client, tables, alerts, accountId } = fixture;
  await makeTenant();
  const user = { tenant_id, inbox_key: 'news', uid: 'ann' };
  const publish = async (title: string) =>
    (await client.inbox.publish({ ...user, body: { uids: ['ann'], message: { title, body: 'Hello' } } }))
      .data;
  const first = await publish('First');
  await client.inbox.readMany({ ...user, body: { ids: [first.id] } });
  // Another program wrote a conversation, and an agent waits for an approval.
  await tables.put({ TableName: 'conversations', Item: documentedItem });
  await tables.put({ TableName: 'conversations', Item: waitingApproval });
  const { data: task } = await client.tasks.create({ body: { title: 'Milk' } });
  await client.tasks.update({ task_id: task.task_id, body: { status: 'completed' } });
  await client.tasks.updateMe({ body: { retention_days: 7 } });
  const { data: trail } = await client.webhooks.createSource({
    body: { name: 'Trail', provider: 'stak', auditTrail: true },
  });
  await client.accounts.createKey({ body: { name: 'Mine', permissions: 'read' } });
  const { data: shop } = await client.webhooks.createSource({ body: { name: 'Shop', alertUrl: alerts.url } });
  await tables.put({ TableName: 'ferryhook-main', Item: alertOf(shop.sourceId, 'con_1') });

  const effects = async () => {
    const { data: sends } = await client.inbox.listSends({ tenant_id, inbox_key: 'news' });
    const { data: own } = await client.accounts.mintInboxToken();
    const asOwn = createClient({ baseUrl: fixture.server.localUrl, token: own.token });
    const total = async (inbox_key: string) =>
      (await asOwn.inbox.counts({ tenant_id: own.tenant_id, inbox_key, uid: 'me' })).data.total;
    const done = await tables.get({
      TableName: 'todo-app-data',
      Key: { PK: `TASK#${accountId}`, SK: `TASK#${task.task_id}` },
    });
    const { pk, sk } = documentedItem;
    const documented = await tables.get({ TableName: 'conversations', Key: { pk, sk } });
    return {
      reads: sends.data.find(({ id }) => id === first.id)?.read,
      isMerged: documented.Item?.digest !== undefined,
      alerts: await total('alerts'),
      approvals: await total('approvals'),
      events: (await client.webhooks.listEvents({ sourceId: trail.sourceId })).data.data.length,
      ttl: typeof done.Item?.ttl,
    };
  };
  const { events, ...before } = await effects();
  expect(before).toMatchObject({ reads: 0, isMerged: false, alerts: 0, approvals: 0 });
  expect(events).toBe(0);
  for (const name of names) await invokeAll(name);
  const after = await effects();
  expect(after).toMatchObject({ reads: 1, isMerged: true, alerts: 1, approvals: 1, ttl: 'number' });
  expect(after.events).toBeGreaterThan(0);
  expect(alerts.received).toHaveLength(1);
  for (const name of names) await invokeAll(name);
  expect(await effects()).toEqual(after);
  expect(new Set(alerts.received).size).toBe(1); // a POST may be repeated, with the same id
}, 120_000);

it('sets a poison record aside, handles the others, and a server handles it when it is redriven', async () => {
  const { client, tables, alerts, store } = fixture;
  const consumer = 'webhooks-alerts';
  const { data: shop } = await client.webhooks.createSource({ body: { name: 'Shop', alertUrl: alerts.url } });
  for (const connectionId of ['con_2', 'con_3'])
    await tables.put({ TableName: 'ferryhook-main', Item: alertOf(shop.sourceId, connectionId) });
  const Records = (await fixture.record('ferryhook-main'))
    .flatMap(event => event.Records)
    .filter(
      ({ dynamodb }) => dynamodb?.NewImage?.alertKind && /con_[23]/.test(JSON.stringify(dynamodb.Keys)),
    );
  expect(Records).toHaveLength(2);
  const poisoned = structuredClone(Records[0]!);
  poisoned.dynamodb!.SequenceNumber += '0';
  poisoned.dynamodb!.NewImage!.alertKind = { N: '1' };
  const TableName = 'ferryhook-main';
  const Key = { PK: `USER#${fixture.accountId}`, SK: `SRC#${shop.sourceId}` };
  const { Item: whole } = await tables.get({ TableName, Key });
  await tables.put({ TableName, Item: { ...whole, alertSecret: 'of a key that is lost' } });
  expect(await fixture.invoke('ferryhookMain', { Records: [poisoned, ...Records] })).toEqual({
    batchItemFailures: [],
  });
  expect(await fixture.letters(consumer)).toHaveLength(3);

  await tables.put({ TableName, Item: whole! });
  const posted = alerts.received.length;
  await requestRedrive(store, systemClock, consumer);
  await expect.poll(async () => (await fixture.letters(consumer)).length).toBe(1);
  expect(alerts.received.slice(posted)).toHaveLength(2);
}, 120_000);

it('returns the first record that it had no time for, and continues with it', async () => {
  const { client } = fixture;
  const user = { tenant_id, inbox_key: 'news', uid: 'cleo' };
  const ids: string[] = [];
  for (const title of ['One', 'Two']) {
    const body = { uids: ['cleo'], message: { title, body: 'Hello' } };
    ids.push((await client.inbox.publish({ ...user, body })).data.id);
  }
  await client.inbox.readMany({ ...user, body: { ids } });
  const reads = async () => {
    const { data } = await client.inbox.listSends({ tenant_id, inbox_key: 'news' });
    return data.data.filter(({ id }) => ids.includes(id)).map(({ read }) => read);
  };
  const events = await fixture.record('stak-inbox');
  const guard = fixture.guards.get('inbox')!;
  guard.setAway(true);
  const answers = await Promise.all(events.map(event => fixture.invoke('inbox', event, 3_000)));
  expect(await reads()).toEqual([0, 0]);
  const failed = answers.flatMap(({ batchItemFailures }) => batchItemFailures);
  expect(failed.length).toBeGreaterThan(0);
  guard.setAway(false);
  for (const [i, { Records }] of events.entries()) {
    const [first] = answers[i]!.batchItemFailures;
    const from = Records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === first?.itemIdentifier);
    if (first) expect(await fixture.invoke('inbox', { Records: Records.slice(from) })).toEqual(done);
  }
  expect(await reads()).toEqual([1, 1]);
  expect(await fixture.letters('inbox-reads')).toEqual([]);
}, 120_000);

it('corrects the counts when DynamoDB has removed an expired message', async () => {
  const { client, tables } = fixture;
  const user = { tenant_id, inbox_key: 'news', uid: 'bob' };
  const expiredat = Math.floor(Date.now() / 1000) + 2;
  const body = { uids: ['bob'], expiredat, message: { title: 'Soon', body: 'over' } };
  await client.inbox.publish({ ...user, body });
  const pk = `t#${tenant_id}U#bob#news`;
  const stats = async () => (await tables.get({ TableName: 'stak-inbox', Key: { pk, sk: 'c#*' } })).Item;
  const written = (await fixture.record('stak-inbox'))
    .flatMap(({ Records }) => Records)
    .find(({ dynamodb }) => {
      const { pk: partition, sk } = (dynamodb?.Keys ?? {}) as Record<string, { S: string }>;
      return partition?.S === pk && sk?.S.startsWith('m#');
    })!;
  const before = await stats();
  await expect.poll(() => Date.now()).toBeGreaterThan((expiredat + 1) * 1000);
  const { NewImage, ...about } = written.dynamodb!;
  // As DynamoDB reports it.
  const expired = {
    ...written,
    eventName: 'REMOVE' as const,
    userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
    dynamodb: { ...about, OldImage: NewImage },
  };
  expect(await fixture.invoke('inbox', { Records: [expired] })).toEqual(done);
  expect(await stats()).not.toEqual(before);
  expect([...fixture.guards.get('inbox')!.denied]).toEqual([]);
});
