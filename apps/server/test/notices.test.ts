import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { decoded, openSmtp } from '@stak/mail/smtp-stub';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { startModel } from './model-server.ts';

const person = { email: 'ann@example.com', password: 'seven green umbrellas', name: 'Ann', cookie: false };

// A whole server with a mail server, whose table the test can reach behind its back.
async function open() {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  const engine = await createEngine({ path: ':memory:' });
  const dynamo = createHttpServer(engine, { port: 0 });
  const { url } = await dynamo.listen();
  const variables = {
    STAK_STORE: 'aws',
    STAK_AWS_REGION: 'us-east-1',
    STAK_AWS_ENDPOINT: url,
    STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
    STAK_DEFAULT_PLAN: 'free',
  };
  // These run in reverse: the server stops first.
  onTestFinished(async () => {
    await dynamo.close();
    await engine.close();
    vi.unstubAllEnvs();
  });
  return { ...(await serve(variables)), engine };
}

async function serve(variables: Record<string, string>, memory = false) {
  const smtp = await openSmtp({ disabledCommands: ['AUTH', 'STARTTLS'] });
  const mails = { STAK_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, STAK_MAIL_FROM: 'stak@example.com' };
  const config = readServerConfig(
    { port: 0, memory },
    { ...mails, ...variables, STAK_DEMO: 'false', STAK_LAKE: 'off' },
  );
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  onTestFinished(async () => void (await server.stop()));
  const received = () => smtp.received.map(({ raw }) => decoded(raw));
  const mail = (subject: string, meanwhile?: () => Promise<unknown>) =>
    vi.waitFor(
      async () => {
        await meanwhile?.();
        const found = received().find(raw => raw.includes(subject));
        expect(found, subject).toBeDefined();
        return found!;
      },
      { timeout: 20_000, interval: 50 },
    );
  const { data } = await createClient({ baseUrl: server.localUrl }).accounts.signUp({ body: person });
  const client = createClient({ baseUrl: server.localUrl, token: data.access_token });
  const token = /#token=(\S+)/.exec(await mail('Subject: Verify your address'))![1]!;
  await client.accounts.verifyEmail({ body: { token } });
  return { baseUrl: server.localUrl, client, mail, received, accountId: data.account_id };
}

it('mails about webhooks: failing deliveries, and a nearly used-up plan', async () => {
  const { baseUrl, client, engine, mail, accountId } = await open();
  const dead = createServer((_, response) => response.writeHead(500).end()).listen(0, '127.0.0.1');
  await once(dead, 'listening');
  onTestFinished(() => void dead.close());
  const destinationUrl = `http://127.0.0.1:${(dead.address() as AddressInfo).port}/`;
  const { data: source } = await client.webhooks.createSource({ body: { name: 'Shop' } });
  const { sourceId } = source;
  await client.webhooks.createConnection({
    sourceId,
    body: { name: 'Dead', destinationUrl, retryConfig: { maxAttempts: 1 } },
  });
  const table = { TableName: 'ferryhook-main' };
  const month = new Date().toISOString().slice(0, 7);
  await engine.client.put({
    ...table,
    Item: {
      PK: `USAGE#${accountId}#00`,
      SK: `MONTH#${month}`,
      userId: accountId,
      shard: 0,
      month,
      events: 4_000,
      expiresAt: Math.floor(Date.now() / 1000) + 86_400,
    },
  });
  const sent = await fetch(`${baseUrl}/in/${sourceId}`, { method: 'POST', body: '{}' });
  expect(sent.status).toBe(200);

  const limit = await mail("80 % of this month's events are used");
  expect(limit).toContain('Your plan has 5,000 events a month.');
  expect(limit).toContain('/v1/mail/unsubscribe?token=');
  // Gathered for a minute, which no test waits for: the mail itself is tested with the accounts.
  const digest = () => engine.client.get({ ...table, Key: { PK: `USER#${accountId}`, SK: 'DIGEST' } });
  await expect.poll(async () => (await digest()).Item?.lines, { timeout: 20_000 }).toHaveLength(1);
  const [line] = (await digest()).Item!.lines as string[];
  expect(line).toMatch(/^Shop, Dead: delivery failed at \d\d:\d\d UTC\. /);
}, 60_000);

