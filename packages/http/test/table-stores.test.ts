import { createEngine, createHttpServer } from '@stak/engine';
import {
  type Clock,
  createSealer,
  manualClock,
  manualOwners,
  type Owners,
  seededRandom,
  systemClock,
} from '@stak/kit';
import { createLedger, createStore, createTables, type DynamoClient } from '@stak/table';
import { createAdversary } from '@stak/table/adversary';
import { awsClient } from '@stak/table/aws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTableStores, httpTable } from '../src/stores/table.ts';
import { testIdempotencyStore } from './idempotency-store-suite.ts';
import { testRateLimitStore } from './rate-limit-store-suite.ts';

const sealer = createSealer({ keys: [{ id: 'test', secret: 'a secret of this test' }] });

type Target = { client: DynamoClient; close(): Promise<void> };

async function openEngine(): Promise<Target> {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  await createTables(engine, [httpTable]);
  return { client: engine.client, close: () => engine.close() };
}

async function openOverHttp(): Promise<Target> {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  const server = createHttpServer(engine, { port: 0 });
  const { url } = await server.listen();
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const client = awsClient({ region: 'us-east-1', endpoint: url, credentials });
  await createTables(client, [httpTable]);
  return {
    client,
    async close() {
      client.close();
      await server.close();
      await engine.close();
    },
  };
}

describe.each([
  ['the embedded engine', openEngine],
  ['the AWS SDK', openOverHttp],
])('over %s', (_, open) => {
  let target: Target;
  let made = 0;
  beforeAll(async () => {
    target = await open();
  });
  afterAll(() => target.close());

  const openStores = (clock: Clock, owners?: Owners) =>
    createTableStores({ store: createStore({ client: target.client, clock }), clock, sealer, owners });

  // Every store of a suite begins empty: in one table, that is keys of its own.
  testIdempotencyStore(async clock => {
    const { idempotency } = openStores(clock);
    const prefix = `${made++}-`;
    return { begin: claim => idempotency.begin({ ...claim, key: prefix + claim.key }) };
  });

  testRateLimitStore(async processes => {
    const prefix = `${made++} `;
    return Array.from({ length: processes }, () => {
      const { rateLimits } = openStores(systemClock);
      return { take: (key, policy, nowMs) => rateLimits.take(prefix + key, policy, nowMs) };
    });
  });

  it('notifies every process of a revocation for a few seconds, also one whose clock differs', async () => {
    const [clock, ahead] = [manualClock(), manualClock()];
    ahead.set(clock.now() + 2000);
    const [one, other] = [openStores(clock).revocations, openStores(ahead).revocations];
    await one.announce({ account: 'usr_1' }, { tenant: 'acme' });
    await other.announce({ tenant: 'acme', user: 'ann b' });
    const subjects = ['["acme","ann b"]', 'account usr_1', 'tenant acme'];
    for (const process of [one, other]) {
      const notices = await process.recent();
      expect(notices.map(({ subject }) => subject).toSorted()).toEqual(subjects);
      expect(new Set(notices.map(({ id }) => id)).size).toBe(3);
    }
    await one.announce({ account: 'usr_1' }); // again, and told again
    expect(await other.recent()).toHaveLength(4);
    await clock.advance(15_000);
    expect(await one.recent()).toEqual([]);
  });

  it('notifies of a revocation whenever it is made, also just before others begin a new slot of time', async () => {
    const clock = manualClock();
    const { revocations } = openStores(clock);
    await clock.advance(60_000);
    for (let n = 0; n < 12; n++) {
      const account = `usr_${n}`;
      await revocations.announce({ account });
      for (let waited = 0; waited < 2_000; waited += 500) {
        const subjects = (await revocations.recent()).map(({ subject }) => subject);
        expect(subjects, `after ${waited} ms`).toContain(`account ${account}`);
        await clock.advance(500);
      }
      await clock.advance(700);
    }
  });

  it('releases the key of a dead process’s request at once, to one other request', async () => {
    const owners = manualOwners();
    const begin = (name: string) => {
      const { idempotency } = openStores(systemClock, owners.as(name));
      return idempotency.begin({ key: 'left', fingerprint: 'f', ttlMs: 10_000, leaseMs: 60_000 });
    };
    const dead = await begin('victim');
    expect(await begin('heir')).toEqual({ kind: 'in_flight' });
    owners.end('victim');
    const begun = await Promise.all([begin('heir'), begin('heir'), begin('other')]);
    expect(begun.map(({ kind }) => kind).toSorted()).toEqual(['in_flight', 'in_flight', 'started']);
    const body = Buffer.from('{}');
    for (const one of [dead, ...begun])
      if (one.kind === 'started')
        await one.attempt.finish({ status: one === dead ? 500 : 201, headers: [], body });
    expect(await begin('heir')).toMatchObject({ kind: 'replay', response: { status: 201 } });
    owners.end('heir');
    owners.end('other');
    expect((await begin('last')).kind).toBe('replay');
  });

  it('stores a response of the maximum size', async () => {
    const { idempotency } = openStores(systemClock);
    const claim = { key: 'large', fingerprint: 'f', ttlMs: 10_000, leaseMs: 10_000 };
    const begun = await idempotency.begin(claim);
    if (begun.kind !== 'started') throw new Error(begun.kind);
    const body = Uint8Array.from({ length: 280 * 1024 }, (_, i) => i * 31);
    const headers = [['location', `/${'x'.repeat(8000)}`]] as const;
    await begun.attempt.finish({ status: 201, headers, body });
    const again = await idempotency.begin(claim);
    if (again.kind !== 'replay') throw new Error(again.kind);
    expect(again.response).toMatchObject({ status: 201, headers });
    expect(Buffer.compare(again.response.body, body)).toBe(0);
  });

  it('stores no secret of a response in plain text', async () => {
    const { idempotency } = openStores(systemClock);
    const begun = await idempotency.begin({
      key: 'secret',
      fingerprint: 'f',
      ttlMs: 10_000,
      leaseMs: 10_000,
    });
    if (begun.kind !== 'started') throw new Error(begun.kind);
    const body = new TextEncoder().encode('{"signingSecret":"whsec_shown_once"}');
    await begun.attempt.finish({ status: 201, headers: [], body });
    const { Item } = await target.client.get({ TableName: httpTable.name, Key: { pk: 'key#secret' } });
    expect(Buffer.from(Item!.body).toString()).not.toContain('whsec');
  });

  it('costs one write for what passes, and nothing for what is refused or not shared', async () => {
    const ledger = createLedger();
    const store = createStore({ client: target.client, ledger });
    const { rateLimits } = createTableStores({ store, clock: systemClock, sealer });
    const policy = { name: 'login', limit: 5, windowMs: 60_000 };
    for (let i = 0; i < 20; i++) await rateLimits.take('cost', { ...policy, shared: true }, 1_000_000);
    for (let i = 0; i < 20; i++) await rateLimits.take('cost', policy, 1_000_000);
    expect(ledger.entries().map(entry => [entry.pattern, entry.calls])).toEqual([
      ['take from shared bucket', 5],
    ]);
  });
});

