import { setImmediate, setTimeout } from 'node:timers/promises';
import { createUsage } from '@stak/accounts';
import { createEngine, createHttpServer } from '@stak/engine';
import { type ApiSettings, createApi, createMemoryIdempotency, type Principal, unguarded } from '@stak/http';
import {
  type Clock,
  createIds,
  createLogger,
  createSealer,
  type ManualClock,
  manualClock,
  superviseWorkers,
  systemClock,
  type Worker,
} from '@stak/kit';
import { createOutbound } from '@stak/outbound';
import { createCatchUp, engineSource, listShards, type UnknownChange } from '@stak/streams';
import { createCursors, createStore, createTables, type DynamoClient } from '@stak/table';
import { awsClient } from '@stak/table/aws';
import { onTestFinished } from 'vitest';
import {
  type AccountPlan,
  createWebhooks,
  ferryhookEvents,
  ferryhookMain,
  type WebhookDeps,
} from '../src/index.ts';
import * as limits from '../src/limits.ts';

const principals: Record<string, Principal> = {
  ann: { kind: 'account', accountId: 'usr_ann', scope: 'admin', via: 'session', credentialId: 's1' },
  bob: { kind: 'account', accountId: 'usr_bob', scope: 'admin', via: 'session', credentialId: 's2' },
};

export const generous: AccountPlan = {
  eventsPerMinute: 1_000_000,
  eventsPerMonth: 1_000_000,
  retentionSeconds: 7 * 86_400,
};

export type Fixture = Awaited<ReturnType<typeof openWebhooks>>;
// Tests know the type of a response; the compiler does not.
type Json = ReturnType<typeof JSON.parse>;
export type Call = RequestInit & { as?: string; send?: unknown };
type Settings = Partial<WebhookDeps> & {
  plan?: AccountPlan;
  over?: 'embedded' | 'sdk';
  counts?: boolean; // events are counted from the stream
  wrap?: (client: DynamoClient) => DynamoClient;
  api?: Partial<ApiSettings>;
};

export async function openTables(over: 'embedded' | 'sdk', clock: Clock) {
  const engine = await createEngine({ path: ':memory:', clock, sweepIntervalMs: 0, streamShards: 1 });
  onTestFinished(() => engine.close());
  await createTables(engine, [ferryhookMain, ferryhookEvents]);
  if (over === 'embedded') return { engine, client: engine.client as DynamoClient };
  const server = createHttpServer(engine, { port: 0 });
  const { url } = await server.listen();
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const client = awsClient({ region: 'us-east-1', endpoint: url, credentials });
  onTestFinished(async () => {
    client.close();
    await server.close();
  });
  return { engine, client: client as DynamoClient };
}

// The whole service behind its API, over a fresh engine, with a clock that a test moves.
export async function openWebhooks(settings: Settings = {}) {
  const clock = (settings.clock as ManualClock | undefined) ?? manualClock();
  const { engine, client } = await openTables(settings.over ?? 'embedded', clock);
  return startWebhooks({ ...settings, clock }, settings.wrap?.(client) ?? client, engine);
}

