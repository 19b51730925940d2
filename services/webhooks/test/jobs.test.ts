import { manualClock, manualOwners } from '@stak/kit';
import type { DynamoClient } from '@stak/table';
import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { job, jobsOfUser } from '../src/tables.ts';
import { openDestination } from './destination.ts';
import { type Fixture, leap, openWebhooks, until, untilLater } from './webhooks-fixture.ts';

// Reads of the events of one source wait until they are let through.
async function openHeld() {
  let held: { sourceId: string; opened: Promise<void> } | undefined;
  const wrap = (client: DynamoClient): DynamoClient => ({
    ...client,
    async query(input) {
      if (held && JSON.stringify(input).includes(`SRC#${held.sourceId}#`)) await held.opened;
      return client.query(input);
    },
  });
  const hooks = await openWebhooks({ wrap });
  const hold = (sourceId: string): (() => void) => {
    let open = () => {};
    held = { sourceId, opened: new Promise<void>(resolve => (open = resolve)) };
    return open;
  };
  return { hooks, hold };
}

const putJob = ({ store, clock }: Fixture, userId: string, sourceId: string) => {
  const of = { userId, jobId: `job_of_${userId}`, sourceId, action: 'cancel' as const };
  const due = { dueIn: 's0', dueAt: clock.now(), createdAt: clock.now() };
  const none = { matched: 0, deliveries: 0, failures: 0 };
  return store.put(job, { ...of, ...due, ...none, state: 'running', expiresAt: 2_000_000_000 });
};
const putOwned = async (hooks: Fixture, owner: string, failures: number) => {
  const made = await putJob(hooks, `usr_${owner.slice(-4)}`, 'src_0');
  return hooks.store.put(job, { ...made, owner, failures, dueAt: hooks.clock.now() + limits.leaseMs });
};
const jobsOf = async ({ store }: Fixture, userId: string) =>
  (await store.query(jobsOfUser, { userId })).items;
const isDone = async (hooks: Fixture, userId: string) =>
  (await jobsOf(hooks, userId)).every(one => one.state === 'done');

describe('long jobs', () => {
  const many = Array.from({ length: limits.backgroundRuns.job }, (_, n) => `usr_${n}`);

  it('do not keep events from connections that were created meanwhile', async () => {
    const { hooks, hold } = await openHeld();
    const long = await hooks.source();
    await hooks.send(long);
    const open = hold(long);
    for (const userId of many) await putJob(hooks, userId, long);
    await hooks.clock.advance(limits.scanMs);
    await hooks.connect(await hooks.source(), 'http://127.0.0.1:8099/');
    await untilLater(hooks.clock, () => isDone(hooks, 'usr_ann'));
    for (const userId of many) expect(await isDone(hooks, userId)).toBe(false);
    open();
  });

  it('let others run after a few seconds, and resume where they were', async () => {
    const { hooks, hold } = await openHeld();
    const long = await hooks.source();
    const events = 4 * limits.jobBatch;
    for (let n = 0; n < events; n++) await hooks.send(long);
    const open = hold(long);
    for (const userId of many) await putJob(hooks, userId, long);
    await hooks.clock.advance(limits.scanMs);
    await putJob(hooks, 'usr_late', await hooks.source());
    await hooks.clock.advance(limits.jobSliceMs);
    expect(await isDone(hooks, 'usr_late')).toBe(false);
    open();
    await until(() => isDone(hooks, 'usr_late'));
    expect((await jobsOf(hooks, many[0]!))[0]!.matched).toBeLessThan(events);
    for (const userId of many) {
      await untilLater(hooks.clock, () => isDone(hooks, userId));
      expect(await jobsOf(hooks, userId)).toMatchObject([{ matched: events }]);
    }
  });
});

describe('a job that reads bodies', () => {
  it('saves how far it is within its lease, however slow the store is', async () => {
    const readMs = 1_000;
    const clock = manualClock();
    let reads = 0;
    let mostReads = 0; // between two checkpoints
    const wrap = (client: DynamoClient): DynamoClient => ({
      ...client,
      get(input) {
        if (JSON.stringify(input.Key).includes('BODY#')) {
          clock.set(clock.now() + readMs);
          mostReads = Math.max(mostReads, ++reads);
        }
        return client.get(input);
      },
      update(input) {
        if (JSON.stringify(input.Key).includes('JOB#')) reads = 0;
        return client.update(input);
      },
    });
    const hooks = await openWebhooks({ wrap, clock });
    const sourceId = await hooks.source();
    const events = 60;
    for (let n = 0; n < events; n++) await hooks.send(sourceId, n % 20 === 0 ? 'needle' : 'hay');
    await hooks.post(`/v1/sources/${sourceId}/jobs`, { q: 'needle' });
    await untilLater(clock, () => isDone(hooks, 'usr_ann'));
    expect(await jobsOf(hooks, 'usr_ann')).toMatchObject([{ matched: events / 20 }]);
    expect(mostReads * readMs).toBeLessThanOrEqual(limits.jobSliceMs);
  });
});

