import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';

let server: RunningServer;
let host: ReturnType<typeof createClient>;
const tenant_id = 'acme';
const inbox = { tenant_id, inbox_key: 'main' };

beforeAll(async () => {
  const env = {
    STAK_STORAGE_LIMITS: 'free=1MB,starter=2MB,pro=2MB,team=2MB',
    STAK_REQUESTS_PER_MINUTE: '100000',
  };
  server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, env), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  const person = { email: 'ann@example.com', password: 'a long enough password', name: 'Ann', cookie: false };
  const { data: session } = await as().accounts.signUp({ body: person });
  host = as(session.access_token);
  await host.tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
  await host.inbox.writeInbox({ ...inbox, body: { title: 'Main' } });
  await untilCounted(0);
}, 60_000);
afterAll(() => server.stop());

const as = (token?: string) => createClient({ baseUrl: server.url, token });
const readStorage = async () => (await host.accounts.getUsage()).data.storage;
// The count is a second or two behind.
const untilCounted = (least: number, most = Number.POSITIVE_INFINITY) =>
  vi.waitFor(
    async () => {
      const { isComplete, usedBytes } = await readStorage();
      expect(isComplete && usedBytes >= least && usedBytes <= most).toBe(true);
    },
    { timeout: 30_000 },
  );

const uids = (count: number) => Array.from({ length: count }, (_, i) => `user${i}`);
const letter = (bytes: number, to: number) => ({
  uids: uids(to),
  message: { title: 'Hello', body: 'x'.repeat(bytes) },
});

test('refuses a message whose copies would exceed the plan, before any is written', async () => {
  const before = await readStorage();
  await expect(host.inbox.publish({ ...inbox, body: letter(150_000, 3_000) })).rejects.toMatchObject({
    status: 413,
    code: 'accounts.request_exceeds_storage',
  });
  await expect(host.inbox.publish({ ...inbox, body: letter(150_000, 600) })).rejects.toMatchObject({
    status: 402,
    code: 'accounts.storage_limit_reached',
    detail: expect.stringMatching(/^You use .* of the 1 MB that the plan "free" keeps.*larger plan\.$/),
  });
  const several = { messages: Array.from({ length: 17 }, () => letter(60_000, 1)) };
  await expect(host.inbox.bulk({ ...inbox, body: several })).rejects.toMatchObject({ status: 402 });
  const after = await readStorage();
  expect(after.usedBytes - before.usedBytes).toBeLessThan(10_000);
});

test('a full plan stores nothing new; existing data can be read, marked and deleted', async () => {
  const { data: source } = await host.webhooks.createSource({ body: { name: 'shop', provider: 'custom' } });
  const { data: user } = await host.tenants.mintToken({
    tenant_id,
    body: { sub: 'user0', scope: 'inbox:read inbox:write tasks:write' },
  });
  const { data: task } = await as(user.token).tasks.create({ body: { title: 'Milk' } });
  const sent: string[] = [];
  for (let i = 0; i < 9; i++) {
    const { data } = await host.inbox.publish({ ...inbox, body: letter(100_000, 1) });
    sent.push(data.id);
  }
  await untilCounted(900_000);
  const { services, limitBytes } = await readStorage();
  expect(limitBytes).toBe(1_000_000);
  expect(services.find(({ service }) => service === 'inbox')?.bytes).toBeGreaterThan(900_000);
  // Each table is counted by itself, a second or two behind.
  const webhooks = async () => (await readStorage()).services.find(({ service }) => service === 'webhooks');
  await expect.poll(async () => (await webhooks())?.items ?? 0).toBeGreaterThan(0);

  const keyed = { ...inbox, body: letter(100_000, 1), 'idempotency-key': 'once-there-is-room' };
  await expect(host.inbox.publish(keyed)).rejects.toMatchObject({ status: 402 });
  await expect(
    host.inbox.broadcast({ ...inbox, body: { message: letter(100_000, 0).message } }),
  ).rejects.toMatchObject({ status: 402 });
  const hook = await fetch(`${server.url}/in/${source.sourceId}`, {
    method: 'POST',
    body: 'x'.repeat(100_000),
  });
  expect([hook.status, ((await hook.json()) as { code: string }).code]).toEqual([
    402,
    'webhooks.storage_limit_reached',
  ]);
  const large = { title: 'Long', description: 'x'.repeat(9_000) };
  const refused: unknown[] = [];
  for (let i = 0; i < 12 && refused.length === 0; i++)
    await as(user.token)
      .tasks.create({ body: large })
      .catch(error => refused.push(error));
  expect(refused).toMatchObject([
    {
      status: 402,
      code: 'accounts.storage_limit_reached',
      detail: 'There is no storage left here for anything new.',
    },
  ]);

  const mine = { ...inbox, uid: 'user0' };
  const { data: page } = await as(user.token).inbox.feed(mine);
  expect(page.data.length).toBeGreaterThan(0);
  await as(user.token).inbox.markRead({ ...mine, id: page.data[0]!.id });
  await as(user.token).tasks.update({ task_id: task.task_id, body: { status: 'completed' } });

  for (const id of sent) await host.inbox.redact({ ...inbox, id });
  await untilCounted(0, 500_000);
  expect((await host.inbox.publish(keyed)).status).toBe(201); // the refusal was not stored for the key
}, 120_000);

test('notifies an account in its own inbox', async () => {
  const { data: own } = await host.accounts.mintInboxToken();
  const alerts = { tenant_id: own.tenant_id, inbox_key: 'alerts', uid: own.sub };
  await expect
    .poll(async () => (await as(own.token).inbox.feed(alerts)).data.data.map(({ message }) => message.title))
    .toContain('80 % of your storage is used');
});

test('edits keep nothing more, and are limited by what is written in a day', async () => {
  const { data: task } = await host.tasks.create({ body: { title: 'Long', description: 'x'.repeat(9_000) } });
  const before = await readStorage();
  let refused: unknown;
  let count = 0;
  for (; count < 5_000 && !refused; count++)
    await host.tasks
      .update({ task_id: task.task_id, body: { priority: count % 2 ? 'low' : 'high' } })
      .catch(error => {
        refused = error;
      });
  expect(refused).toMatchObject({
    status: 402,
    code: 'accounts.storage_limit_reached',
    detail: expect.stringMatching(/^You have written .* today, and the plan "free" allows 5 MB a day/),
  });
  expect(count).toBeGreaterThan(10);
  expect((await readStorage()).usedBytes - before.usedBytes).toBeLessThan(500_000); // of 5 MB; the changes are listed for a while
  await expect(host.accounts.createKey({ body: { name: 'new', permissions: 'read' } })).rejects.toMatchObject(
    {
      status: 402,
    },
  );
  await host.tenants.mintToken({ tenant_id, body: { sub: 'user0', scope: 'inbox:read' } });
  await host.accounts.getMe();
}, 120_000);

test('plans show this installation’s storage limits', async () => {
  const { data } = await as().accounts.listPlans();
  expect(data.data.map(({ plan, storageBytes }) => [plan, storageBytes])).toEqual([
    ['free', 1_000_000],
    ['starter', 2_000_000],
    ['pro', 2_000_000],
    ['team', 2_000_000],
  ]);
});