// One process of several over the same tables.
export async function startWebhooks(
  {
    plan = generous,
    over: _,
    wrap: _wrap,
    counts = false,
    api: more,
    ...change
  }: Settings & { clock: ManualClock },
  client: DynamoClient,
  engine: Awaited<ReturnType<typeof createEngine>>,
) {
  const { clock } = change;
  const lines: string[] = [];
  const log = createLogger({ clock, level: 'warn', destination: { write: line => void lines.push(line) } });
  const cursors = createCursors('a secret for cursors');
  // The store sleeps before it retries, and no test moves the manual clock meanwhile.
  const store = createStore({ client, clock: { now: clock.now, sleep: systemClock.sleep }, cursors });
  const outbound = createOutbound({ allow: ['127.0.0.0/8'], clock });
  const ids = createIds({ clock });
  const usage = createUsage({ store, clock, ids, log });
  const webhooks = createWebhooks({
    store,
    ids,
    log,
    random: () => 0,
    cursors,
    sealer: createSealer({ keys: [{ id: 'test', secret: 'a secret for sealing, long enough' }] }),
    outbound,
    planOf: async () => plan,
    usageOf: async userId => {
      const { usageThisMonth: events, usagePeriodStart: since } = await usage.read(userId);
      return { events, since };
    },
    usageStep: usage.addStep,
    publicUrl: 'https://hooks.example',
    ...(!('mayLoseAnswers' in client) && { changePosition: () => engine.streamPosition() }),
    ...change,
  });
  const api = createApi({
    info: { title: 'Webhooks', version: '1' },
    endpoints: webhooks.api,
    guards: unguarded,
    errors: [webhooks.errors],
    authenticate: async ({ token }) => principals[token],
    clock,
    log,
    idempotency: createMemoryIdempotency({ clock }),
    ...more,
  });
  const workers = [...webhooks.workers, ...(counts ? [countingWorker(webhooks, engine)] : [])];
  let supervisor = superviseWorkers(workers, { clock, log });
  const stop = async () => {
    const stopping = supervisor.stop();
    await during(clock, stopping);
  };
  onTestFinished(async () => {
    await stop();
    await during(clock, outbound.close());
    await webhooks.close();
  });

  const call = async (path: string, { as = 'ann', send, ...init }: Call = {}) => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${as}`);
    if (send !== undefined) headers.set('Content-Type', 'application/json');
    const body = send === undefined ? init.body : JSON.stringify(send);
    return api.app.request(path, { ...init, headers, body }, { remoteAddress: '203.0.113.7' });
  };
  const read = async (path: string, init?: Call): Promise<Json> => {
    const response = await call(path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  };
  const post = (path: string, send: unknown, as?: string) => read(path, { method: 'POST', send, as });
  const ingest = (sourceId: string, init: RequestInit = {}) =>
    api.app.request(
      `/in/${sourceId}`,
      { method: 'POST', body: '{"n":1}', ...init },
      { remoteAddress: '203.0.113.9' },
    );

  return {
    webhooks,
    api,
    engine,
    store,
    clock,
    lines,
    usage: async (userId: string) => (await usage.read(userId)).usageThisMonth,
    call,
    read,
    post,
    ingest,
    stop,
    restart() {
      supervisor = superviseWorkers(workers, { clock, log });
    },
    async source(settings: object = {}): Promise<string> {
      return (await post('/v1/sources', { name: 'A source', ...settings })).sourceId;
    },
    async connect(sourceId: string, destinationUrl: string, settings: object = {}): Promise<string> {
      const made = { name: 'A connection', destinationUrl, ...settings };
      return (await post(`/v1/sources/${sourceId}/connections`, made)).connectionId;
    },
    async send(
      sourceId: string,
      body: string | Uint8Array<ArrayBuffer> = '{"n":1}',
      headers: Record<string, string> = {},
    ): Promise<string> {
      const response = await ingest(sourceId, { body, headers });
      if (!response.ok) throw new Error(`ingest: ${response.status} ${await response.text()}`);
      return ((await response.json()) as { eventId: string }).eventId;
    },
  };
}

// Feeds the stream to the event counts without leases and checkpoints: a clock that leaps over days would renew those
// thousands of times.
function countingWorker(
  webhooks: ReturnType<typeof createWebhooks>,
  engine: Awaited<ReturnType<typeof createEngine>>,
): Worker {
  const { handleBatch, name } = webhooks.subscriptions.find(
    subscription => subscription.name === 'webhooks-counts',
  )!;
  return {
    name,
    async run(signal) {
      const source = engineSource(engine);
      const table = ferryhookEvents.name;
      const [shard] = await listShards(source, table);
      const reader = createCatchUp({ source, table }, new Map());
      while (!signal.aborted) {
        const since = source.position!();
        const changes: UnknownChange[] = [];
        await reader.read(change => changes.push(change));
        if (changes.length === 0)
          await source.waitForChange!(shard!.streamArn, signal, since).catch(() => {});
        else await handleBatch!(changes, { consumer: name, shardId: shard!.shardId, attempt: 1, signal });
      }
    },
  };
}

const patienceMs = 20_000; // of a busy machine

// Between two looks sockets, files and other threads go on: to look without a pause would take the processor from them,
// and a clock that is moved on meanwhile would let everything run that runs every second.
export const pause = () => setTimeout(1);

// Runs the event loop until it holds, without moving the clock.
export async function until(holds: () => unknown, what = 'it'): Promise<void> {
  const startedMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedMs > patienceMs) throw new Error(`${what} did not come about`);
    await pause();
  }
}

// The same, moving the clock.
export async function untilLater(clock: ManualClock, holds: () => unknown, stepMs = 1000): Promise<void> {
  const startedMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedMs > patienceMs) throw new Error('it did not come about');
    await pause();
    await clock.advance(stepMs);
  }
}

// Far ahead at once: in small steps, everything that runs every second would run very often.
export async function leap(clock: ManualClock, ms: number): Promise<void> {
  clock.set(clock.now() + ms);
  await clock.advance(2 * limits.scanMs);
}

async function during(clock: ManualClock, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await setImmediate();
    if (!isOver) await clock.advance(100);
  }
  await ended;
}
