import { randomBytes } from 'node:crypto';
import { createClient } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';

const person = { email: 'ann@example.com', password: 'seven green umbrellas', name: 'Ann', cookie: false };

// A whole server whose table the test can reach behind its back.
async function open() {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  const engine = await createEngine({ path: ':memory:' });
  const httpServer = createHttpServer(engine, { port: 0 });
  const { url } = await httpServer.listen();
  const variables = {
    STAK_STORE: 'aws',
    STAK_AWS_REGION: 'us-east-1',
    STAK_AWS_ENDPOINT: url,
    STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    STAK_DEFAULT_PLAN: 'free',
    STAK_DEMO: 'false',
    STAK_LAKE: 'off',
  };
  const lines: string[] = [];
  const server = await startServer(readServerConfig({ port: 0 }, variables), {
    log: createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  onTestFinished(async () => {
    await server.stop();
    await httpServer.close();
    await engine.close();
    vi.unstubAllEnvs();
  });
  return { engine, lines, url: server.localUrl };
}

it('treats an unknown plan as the default, and logs it once', async () => {
  const { engine, lines, url } = await open();
  const { data: signedUp } = await createClient({ baseUrl: url }).accounts.signUp({ body: person });
  const client = createClient({ baseUrl: url, token: signedUp.access_token });
  await engine.client.update({
    TableName: 'ferryhook-main',
    Key: { PK: `USER#${signedUp.account_id}`, SK: 'PROFILE' },
    UpdateExpression: 'SET #plan = :plan',
    ExpressionAttributeNames: { '#plan': 'plan' },
    ExpressionAttributeValues: { ':plan': 'enterprise' },
  });

  expect((await client.accounts.getMe()).data.plan).toBe('free');
  expect((await client.accounts.getUsage()).data).toMatchObject({ plan: 'free', eventsPerMonth: 5_000 });
  expect((await client.accounts.readOrganisation()).data).toMatchObject({ plan: 'free', seats: 3 });
  const { sourceId } = (await client.webhooks.createSource({ body: { name: 'Shop' } })).data;
  expect((await fetch(`${url}/in/${sourceId}`, { method: 'POST', body: '{}' })).status).toBe(200);
  const create = (n: number) =>
    client.tenants.create({ body: { tenant_id: `shop-${n}`, name: 'Shop', status: 'active' } });
  for (const n of [1, 2, 3]) await create(n);
  await expect(create(4)).rejects.toMatchObject({ code: 'tenants.tenant_limit_reached' });
  await client.accounts.updateMe({ body: { name: 'Ann again' } });

  const told = lines.map(line => JSON.parse(line)).filter(line => line.stored_plan !== undefined);
  expect(told).toEqual([
    expect.objectContaining({ account_id: signedUp.account_id, stored_plan: 'enterprise', plan: 'free' }),
  ]);
}, 60_000);
