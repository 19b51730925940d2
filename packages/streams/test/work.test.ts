import { seededRandom, systemClock } from '@stak/kit';
import { createStore } from '@stak/table';
import { createAdversary } from '@stak/table/adversary';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LeaseLostError } from '../src/errors.ts';
import { createDeadLetters } from '../src/work/dead-letters.ts';
import { createWorkStore } from '../src/work/work-store.ts';
import { type Fixture, openFixture } from './stream-fixture.ts';

// Leases, without a consumer around them.

let fixture: Fixture;

beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.engine.close());

const workStore = (owner: string) =>
  createWorkStore({ store: fixture.store, clock: fixture.clock, consumer: 'c', owner, leaseMs: 1000 });
const shard = { key: 'label/s1', streamArn: 'arn/label', shardId: 's1', parents: [], isOpen: true };

test('of many concurrent acquires, one gets the lease', async () => {
  const wanting = Array.from({ length: 20 }, (_, i) => workStore(`o${i}`).acquire(shard.key, shard));
  const leases = (await Promise.all(wanting)).filter(lease => lease !== undefined);
  expect(leases).toMatchObject([{ fence: 1, sequence: undefined }]);
});

test('a lease is taken over after its end and not before, together with the checkpoint', async () => {
  const [first, second] = [workStore('first'), workStore('second')];
  const lease = (await first.acquire(shard.key, shard))!;
  await first.checkpoint(lease, '100', 5);
  fixture.clock.set(fixture.clock.now() + 999);
  expect(await second.acquire(shard.key, shard)).toBeUndefined();
  await first.renew(lease);
  fixture.clock.set(fixture.clock.now() + 999);
  expect(await second.acquire(shard.key, shard)).toBeUndefined();
  fixture.clock.set(fixture.clock.now() + 1);
  expect(await second.acquire(shard.key, shard)).toMatchObject({ fence: 2, sequence: '100' });
});

test('a worker that has lost a lease writes nothing more about the shard', async () => {
  const [first, second] = [workStore('first'), workStore('second')];
  const old = Object.assign((await first.acquire(shard.key, shard))!, { shardId: 's1' });
  fixture.clock.set(fixture.clock.now() + 1000);
  const current = (await second.acquire(shard.key, shard))!;
  await second.checkpoint(current, '200', 5);

  const letters = createDeadLetters({ store: fixture.store, clock: fixture.clock, consumer: 'c' });
  const record = { eventID: 'e', dynamodb: { SequenceNumber: '1' } };
  for (const attempt of [
    () => first.renew(old),
    () => first.checkpoint(old, '100', 5),
    () => first.finish(old),
    () => first.release(old),
    () => letters.keep(first, old, record, new Error('late'), 1),
  ])
    await expect(attempt()).rejects.toBeInstanceOf(LeaseLostError);

  expect((await second.read()).works.get(shard.key)).toMatchObject({
    owner: 'second',
    fence: 2,
    sequence: '200',
  });
  for await (const letter of letters.list()) expect(letter).toBeUndefined();
});

test('a process cannot use its own earlier lease', async () => {
  const store = workStore('same');
  const old = (await store.acquire(shard.key, shard))!;
  await store.release(old);
  await expect(store.checkpoint(old, '100', 5)).rejects.toBeInstanceOf(LeaseLostError);
  await store.acquire(shard.key, shard);
  await expect(store.checkpoint(old, '100', 5)).rejects.toBeInstanceOf(LeaseLostError);
});

test('a finished shard is never taken again', async () => {
  const store = workStore('one');
  await store.finish((await store.acquire(shard.key, shard))!, '300');
  fixture.clock.set(fixture.clock.now() + 60_000);
  expect(await store.acquire(shard.key, shard)).toBeUndefined();
  expect((await store.read()).works.get(shard.key)).toMatchObject({ sequence: '300', owner: undefined });
});

test('only the first beginning counts', async () => {
  const begun = await Promise.all(
    [1, 2, 3].map(i =>
      workStore(`o${i}`).begin({ position: 'LATEST', table: 'notes', startedAt: i }, [`label/closed${i}`]),
    ),
  );
  expect(begun.filter(Boolean)).toHaveLength(1);
  const winner = begun.indexOf(true) + 1;
  expect(await workStore('x').readBeginning()).toMatchObject({ started_at: winner });
});

test('a lease is ours if the response was lost, and no other process gets it', async () => {
  const client = createAdversary(fixture.engine.client, {
    lostAnswers: 0.4,
    lostRequests: 0.1,
    random: seededRandom(5),
  });
  const clock = { now: fixture.clock.now, sleep: (ms: number) => systemClock.sleep(ms / 100) };
  const store = createStore({ client, clock, random: seededRandom(6) });
  for (let n = 0; n < 10; n++) {
    const works = ['a', 'b', 'c'].map(owner =>
      createWorkStore({ store, clock: fixture.clock, consumer: `lossy-${n}`, owner, leaseMs: 1000 }),
    );
    const began = await Promise.all(
      works.map((one, i) => one.begin({ position: 'LATEST', table: 'notes', startedAt: i }, [])),
    );
    expect(began.filter(Boolean)).toHaveLength(1);
    const leases = await Promise.all(works.map(one => one.acquire(shard.key, shard)));
    expect(leases.filter(lease => lease !== undefined)).toMatchObject([{ fence: 1 }]);
    const holder = leases.findIndex(lease => lease !== undefined);
    await works[holder]!.checkpoint(leases[holder]!, '100', 5);
    await works[holder]!.release(leases[holder]!);
    expect(await works[(holder + 1) % 3]!.acquire(shard.key, shard)).toMatchObject({
      fence: 2,
      sequence: '100',
    });
  }
  expect(client.counts.lostAnswers).toBeGreaterThan(10);
});
