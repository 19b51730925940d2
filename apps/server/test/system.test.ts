import { randomBytes } from 'node:crypto';
import { createClient } from '@stak/client';
import { createEngine } from '@stak/engine';
import {
  createApi,
  createMemoryIdempotency,
  type Principal,
  type RequestRecord,
  unguarded,
} from '@stak/http';
import { createIds, createLogger, type EventLoopWatch, manualClock, systemClock } from '@stak/kit';
import { createConsumer, engineSource, streamsTable, subscribe } from '@stak/streams';
import { createLedger, createStore, createTables, defineTable, entity } from '@stak/table';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readServerConfig } from '../src/config/config.ts';
import { sumCapacity, systemEndpoints } from '../src/http/system.ts';
import { createMetrics } from '../src/process/metrics.ts';
import { serveMetrics } from '../src/process/metrics-server.ts';
import { startServer } from '../src/process/server.ts';

const log = createLogger({ level: 'silent' });

test('shows the lag to everyone signed in, and resource use to operators', async () => {
  // With a prefix, which nobody gets to see.
  const config = readServerConfig({ port: 0, memory: true, demo: true }, { STAK_TABLE_PREFIX: 'dev-' });
  const server = await startServer(config, { log, passwordCost: { logN: 4, r: 8, p: 1 } });
  onTestFinished(async () => void (await server.stop()));
  const signUp = async (name: string) => {
    const body = { email: `${name}@example.com`, password: 'a long enough password', name, cookie: false };
    const { data } = await createClient({ baseUrl: server.url }).accounts.signUp({ body });
    return createClient({ baseUrl: server.url, token: data.access_token });
  };
  const [operator, customer] = [await signUp('operator'), await signUp('customer')];
  const { data: me } = await operator.accounts.whoAmI();
  if (me.kind === 'account') server.services.explorer!.admitFromHere(me.accountId);

  const { data: seen } = await customer.system.status();
  expect(seen.streams.map(one => one.consumer)).toContain('tasks-changes');
  expect(seen.workers.running).toBeGreaterThan(0);
  expect(seen.operator).toBeNull();
  const behind = async () => {
    const { streams } = (await customer.system.status()).data;
    return streams.filter(one => !one.caught_up).map(one => one.consumer);
  };
  await expect.poll(behind, { timeout: 20_000 }).toEqual([]);

  const { data } = await operator.system.status();
  const { capacity, dead_letters } = data.operator!;
  expect(dead_letters).toBe(0);
  expect(capacity.write_units).toBeGreaterThan(0);
  expect(capacity.tables.map(one => one.table)).toContain('ferryhook-main');

  const { data: made } = await operator.accounts.createKey({ body: { name: 'key', permissions: 'admin' } });
  const byKey = createClient({ baseUrl: server.url, token: made.key }).system.status();
  await expect(byKey).rejects.toMatchObject({ status: 403 });
});

test('metrics are for this machine, or for callers with the token', async () => {
  const open = async (env: Record<string, string>) => {
    const config = readServerConfig({ port: 0, memory: true }, { STAK_LAKE: 'off', ...env });
    const server = await startServer(config, { log });
    onTestFinished(async () => void (await server.stop({ isAtOnce: true })));
    return async (headers: Record<string, string>) =>
      (await fetch(`${server.localUrl}/metrics`, { headers })).status;
  };
  const ask = await open({});
  expect(await ask({})).toBe(200);
  expect(await ask({ 'X-Forwarded-For': '203.0.113.7' })).toBe(401);
  const askWithToken = await open({ STAK_METRICS_TOKEN: 'scrape' });
  expect(await askWithToken({})).toBe(401);
  expect(await askWithToken({ Authorization: 'Bearer scrape', 'X-Forwarded-For': '203.0.113.7' })).toBe(200);
  // A proxy on this machine may rewrite Host and add nothing, so in production nobody is believed without a token.
  const askInProduction = await open({
    STAK_ENV: 'production',
    STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    STAK_PUBLIC_URL: 'https://stak.example.com',
  });
  expect(await askInProduction({})).toBe(401);
});

test('metrics on an address of their own are for the token only, if there is one', async () => {
  const ask = async (token: string | undefined, headers: Record<string, string>) => {
    const read = async () => 'stak_processes 1';
    const metrics = { contentType: 'text/plain', read, ...(token !== undefined && { token }) };
    const { port, close } = await serveMetrics({ host: '127.0.0.1', port: 0 }, metrics);
    onTestFinished(close);
    return (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).status;
  };
  expect(await ask(undefined, {})).toBe(200);
  expect(await ask('scrape', {})).toBe(401);
  expect(await ask('scrape', { Authorization: 'Bearer another' })).toBe(401);
  expect(await ask('scrape', { Authorization: 'Bearer scrape' })).toBe(200);
});

