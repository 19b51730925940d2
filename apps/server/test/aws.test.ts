import { randomBytes } from 'node:crypto';
import { createClient } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { type Clock, createLogger, systemClock, type Worker } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import type { Attributes } from '@stak/table';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, type ServerOptions, startServer } from '../src/process/server.ts';

// Two servers on one set of tables, over the AWS SDK, as in production. They start together, and make the tables.
let servers: RunningServer[] = [];
let startAnother: (options: Partial<ServerOptions>) => Promise<RunningServer>;
let readItems: () => Promise<Attributes[]>;
let closeStore = async () => {};
const lines: string[] = [];

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  const engine = await createEngine({ path: ':memory:' });
  const dynamo = createHttpServer(engine, { port: 0 });
  const { url } = await dynamo.listen();
  closeStore = async () => {
    await dynamo.close();
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
  startAnother = options => startServer(config, { log, passwordCost, ...options });
  readItems = async () => (await engine.client.scan({ TableName: streamsTable.name })).Items ?? [];
  servers = await Promise.all([startAnother({}), startAnother({})]);
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

test('each server sees the other’s writes', async () => {
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

test('a change at one server reaches the other without waiting for its next poll', async () => {
  const body = { email: 'ears@example.com', password: 'a long enough password', name: 'Ears', cookie: false };
  const { data: person } = await at(0).accounts.signUp({ body });
  const over = new AbortController();
  const heard = new Map<string, number>();
  let isOpen = false;
  const listening = (async () => {
    const response = await fetch(`${servers[1]!.localUrl}/v1/tasks/events`, {
      headers: { Authorization: `Bearer ${person.access_token}` },
      signal: over.signal,
    });
    const text = response.body!.pipeThrough(new TextDecoderStream());
    for await (const chunk of text as unknown as AsyncIterable<string>) {
      isOpen ||= chunk.includes('event: open');
      for (const [, title] of chunk.matchAll(/"title":"(task \d+)"/g)) heard.set(title!, performance.now());
    }
  })().catch(() => {});
  await expect.poll(() => isOpen, { timeout: 15_000, interval: 10 }).toBe(true);
  const waits: number[] = [];
  for (let n = 0; n < 6; n++) {
    await at(0, person.access_token).tasks.create({ body: { title: `task ${n}` } });
    const writtenAt = performance.now();
    await expect.poll(() => heard.has(`task ${n}`), { timeout: 15_000, interval: 10 }).toBe(true);
    waits.push(heard.get(`task ${n}`)! - writtenAt);
  }
  over.abort();
  await listening;
  const sorted = waits.toSorted((a, b) => a - b);
  console.log(`heard at the other server after ${sorted.map(ms => ms.toFixed(0)).join(', ')} ms`);
  expect(sorted[3]).toBeLessThan(2_000); // a look by itself comes every ten seconds
}, 60_000);

test('of two concurrent claims, one succeeds', async () => {
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

test('a server that stops with unfinished work still counts as alive, so that others do not begin it', async () => {
  const { partition } = streamsTable.keys;
  const serving = async () => (await readItems()).filter(item => item[partition] === 'servers').length;
  // Waits less for what does not end.
  const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) };
  const log = createLogger({ level: 'silent' });
  const inOrder = await startAnother({ log });
  expect(await serving()).toBe(3);
  expect(await inOrder.stop()).toEqual([]);
  expect(await serving()).toBe(2);

  const stubborn: Worker = { name: 'stubborn', run: () => new Promise(() => {}) };
  const late = await startAnother({ clock, log, workers: [stubborn] });
  expect(await late.stop()).toContain('stubborn');
  expect(await serving()).toBe(3);

  const extend: ServerOptions['extend'] = ({ mount }) =>
    mount({ method: 'get', path: '/unanswered', unguarded: 'a test' }, () => new Promise(() => {}));
  const busy = await startAnother({ clock, log, extend });
  const request = fetch(`${busy.localUrl}/unanswered`).catch(() => {});
  await fetch(`${busy.localUrl}/healthz`); // sent later, so that one has arrived
  expect(await busy.stop()).toContain('requests');
  expect(await serving()).toBe(4);
  await request;
}, 60_000);