describe('a job that cannot continue', () => {
  it('waits for an unavailable store, however long, and continues', async () => {
    let isAway = false;
    const away = () => Object.assign(new Error('the store is away'), { name: 'StoreMovedException' });
    const wrap = (client: DynamoClient): DynamoClient => ({
      ...client,
      get: input =>
        isAway && input.TableName === 'ferryhook-main' ? Promise.reject(away()) : client.get(input),
    });
    const hooks = await openWebhooks({ wrap });
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const eventId = await hooks.send(sourceId); // just before the connection: so its jobs look at it
    await hooks.connect(sourceId, destination.url);
    isAway = true;
    for (let n = 0; n < 2 * limits.jobAttempts; n++) await leap(hooks.clock, limits.leaseMs);
    expect((await jobsOf(hooks, 'usr_ann')).map(({ state, failures }) => [state, failures])).toEqual(
      Array(3).fill(['running', 0]),
    );
    isAway = false;
    await untilLater(hooks.clock, () => isDone(hooks, 'usr_ann'));
    await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'delivered');
  });

  it('fails when its processes have died too often, but not because one of them is slow', async () => {
    const owners = manualOwners();
    const hooks = await openWebhooks({ owners: owners.as('this') });
    await putOwned(hooks, '1@dead', limits.jobAttempts - 1);
    await putOwned(hooks, '1@slow', limits.jobAttempts - 1);
    owners.end('dead');
    await until(async () => (await jobsOf(hooks, 'usr_dead'))[0]!.state === 'failed');
    await untilLater(hooks.clock, () => isDone(hooks, 'usr_slow'));
  });

  it('fails when it has met the same error too often', async () => {
    const broken = (client: DynamoClient): DynamoClient => ({
      ...client,
      query: input =>
        JSON.stringify(input).includes('SRC#src_0#')
          ? Promise.reject(new Error('broken'))
          : client.query(input),
    });
    const hooks = await openWebhooks({ wrap: broken });
    await putJob(hooks, 'usr_bob', 'src_0');
    const failures = async () => (await jobsOf(hooks, 'usr_bob'))[0]!.failures;
    for (let n = 1; n <= limits.jobAttempts; n++) {
      await leap(hooks.clock, limits.leaseMs);
      await until(async () => (await failures()) === n);
    }
    await leap(hooks.clock, limits.leaseMs);
    await until(async () => (await jobsOf(hooks, 'usr_bob'))[0]!.state === 'failed');
  });
});

describe('jobs of an account', () => {
  it('are limited in number, even with concurrent requests', async () => {
    const { hooks, hold } = await openHeld();
    const sourceId = await hooks.source();
    const open = hold(sourceId);
    const make = () => hooks.call(`/v1/sources/${sourceId}/jobs`, { method: 'POST', send: {} });
    const made = await Promise.all(Array.from({ length: 3 * limits.jobsPerUser }, make));
    const statuses = made.map(({ status }) => status).sort();
    expect(statuses.filter(status => status === 202)).toHaveLength(limits.jobsPerUser);
    expect(new Set(statuses)).toEqual(new Set([202, 409]));
    open();
  });

  it('stay cancelled, even if their worker continues', async () => {
    const { hooks, hold } = await openHeld();
    const sourceId = await hooks.source();
    await hooks.send(sourceId);
    const open = hold(sourceId);
    const { jobId } = await hooks.post(`/v1/sources/${sourceId}/jobs`, {});
    await until(async () => (await jobsOf(hooks, 'usr_ann'))[0]!.owner !== undefined);
    await hooks.read(`/v1/webhook-jobs/${jobId}/cancel`, { method: 'POST' });
    open();
    await hooks.clock.advance(2 * limits.scanMs);
    expect(await jobsOf(hooks, 'usr_ann')).toMatchObject([{ state: 'cancelled' }]);
    expect((await jobsOf(hooks, 'usr_ann'))[0]!.dueIn).toBeUndefined();
  });
});

describe('the search for events that a new connection missed', () => {
  it('is kept until it is done, however long that takes, and for a short time after', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    await hooks.stop();
    await hooks.connect(await hooks.source(), destination.url);
    const expiries = async () =>
      (await jobsOf(hooks, 'usr_ann')).map(({ expiresAt }) => expiresAt - hooks.clock.now() / 1000);
    for (const leftS of await expiries()) expect(leftS).toBeGreaterThan(7 * 86_400);
    hooks.restart();
    await untilLater(hooks.clock, () => isDone(hooks, 'usr_ann'));
    for (const leftS of await expiries()) expect(leftS).toBeLessThanOrEqual(limits.catchUpS);
  });
});

describe('connections of a source', () => {
  it('are limited in number, even with concurrent requests', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const make = () => {
      const send = { name: 'x', destinationUrl: 'http://127.0.0.1:8099/', ordered: true };
      return hooks.call(`/v1/sources/${sourceId}/connections`, { method: 'POST', send });
    };
    const made = await Promise.all(Array.from({ length: limits.connectionsPerSource + 15 }, make));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(limits.connectionsPerSource);
    expect(await hooks.webhooks.connections.listBySource(sourceId)).toHaveLength(limits.connectionsPerSource);
    await hooks.send(sourceId);
  });
});

it('that catch up skip what was delivered meanwhile', async () => {
  let open = () => {};
  const held = new Promise<void>(resolve => (open = resolve));
  let isCaughtUp = false;
  const wrap = (client: DynamoClient): DynamoClient => ({
    ...client,
    async transactWrite(input) {
      const text = JSON.stringify(input);
      if (!isCaughtUp && text.includes('catchup_') && !text.includes('JOBS#')) {
        isCaughtUp = true;
        await held;
      }
      return client.transactWrite(input);
    },
  });
  const hooks = await openWebhooks({ wrap });
  const destination = await openDestination();
  const sourceId = await hooks.source();
  const eventId = await hooks.send(sourceId);
  const connectionId = await hooks.connect(sourceId, destination.url);
  await untilLater(hooks.clock, () => isCaughtUp);
  await hooks.post(`/v1/events/${eventId}/replay`, { connectionIds: [connectionId] });
  await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'delivered');
  open();
  await untilLater(hooks.clock, () => isDone(hooks, 'usr_ann'));
  expect((await hooks.read(`/v1/events/${eventId}`)).deliveries).toHaveLength(1);
  expect(destination.hits).toHaveLength(1);
});