it('releases its key as soon as the store is available again', async () => {
  const { client, close } = await openEngine();
  let isThrottled = false;
  const throttled = createAdversary(client, { throttled: 1, random: () => (isThrottled ? 0 : 1) });
  const clock = manualClock();
  const patience = { now: clock.now, sleep: async () => {} };
  const { idempotency } = createTableStores({
    store: createStore({ client: throttled, clock: patience }),
    clock,
    sealer,
  });
  const claim = { key: 'released', fingerprint: 'same', ttlMs: 60_000, leaseMs: 60_000 };
  const begun = await idempotency.begin(claim);
  if (begun.kind !== 'started') throw new Error(begun.kind);
  isThrottled = true;
  await expect(begun.attempt.abandon()).rejects.toThrow('too busy');
  for (let i = 0; i < 50; i++) await new Promise(setImmediate); // the first try in the background fails as well
  isThrottled = false;
  expect((await idempotency.begin(claim)).kind).toBe('in_flight');
  await clock.advance(5000);
  expect(await idempotency.begin(claim)).toMatchObject({ kind: 'started', isRepeated: true });
  await close();
});

it('does not block itself when a response is lost', async () => {
  const { client, close } = await openEngine();
  const lossy = createAdversary(client, { lostAnswers: 0.4, lostRequests: 0.1, random: seededRandom(11) });
  const clock = { now: systemClock.now, sleep: (ms: number) => systemClock.sleep(ms / 100) };
  const store = createStore({ client: lossy, clock, random: seededRandom(12) });
  const { idempotency } = createTableStores({ store, clock: systemClock, sealer });
  for (let n = 0; n < 20; n++) {
    const claim = { key: `lossy-${n}`, fingerprint: 'same', ttlMs: 60_000, leaseMs: 60_000 };
    const begun = await idempotency.begin(claim);
    expect(begun.kind).toBe('started');
    expect((await idempotency.begin(claim)).kind).toBe('in_flight');
    if (begun.kind !== 'started') continue;
    await begun.attempt.finish({ status: 201, headers: [], body: new Uint8Array([n, 0, 255]) });
    const again = await idempotency.begin(claim);
    expect(again).toMatchObject({ kind: 'replay', response: { status: 201 } });
  }
  expect(lossy.counts.lostAnswers).toBeGreaterThan(10);
  await close();
});
