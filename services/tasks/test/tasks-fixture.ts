import { createEngine, createHttpServer, type Engine } from '@stak/engine';
import {
  createApi,
  createMemoryIdempotency,
  createMemoryRateLimits,
  type IdempotencyStore,
  type Principal,
  unguarded,
  withProblems,
} from '@stak/http';
import {
  type Clock,
  createIds,
  createKeyedLock,
  createLogger,
  defineErrors,
  type ManualClock,
  manualClock,
  seededRandom,
  systemClock,
} from '@stak/kit';
import { createConsumer, createFollower, engineSource, streamsTable } from '@stak/streams';
import {
  createCursors,
  createLedger,
  createStore,
  createTables,
  type DynamoClient,
  tableErrors,
} from '@stak/table';
import { awsClient } from '@stak/table/aws';
import { vi } from 'vitest';
import type { CommitDeps } from '../src/edit/commit.ts';
import { createTasks, type DescribeOwner, type Remind, todoAppData, type WireTask } from '../src/index.ts';

export const silent = createLogger({ level: 'silent' });

const closed = defineErrors({ 'test.closed': 403 });

// A store that time cannot outrun: tests move the clock by hand, waits inside the store are real ones.
export type Backend = {
  engine: Engine;
  client: DynamoClient;
  clock: ManualClock;
  // Waits inside the store take no time at all, so that what happens follows from the seed alone. For a store that fails
  // now and then: one that is really busy would be asked again at once.
  isRestless?: boolean;
  close(): Promise<void>;
};

const restless: Pick<Clock, 'sleep' | 'after'> = {
  sleep: async () => void (await new Promise(setImmediate)),
  after: (_, act) => {
    const waiting = setImmediate(act);
    return () => clearImmediate(waiting);
  },
};

export async function embedded(): Promise<Backend> {
  const clock = manualClock();
  const engine = await createEngine({ path: ':memory:', clock, sweepIntervalMs: 0 });
  await createTables(engine, [todoAppData, streamsTable], { clock: systemClock });
  return { engine, client: engine.client, clock, close: () => engine.close() };
}

export async function overTheSdk(): Promise<Backend> {
  const { engine, clock } = await embedded();
  const server = createHttpServer(engine, { port: 0 });
  const { url } = await server.listen();
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const client = awsClient({ region: 'us-east-1', endpoint: url, credentials });
  const close = async () => {
    client.close();
    await server.close();
    await engine.close();
  };
  return { engine, client, clock, close };
}

const principals: Readonly<Record<string, Principal>> = {
  ann: { kind: 'account', accountId: 'usr_ann', scope: 'admin', via: 'api_key', credentialId: 'k1' },
  bob: { kind: 'account', accountId: 'usr_bob', scope: 'admin', via: 'session', credentialId: 's1' },
  reader: { kind: 'account', accountId: 'usr_ann', scope: 'read', via: 'api_key', credentialId: 'k2' },
  endUser: { kind: 'endUser', tenantId: 'acme', userId: 'u#1', scope: 'write' },
  suspended: { kind: 'endUser', tenantId: 'closed', userId: 'u1', scope: 'write' },
};

export type Call = RequestInit & { as?: string; send?: unknown; etag?: string; key?: string };
export type Fixture = Awaited<ReturnType<typeof openTasks>>;

