import { type ManualClock, manualClock, manualOwners } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import { expect, it } from 'vitest';
import { attemptDelivery } from '../src/delivery/attempt.ts';
import { createBacklogs, runBacklog } from '../src/delivery/backlog.ts';
import { isFirstInOrder } from '../src/delivery/order.ts';
import { claimDelivery, holdDelivery, releaseDelivery } from '../src/delivery/queue.ts';
import { writeResult } from '../src/delivery/result.ts';
import { createPlanLimiter } from '../src/ingest/ingest.ts';
import * as limits from '../src/limits.ts';
import { backlog, type Delivery, delivery, orderEntry } from '../src/tables.ts';
import { answer, openDestination } from './destination.ts';
import { generous, openTables, openWebhooks, startWebhooks, until, untilLater } from './webhooks-fixture.ts';

// What a worker may do to a delivery or a backlog that another one has, or changes at the same moment: nothing.

const connectionId = 'conn_1';
const of = { connectionId, sourceId: 'src_1', userId: 'usr_ann' };
const signal = new AbortController().signal;

async function openQueue(wrap = (client: DynamoClient) => client) {
  const clock = manualClock();
  const { client } = await openTables('embedded', clock);
  const store = createStore({ client: wrap(client), clock });
  const dueShards = { of: () => 's0', all: () => ['s0'] };
  const deps = { store, clock, dueShards } as never;
  const made = (eventId: string, more: Partial<Delivery> = {}) => ({
    eventId,
    connectionId,
    run: 0,
    sourceId: of.sourceId,
    userId: of.userId,
    receivedAt: clock.now(),
    state: 'pending' as const,
    attempts: 0,
    dueIn: 's0',
    dueAt: clock.now(),
    expiresAt: Math.ceil(clock.now() / 1000) + 86_400,
    ...more,
  });
  const put = (eventId: string, more?: Partial<Delivery>) => store.put(delivery, made(eventId, more));
  const readBacklog = () => store.get(backlog, { connectionId }, { consistent: true });
  return { clock, store, deps, put, readBacklog };
}

type Look = () => Promise<void>;

// Workers that look at the connection before they go on, and what they hand to the dispatcher.
function workers({ store, clock, deps }: Awaited<ReturnType<typeof openQueue>>, connection: object) {
  const offered: string[] = [];
  const run = (owner: string, look: Look = async () => {}) =>
    runBacklog(
      {
        ...(deps as object),
        store,
        clock: clock as ManualClock,
        sourceCache: {
          async getFresh() {
            await look();
            return { source: { status: 'active' }, connections: [{ ...of, ...connection }] };
          },
          invalidate() {},
        },
        dispatcher: {
          offer: ({ eventId }: { eventId: string }) => offered.push(eventId),
          waiting: () => 0,
          isSlow: () => true,
        },
      } as never,
      connectionId,
      owner,
      signal,
    );
  return { offered, run };
}

it('a delivery that is leased is neither released nor held by others', async () => {
  const { clock, store, deps, put } = await openQueue();
  await put('evt_1');
  const ref = { eventId: 'evt_1', connectionId, run: 0 };
  const leased = await claimDelivery(deps, ref, 'worker', clock.now());
  expect(leased).toMatchObject({ owner: 'worker' });
  expect(await releaseDelivery(deps, ref, clock.now())).toBeUndefined();
  expect(await holdDelivery(store, ref, clock.now())).toBeUndefined();
  expect(await store.get(delivery, ref, { consistent: true })).toEqual(leased);
});

it('a probe is one delivery, however many workers look at the backlog', async () => {
  const queue = await openQueue();
  for (const id of ['evt_1', 'evt_2', 'evt_3']) await queue.put(id, { dueIn: connectionId });
  await queue.store.put(backlog, { ...of, dueIn: 's0', dueAt: queue.clock.now() });
  const { offered, run } = workers(queue, { status: 'active', breaker: 'open' });
  await Promise.all(['a', 'b', 'c'].map(owner => run(owner)));
  await run('late'); // an index showed it that the backlog was due
  expect(offered).toEqual(['evt_1']);
  expect((await queue.readBacklog())!.dueAt).toBe(queue.clock.now() + limits.breakerFirstMs);
});