it('mails that the storage is nearly full', async () => {
  const { baseUrl, client, mail } = await serve({ STAK_STORAGE_LIMITS: 'free=1MB' }, true);
  const { sourceId } = (await client.webhooks.createSource({ body: { name: 'Shop' } })).data;
  for (let count = 0; count < 5; count++) {
    const sent = await fetch(`${baseUrl}/in/${sourceId}`, { method: 'POST', body: 'x'.repeat(170_000) });
    expect(sent.status).toBe(200);
  }
  // Counted from the stream, and looked at with the requests that come after.
  const nearly = await mail('80 % of your storage is used', () =>
    client.tasks.create({ body: { title: 'Look' } }),
  );
  expect(nearly).toContain('/v1/mail/unsubscribe?token=');
}, 60_000);

it('mails once that the plan’s tenants are used up', async () => {
  const { client, mail, received } = await serve({ STAK_DEFAULT_PLAN: 'free' }, true);
  const create = (n: number) =>
    client.tenants.create({ body: { tenant_id: `shop-${n}`, name: 'Shop', status: 'active' } });
  for (const n of [1, 2, 3]) await create(n);
  const full = await mail("All of your plan's tenants are used");
  expect(full).toContain('Your plan has 3 tenants, and all of them are used.');
  expect(full).toContain('/v1/mail/unsubscribe?token=');
  await expect(create(4)).rejects.toMatchObject({ code: 'tenants.tenant_limit_reached' });
  for (let n = 0; n < 80; n++)
    await client.tenants.createUser({
      tenant_id: 'shop-1',
      body: { user_id: `u${n}`, display_name: 'U' },
    });
  const users = await mail('Tenant shop-1 has 80 % of the users that your plan allows');
  expect(users).toContain('Your plan has 100 users for each tenant.');
  const subjects = received().filter(raw => raw.includes("All of your plan's tenants are used"));
  expect(subjects).toHaveLength(1);
}, 60_000);

it('mails that the account nearly, and then fully, spent its model budget, once a day', async () => {
  const model = await startModel(() => ({ text: 'Yes.' }));
  onTestFinished(() => model.close());
  // An answer of 8 tokens costs 8 cents.
  const { baseUrl, client, mail, received } = await serve(
    {
      STAK_OPENAI_URL: model.url,
      STAK_MODEL: 'openai-compatible/local',
      STAK_MODEL_PRICES: 'openai-compatible/local=0.001/10000',
      STAK_MODEL_MAX_TOKENS: '8',
      STAK_MODEL_SPEND_PER_DAY: 'free=0.401',
      STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
      STAK_DEFAULT_PLAN: 'free',
    },
    true,
  );
  const tenant_id = 'shop';
  await client.tenants.create({ body: { tenant_id, name: 'Shop', status: 'active' } });
  const ask = (n: number) =>
    client.agents.sendMessage({ tenant_id, conversation_id: `c${n}`, body: { content: 'What is this?' } });
  for (const n of [1, 2, 3, 4, 5]) expect((await ask(n)).status).toBe(200);
  const nearly = await mail("80 % of today's limit of spending on models is used");
  expect(nearly).toContain('Your account may spend $0.401 a day on models.');
  expect(nearly).toContain('/v1/mail/unsubscribe?token=');
  for (const n of [6, 7]) await expect(ask(n)).rejects.toMatchObject({ code: 'agents.spend_exceeded' });
  await mail("Today's limit of spending on models is reached");

  const { token, tenant_id: own } = (await client.accounts.mintInboxToken()).data;
  const inbox = createClient({ baseUrl, token }).inbox;
  const alerts = { tenant_id: own, inbox_key: 'alerts', uid: 'me' };
  const titles = (await inbox.feed(alerts)).data.data.map(({ message }) => message.title);
  expect(titles.filter(title => title.includes('spending on models'))).toHaveLength(2);
  expect(received().filter(raw => raw.includes('spending on models'))).toHaveLength(2);
}, 60_000);