export async function openTasks(
  given: Partial<Backend> & {
    remind?: Remind;
    wrap?: (client: DynamoClient) => DynamoClient;
    describeOwner?: DescribeOwner;
    idempotency?: IdempotencyStore;
    seed?: number; // of a second process over the same tables
  } = {},
) {
  const backend = given.engine ? (given as Backend) : await embedded();
  const { engine, clock } = backend;
  const client = given.wrap ? given.wrap(backend.client) : backend.client;
  const random = seededRandom(given.seed ?? 7);
  const ledger = createLedger();
  const cursors = createCursors('a secret');
  // A caller that lost a race waits a few milliseconds of real time, not of the test's clock.
  const short = backend.isRestless ? restless : systemClock;
  const waiting: Clock = {
    now: () => clock.now(),
    sleep: (ms, signal) => (ms < 1000 ? short : clock).sleep(ms, signal),
    after: (ms, act) => (ms < 1000 ? short : clock).after(ms, act),
  };
  const store = createStore({ client, clock: waiting, random, ledger, cursors });
  const ids = createIds({ clock, random });
  const remind: Remind = given.remind ?? (async () => {});
  const tasks = createTasks({
    store,
    clock: waiting,
    ids,
    log: silent,
    random,
    cursors,
    remind,
    isTenantActive: async tenantId => tenantId !== 'closed',
    publicUrl: 'https://api.example',
    describeOwner: given.describeOwner,
  });
  const api = createApi({
    info: { title: 'Tasks', version: '1' },
    endpoints: withProblems(tasks.api, ['test.closed', 'table.busy', 'table.transaction_failed']),
    guards: {
      ...unguarded,
      enterTenant: async (principal, tenant_id) => {
        const isForeign = principal.kind === 'account' && principal.accountId !== 'usr_ann';
        if (isForeign || tenant_id === 'closed') throw closed.create('test.closed', 'This tenant is closed');
        return { tenant_id, account_id: `tenant:${tenant_id}` };
      },
    },
    errors: [tasks.errors, closed, tableErrors],
    authenticate: async ({ token }) => principals[token],
    clock,
    log: silent,
    idempotency: given.idempotency ?? createMemoryIdempotency({ clock }),
    rateLimits: {
      store: createMemoryRateLimits(),
      perPrincipal: { name: 'principal', limit: 1e6, windowMs: 1000 },
    },
  });

  const call = async (method: string, path: string, { as = 'ann', send, etag, key, ...init }: Call = {}) => {
    const headers = new Headers(init.headers);
    if (as !== 'nobody') headers.set('Authorization', `Bearer ${as}`);
    if (etag) headers.set('If-Match', etag);
    if (key) headers.set('Idempotency-Key', key);
    if (send !== undefined) headers.set('Content-Type', 'application/json');
    const body = send === undefined ? {} : { body: JSON.stringify(send) };
    return api.app.request(path, { ...init, method, headers, ...body }, { remoteAddress: '203.0.113.7' });
  };
  // The answer's body, if it is a success.
  const ok = async <T = WireTask>(method: string, path: string, options: Call = {}): Promise<T> => {
    const response = await call(method, path, options);
    const body = response.status === 204 ? undefined : await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(body)}`);
    return body as T;
  };
  const create = (task: object, options: Call = {}): Promise<WireTask> =>
    ok('POST', '/v1/tasks', { ...options, send: task });

  // For operations that are called without a request.
  const writing: CommitDeps = { store, clock: waiting, ids, random, lock: createKeyedLock() };
  return { ...backend, store, ledger, cursors, ids, tasks, api, call, ok, create, random, engine, writing };
}

// Runs the service's consumers and followers, as a server does, until the returned function is called.
export function startConsumers({ engine, client, tasks }: Fixture) {
  const stopping = new AbortController();
  const source = engineSource(engine);
  const deps = { source, log: silent, clock: systemClock };
  const workers = [
    ...tasks.subscriptions.map(subscription => createConsumer({ subscription, client, ...deps })),
    ...tasks.followers.map(follower => createFollower(follower, deps)),
  ];
  const running = workers.map(worker => worker.run(stopping.signal));
  return async () => {
    stopping.abort();
    await Promise.allSettled(running);
  };
}

// Waits for what the stream brings about: milliseconds on a quiet machine.
export const eventually = (check: () => Promise<boolean> | boolean): Promise<boolean> =>
  vi.waitUntil(check, { timeout: 20_000, interval: 5 });