it('a backlog that another worker has taken over is not moved by the one before', async () => {
  const queue = await openQueue();
  const { clock, store } = queue;
  await store.put(backlog, { ...of, dueIn: 's0', dueAt: clock.now() });
  const { run } = workers(queue, { status: 'active', breaker: 'half' });
  let taken: unknown;
  await run('slow', async () => {
    clock.set(clock.now() + limits.leaseMs);
    const set = { owner: 'other', dueIn: 's0', dueAt: clock.now() + limits.leaseMs };
    taken = await store.update(backlog, { connectionId }, { set });
  });
  expect(await queue.readBacklog()).toEqual(taken);
});

it('a backlog stays while a delivery may be put into it', async () => {
  const queue = await openQueue();
  const { clock, store, deps } = queue;
  await store.put(backlog, { ...of, dueIn: 's0', dueAt: clock.now() });
  // The backlog of a paused connection is given up, unless it has just been marked as not empty.
  const paused = workers(queue, { status: 'paused', breaker: 'closed' });
  await paused.run('a', () => createBacklogs(deps).ensureScheduled(of));
  expect(await queue.readBacklog()).toMatchObject({ dueIn: 's0', dueAt: expect.any(Number) });

  // An empty one waits for processes that still take the connection for paused.
  clock.set((await queue.readBacklog())!.dueAt!);
  const active = workers(queue, { status: 'active', breaker: 'closed' });
  await active.run('b');
  const emptyAt = clock.now();
  expect(await queue.readBacklog()).toMatchObject({ emptyAt });
  for (let left = 100; clock.now() < emptyAt + limits.settledMs; left--) {
    expect(left).toBeGreaterThan(0);
    expect(await queue.readBacklog()).toBeDefined();
    clock.set((await queue.readBacklog())!.dueAt!);
    await active.run('b');
  }
  expect(await queue.readBacklog()).toBeUndefined();
});

it('a delivery does not wait in its order for one that has just ended', async () => {
  let interrupt: (() => Promise<unknown>) | undefined;
  const queue = await openQueue(client => ({
    ...client,
    async transactWrite(input) {
      const act = interrupt;
      interrupt = undefined;
      await act?.();
      return client.transactWrite(input);
    },
  }));
  const { clock, store, deps, put } = queue;
  const expiresAt = Math.ceil(clock.now() / 1000) + 86_400;
  for (const [eventId, queueId] of [
    ['evt_1', 'q1'],
    ['evt_2', 'q2'],
  ] as const) {
    await put(eventId, { queueId });
    await store.put(orderEntry, { connectionId, queueId, eventId, run: 0, expiresAt });
  }
  const claimed = await claimDelivery(deps, { eventId: 'evt_2', connectionId, run: 0 }, 'w', clock.now());
  interrupt = () => store.delete(orderEntry, { connectionId, queueId: 'q1' });
  expect(await isFirstInOrder(deps, claimed!)).toBe(true);
});

it('a month counts what this process has accepted, also when the stored count is behind', async () => {
  const clock = manualClock();
  const limiter = createPlanLimiter({
    clock,
    log: { warn() {} },
    planOf: async () => ({ ...generous, eventsPerMonth: 5 }),
    usageOf: async () => ({ events: 0, since: '2026-01-01' }),
  } as never);
  for (let n = 0; n < 5; n++) {
    await limiter.takeEvent('usr_ann');
    await clock.advance(limits.planMs); // the plan is read again
  }
  await expect(limiter.takeEvent('usr_ann')).rejects.toMatchObject({ code: 'webhooks.quota_exceeded' });
});

