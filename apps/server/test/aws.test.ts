import { randomBytes } from 'node:crypto';
import { createClient } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readServerConfig } from '../src/config.ts';
import { type RunningServer, startServer } from '../src/server.ts';

// Two servers on one set of tables, over the AWS SDK, as in production. They start together, and make the tables.
let servers: RunningServer[] = [];
let closeStore = async () => {};
const lines: string[] = [];

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  const engine = await createEngine({ path: ':memory:' });
  const door = createHttpServer(engine, { port: 0 });
  const { url } = await door.listen();
  closeStore = async () => {
    await door.close();
    await engine.close();
  };
  const config = readServerConfig(
    { port: 0 },
    {
      STAK_STORE: 'aws',
      STAK_AWS_REGION: 'us-east-1',
      STAK_AWS_ENDPOINT: url,
      STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    },
  );
  const log = createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } });
  const passwordCost = { logN: 4, r: 8, p: 1 };
  servers = await Promise.all([
    startServer(config, { log, passwordCost }),
    startServer(config, { log, passwordCost }),
  ]);
}, 30_000);

afterAll(async () => {
  await Promise.all(servers.map(server => server.stop()));
  await closeStore();
  vi.unstubAllEnvs();
  // How long a turn took says something about the machine, not about the servers.
  expect(lines.filter(line => !line.includes('a turn of the event loop took too long'))).toEqual([]);
});

const at = (server: number, token?: string) => createClient({ baseUrl: servers[server]!.localUrl, token });
const codeOf = (result: PromiseSettledResult<unknown>) =>
  result.status === 'rejected' ? (result.reason as { code: string }).code : 'done';

test('what one server did, the other knows', async () => {
  const body = { email: 'you@example.com', password: 'a long enough password', name: 'You', cookie: false };
  const { data: person } = await at(0).accounts.signUp({ body });
  const { data: made } = await at(1, person.access_token).accounts.createKey({
    body: { name: 'first', permissions: 'admin' },
  });
  const tenant_id = 'acme';
  await at(0, made.key).tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
  await at(1, made.key).tenants.createUser({ tenant_id, body: { user_id: 'ann', display_name: 'Ann' } });
  const grant = { sub: 'ann', scope: 'profile:read' };
  const { data: ann } = await at(0, made.key).tenants.mintToken({ tenant_id, body: grant });
  const { data: user } = await at(1, ann.token).tenants.getUser({ tenant_id, user_id: 'ann' });
  expect(user).toMatchObject({ tenant_id, user_id: 'ann', display_name: 'Ann' });
});

test('of two who want the same, one gets it', async () => {
  const body = { email: 'both@example.com', password: 'a long enough password', name: 'Both', cookie: false };
  const signUps = await Promise.allSettled([0, 1].map(server => at(server).accounts.signUp({ body })));
  expect(signUps.map(codeOf).sort()).toEqual(['accounts.email_taken', 'done']);
  const { data: person } = await at(0).accounts.logIn({
    body: { email: body.email, password: body.password, cookie: false },
  });
  const claims = await Promise.allSettled(
    [0, 1].map(server =>
      at(server, person.access_token).tenants.create({ body: { tenant_id: 'contested', name: 'C' } }),
    ),
  );
  expect(claims.map(codeOf).sort()).toEqual(['done', 'tenants.id_taken']);
});