test('metrics of several processes are summed, except for the longest delay and the running workers', async () => {
  const answers: (() => unknown)[] = [];
  let areBusy = false;
  const gather = () => (areBusy ? Promise.resolve([]) : Promise.all(answers.map(read => read())));
  const answer = (_: string, read: () => unknown) => void answers.push(read);
  const open = (delayMs: number, status: 'running' | 'backing-off') => {
    const supervised = { worker: answers.length + 1, answer, gather };
    const metrics = createMetrics();
    metrics.observe({ route: 'GET /x', status: 200, durationMs: 1 } as RequestRecord);
    return metrics.expose({
      ledger: createLedger(),
      eventLoop: {
        delay: () => ({ p50Ms: delayMs, p99Ms: delayMs, maxMs: delayMs }),
        blocked: () => 1,
      } as unknown as EventLoopWatch,
      workers: () => [{ name: 'deliveries', status, sinceMs: 0, restarts: 2 }],
      storage: async () => ({ services: [{ service: 'inbox', bytes: 10 }] }),
      consumers: () => [],
      setAside: async () => ['consumer'],
      missed: async () => ['late'],
      token: undefined,
      isProduction: false,
      supervised,
    });
  };
  const [one] = [open(5, 'running'), open(300, 'backing-off')];
  const text = await one!.read();
  expect(text).not.toContain('nodejs_eventloop_lag'); // its sampling alone wakes a server a hundred times a second
  for (const line of [
    'stak_processes 2',
    'stak_http_request_seconds_count{route="GET /x",status="200"} 2',
    'stak_event_loop_delay_seconds{quantile="1"} 0.3',
    'stak_event_loop_blocked_total 2',
    'stak_worker_running{worker="deliveries"} 0',
    'stak_worker_restarts_total{worker="deliveries"} 4',
    'stak_storage_bytes{service="inbox"} 10',
    'stak_stream_dead_letters{consumer="consumer"} 1',
    'stak_stream_missed{consumer="late"} 1',
  ])
    expect(text.split('\n')).toContain(line);
  // The process that is asked is always in the sum, even if none has the time to answer.
  areBusy = true;
  const alone = (await one!.read()).split('\n');
  expect(alone).toContain('stak_processes 1');
  expect(alone).toContain('stak_http_request_seconds_count{route="GET /x",status="200"} 1');
});

const notes = defineTable({ name: 'notes', keys: { partition: 'pk' }, stream: 'NEW_AND_OLD_IMAGES' });
const note = entity(notes, {
  name: 'Note',
  schema: z.object({ id: z.string() }),
  key: { partition: 'note#{id}' },
});

test('an unhandled change has an age', async () => {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  await createTables(engine, [notes, streamsTable]);
  const store = createStore({ client: engine.client });
  const source = engineSource(engine);
  let release = () => {};
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  const subscription = subscribe({ name: 'slow', table: notes, entities: [note], handle: () => held });
  const consumer = createConsumer({ subscription, source, client: engine.client, log });
  const stopping = new AbortController();
  const running = consumer.run(stopping.signal);

  // The caller asks a minute later.
  const clock = manualClock(Date.now() + 60_000);
  const principal: Principal = {
    kind: 'account',
    accountId: 'usr_1',
    scope: 'read',
    via: 'session',
    credentialId: 'session',
  };
  const { app } = createApi({
    info: { title: 'Test', version: '1', description: '' },
    endpoints: systemEndpoints({
      store,
      clock,
      source,
      ledger: createLedger(),
      workers: () => [],
      subscriptions: [subscription],
      isOperator: () => false,
    }),
    guards: unguarded,
    errors: [],
    authenticate: async () => principal,
    clock: systemClock,
    log,
    ids: createIds({ clock: systemClock }),
    idempotency: createMemoryIdempotency({ clock: systemClock }),
  });
  const look = async () => {
    await clock.advance(3_000); // what was told a moment ago is told again
    const response = await app.request('/v1/system/status', { headers: { authorization: 'Bearer one' } });
    return ((await response.json()) as { streams: unknown[] }).streams[0];
  };

  await store.put(note, { id: 'a' });
  const waiting = { consumer: 'slow', table: 'notes', caught_up: false };
  await expect.poll(look).toMatchObject({ ...waiting, lag_ms: expect.toSatisfy(ms => ms > 59_000) });
  release();
  await expect
    .poll(look)
    .toEqual({ consumer: 'slow', table: 'notes', lag_ms: 0, caught_up: true, set_aside: false });
  stopping.abort();
  await running;
});

test('units are summed by table', () => {
  const entry = (table: string, pattern: string, readUnits: number, writeUnits: number) => ({
    table,
    pattern,
    calls: 2,
    readUnits,
    writeUnits,
  });
  const entries = [entry('b', 'one', 1.5, 0), entry('a', 'two', 0, 4), entry('b', 'three', 2, 1)];
  expect(sumCapacity(entries, 0)).toEqual({
    since: '1970-01-01T00:00:00.000Z',
    read_units: 3.5,
    write_units: 5,
    tables: [
      { table: 'a', calls: 2, read_units: 0, write_units: 4 },
      { table: 'b', calls: 4, read_units: 3.5, write_units: 1 },
    ],
  });
});