it('long ids of a provider differ as a whole', async () => {
  const hooks = await openWebhooks();
  const sourceId = await hooks.source({ dedupeHeader: 'X-Id' });
  const start = 'x'.repeat(limits.dedupeIdChars);
  const send = (id: string) => hooks.send(sourceId, '{}', { 'X-Id': id });
  const first = await send(`${start}1`);
  expect(await send(`${start}1`)).toBe(first);
  expect(await send(`${start}2`)).not.toBe(first);
});

it('a request that was never sent uses no attempt', async () => {
  const reasons = ['busy', 'aborted', 'closed'];
  let asked = 0;
  const hooks = await openWebhooks({
    outbound: {
      check: () => undefined,
      async close() {},
      async send() {
        const reason = reasons[asked++];
        const common = { latencyMs: 1, headers: [], body: new Uint8Array() };
        if (reason) return { ok: false, reason, message: 'not sent', latencyMs: 0 } as never;
        return { ok: true, status: 200, truncated: false, address: '127.0.0.1', ...common } as never;
      },
    },
  });
  const sourceId = await hooks.source();
  const retryConfig = { delaysS: [] };
  const to = await hooks.connect(sourceId, 'https://hooks.example/a', { retryConfig });
  const eventId = await hooks.send(sourceId);
  const read = () => hooks.store.get(delivery, { eventId, connectionId: to, run: 0 }, { consistent: true });
  await untilLater(hooks.clock, async () => (await read())!.state === 'delivered');
  expect(await read()).toMatchObject({ attempts: 1 });
  expect(asked).toBe(reasons.length + 1);
});

it('a delivery whose rules leave too little of its lease, or that others may have taken over, is not sent', async () => {
  const { clock, deps } = await openQueue();
  const body = new Uint8Array();
  let rulesMs = 0;
  let aliveMs = Infinity;
  let sent = 0;
  const attempt = async () => {
    const run = async () => {
      clock.set(clock.now() + rulesMs);
      return { ok: true, transformed: { ok: true, dropped: false, body } };
    };
    const send = async () => {
      sent += 1;
      return { ok: false, reason: 'busy', message: 'not sent', latencyMs: 0 };
    };
    return attemptDelivery(
      {
        ...(deps as object),
        rules: { run },
        owners: { aliveUntilMs: () => clock.now() + aliveMs },
        outbound: { send },
        secrets: { open: () => [] },
        answerWatch: { mark() {}, now: () => 0, lookedMs: () => 0 },
      } as never,
      { eventId: 'evt_1', connectionId, run: 0, attempts: 0, dueAt: clock.now() + limits.leaseMs } as never,
      { ...of, destinationUrl: 'https://hooks.example/a' } as never,
      { method: 'POST', query: '', headers: [], body } as never,
      { signal, onAnswer() {} },
    );
  };
  await attempt();
  aliveMs = 0; // as after the process stood still
  expect(await attempt()).toEqual({});
  expect(sent).toBe(1);
  aliveMs = Infinity;
  rulesMs = limits.leaseMs - limits.leaseSpareMs + 1;
  expect(await attempt()).toEqual({});
  expect(sent).toBe(1);
});

it('what a living process delivers stays with it when another one dies', async () => {
  const owners = manualOwners();
  const first = await openWebhooks({ owners: owners.as('first') });
  const { clock, engine } = first;
  const destination = await openDestination(() => {}); // hangs
  const sourceId = await first.source();
  await first.connect(sourceId, destination.url);
  const eventId = await first.send(sourceId);
  await until(() => destination.hits.length === 1);
  const second = await startWebhooks({ clock, owners: owners.as('second') }, engine.client, engine);
  owners.end('third');
  // The second one has looked for what the third one left: it delivers what comes now.
  const other = await second.source();
  const quick = await openDestination();
  await second.connect(other, quick.url);
  const later = await second.send(other);
  await untilLater(clock, async () => (await second.read(`/v1/events/${later}`)).status === 'delivered');
  await clock.advance(5_000);
  expect(destination.hits).toHaveLength(1);
  expect((await second.read(`/v1/events/${eventId}`)).status).not.toBe('delivered');
});

it('a job replays no event of another account, whose id it was given', async () => {
  const hooks = await openWebhooks();
  const destination = await openDestination();
  const theirs = await hooks.source();
  const eventId = await hooks.send(theirs);
  const as = 'bob';
  const { sourceId } = await hooks.post('/v1/sources', { name: 'Mine' }, as);
  const own = await hooks.send(sourceId);
  const made = { name: 'Mine', destinationUrl: destination.url };
  await hooks.post(`/v1/sources/${sourceId}/connections`, made, as);
  const { jobId } = await hooks.post(`/v1/sources/${sourceId}/jobs`, { eventIds: [eventId, own] }, as);
  const read = () => hooks.read(`/v1/webhook-jobs/${jobId}`, { as });
  await untilLater(hooks.clock, async () => (await read()).state === 'done');
  expect(await read()).toMatchObject({ matched: 1 });
  await untilLater(hooks.clock, () => destination.hits.length > 0);
  await hooks.clock.advance(5_000);
  expect(destination.hits.map(({ headers }) => headers['webhook-id'])).toEqual([own]);
});

it('what was delivered stays delivered, whatever a worker says that was late', async () => {
  const hooks = await openWebhooks();
  const { store, clock } = hooks;
  const destination = await openDestination();
  const sourceId = await hooks.source();
  const to = await hooks.connect(sourceId, destination.url);
  const eventId = await hooks.send(sourceId);
  const status = async () => (await hooks.read(`/v1/events/${eventId}`)).status;
  await until(async () => (await status()) === 'delivered');
  const key = { eventId, connectionId: to, run: 0 };
  const read = () => store.get(delivery, key, { consistent: true });
  await until(async () => (await read())!.state === 'delivered');
  await hooks.stop();
  const deps = { ...hooks, dueShards: { of: () => 's0', all: () => ['s0'] } } as never;
  const attempt = {
    destinationUrl: destination.url,
    statusCode: 500,
    latencyMs: 1,
    attemptedAt: clock.now(),
  };
  // The first worker wrote the event, and lost its lease before it wrote the delivery.
  const claim = () => {
    const due = { owner: 'late', dueIn: 's0', dueAt: clock.now() + 1000 };
    const set = { state: 'pending' as const, eventVersion: 1, ...due };
    return store.update(delivery, key, { set, remove: ['finishedAt'] });
  };
  await writeResult(deps, await claim(), { state: 'cancelled' });
  expect(await status()).toBe('delivered');
  const late = { state: 'retrying' as const, attempt, error: 'It answered 500', nextAt: clock.now() + 5000 };
  await writeResult(deps, await claim(), late);
  expect([await status(), (await read())!.state]).toEqual(['delivered', 'delivered']);
});

it('a delivery that a worker has just claimed is not made due by a replay', async () => {
  let interrupt: (() => Promise<unknown>) | undefined;
  const act = async () => {
    const claim = interrupt;
    interrupt = undefined;
    await claim?.();
  };
  const hooks = await openWebhooks({
    wrap: client => ({
      ...client,
      update: input => act().then(() => client.update(input)),
      transactWrite: input => act().then(() => client.transactWrite(input)),
    }),
  });
  const { store, clock } = hooks;
  const sourceId = await hooks.source();
  const { url } = await openDestination(answer(500));
  const to = await hooks.connect(sourceId, url, { retryConfig: { delaysS: [3600] } });
  const eventId = await hooks.send(sourceId);
  const key = { eventId, connectionId: to, run: 0 };
  const read = () => store.get(delivery, key, { consistent: true });
  await until(async () => (await read())!.state === 'retrying');
  await hooks.stop();
  let leased: Delivery | undefined;
  interrupt = async () => {
    const set = { owner: 'other', dueIn: 's0', dueAt: clock.now() + limits.leaseMs };
    leased = await store.update(delivery, key, { set });
  };
  await hooks.webhooks.operations.replay('usr_ann', eventId, 'again', 'turn_1');
  expect(leased).toMatchObject({ owner: 'other' });
  expect(await read()).toEqual(leased);
});
