import { manualOwners } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import { afterEach, expect, test } from 'vitest';
import type { HandlerContext, StreamSource } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { crashing } from './crashing.ts';
import {
  everyone,
  expectMirrored,
  type Fixture,
  isMirrored,
  mirroring,
  type NoteChange,
  note,
  notesTable,
  openFixture,
  pass,
  type Running,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

let fixture: Fixture;
afterEach(() => fixture.engine.close());

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

// How many shards each process has.
const shares = async (consumer: Running): Promise<number[]> => {
  const counts = new Map<string, number>();
  const { shards } = await consumer.status().catch(() => ({ shards: [] })); // before its first run
  for (const { owner } of shards) if (owner) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return [...counts.values()];
};

test('two processes share the shards, and one takes over at once what the other releases', async () => {
  fixture = await openFixture({ shards: 4 });
  const first = startConsumer(fixture, { subscription: mirroring(fixture) });
  await until(fixture.clock, async () => (await shares(first)).join() === '4');
  const second = startConsumer(fixture, { subscription: mirroring(fixture) });
  await until(fixture.clock, async () => (await shares(first)).join() === '2,2');
  await writeNotes(fixture, names, 3);
  await until(fixture.clock, () => isMirrored(fixture));
  const handled = () => [first, second].map(consumer => consumer.counters().records);
  await until(fixture.clock, () => handled()[0]! + handled()[1]! === 24);
  expect(Math.min(...handled())).toBeGreaterThan(0);

  await first.stop();
  const before = fixture.clock.now();
  await until(fixture.clock, async () => (await shares(second)).join() === '4');
  expect(fixture.clock.now() - before).toBeLessThan(15_000);
  await writeNotes(fixture, names);
  await until(fixture.clock, () => isMirrored(fixture));
  await second.stop();
  await expectMirrored(fixture);
});

test('a released shard is taken soon by the process it is meant for', async () => {
  fixture = await openFixture({ shards: 4 });
  const { clock } = fixture;
  const first = startConsumer(fixture, { subscription: mirroring(fixture) });
  const count = async () => (await shares(first)).reduce((sum, share) => sum + share, 0);
  for (const offsetMs of [0, 400, 800, 1_200]) {
    await until(clock, async () => (await shares(first)).join() === '4');
    await pass(clock, offsetMs); // looks of the two are apart by something else each time
    const second = startConsumer(fixture, { subscription: mirroring(fixture) });
    await until(clock, async () => (await count()) < 4, { stepMs: 20, steps: 500 });
    const givenBackAt = clock.now();
    await until(clock, async () => (await shares(first)).join() === '2,2', { stepMs: 20, steps: 500 });
    expect(clock.now() - givenBackAt).toBeLessThanOrEqual(2 * limits.lookWhileMovingMs);
    await second.stop();
  }
  await first.stop();
});

test("a killed process's shards wait until its lease ends, and no longer", async () => {
  fixture = await openFixture();
  const process = crashing(fixture);
  const victim = startConsumer(fixture, { subscription: mirroring(fixture), ...process });
  await until(fixture.clock, async () => (await shares(victim)).join() === '1');
  process.kill();
  const killedAt = fixture.clock.now();
  await writeNotes(fixture, ['a']);
  const successor = startConsumer(fixture, { subscription: mirroring(fixture) });
  await until(fixture.clock, () => isMirrored(fixture));
  expect(fixture.clock.now() - killedAt).toBeGreaterThan(2_500);
  expect(fixture.clock.now() - killedAt).toBeLessThan(6_500);
  await successor.stop();
});

test("a killed process's shards are taken over at once if it is known to be dead", async () => {
  fixture = await openFixture();
  const owners = manualOwners();
  const process = crashing(fixture);
  const victim = startConsumer(fixture, {
    subscription: mirroring(fixture),
    owners: owners.as('victim'),
    ...process,
  });
  await until(fixture.clock, async () => (await shares(victim)).join() === '1');
  process.kill();
  await writeNotes(fixture, ['a']);
  const successor = startConsumer(fixture, {
    subscription: mirroring(fixture),
    owners: owners.as('successor'),
  });
  await pass(fixture.clock, 10_000);
  expect(await isMirrored(fixture)).toBe(false);
  const heardAt = fixture.clock.now();
  owners.end('victim');
  await until(fixture.clock, () => isMirrored(fixture));
  expect(fixture.clock.now() - heardAt).toBeLessThan(1_000);
  await successor.stop();
});

test('a process that others may take for gone handles nothing, and goes on when its reports arrive again', async () => {
  fixture = await openFixture({ shards: 2 });
  const { clock } = fixture;
  const owners = manualOwners();
  const start = (name: string) =>
    startConsumer(fixture, { subscription: mirroring(fixture), owners: owners.as(name) });
  const first = start('first');
  await until(clock, async () => (await shares(first)).join() === '2');
  owners.doubt('first');
  await writeNotes(fixture, names);
  await pass(clock, 10_000);
  expect(first.counters().records).toBe(0);
  const second = start('second');
  await until(clock, () => isMirrored(fixture));
  expect(first.counters().records).toBe(0);
  owners.doubt('first', false);
  await until(clock, async () => (await shares(first)).join() === '1,1');
  await second.stop();
  await until(clock, async () => (await shares(first)).join() === '2');
  await writeNotes(fixture, names);
  await until(clock, () => isMirrored(fixture));
  await first.stop();
  await expectMirrored(fixture);
});

test('a process takes its own leases again after a doubt that nobody else had', async () => {
  fixture = await openFixture({ shards: 2 });
  const owners = manualOwners();
  const only = startConsumer(fixture, { subscription: mirroring(fixture), owners: owners.as('only') });
  await until(fixture.clock, async () => (await shares(only)).join() === '2');
  owners.doubt('only');
  await pass(fixture.clock, 3_000);
  owners.doubt('only', false);
  await writeNotes(fixture, names);
  const sinceMs = fixture.clock.now();
  await until(fixture.clock, () => isMirrored(fixture));
  expect(fixture.clock.now() - sinceMs).toBeLessThan(5_000);
  await only.stop();
  await expectMirrored(fixture);
});

// Starts two processes. The first is in the middle of a record until the test calls `finish`.
async function startHandling(client = fixture.client) {
  const handled: string[] = [];
  let finish = () => {};
  const finished = new Promise<void>(resolve => {
    finish = resolve;
  });
  const start = (process: string, more: { client?: DynamoClient; wait?: Promise<void> } = {}) =>
    startConsumer(fixture, {
      client: more.client ?? fixture.client,
      subscription: {
        name: 'watch',
        table: notesTable,
        entities: [note],
        async handle() {
          handled.push(process);
          await more.wait;
        },
      },
    });
  const first = start('first', { client, wait: finished });
  await writeNotes(fixture, ['a']);
  await until(fixture.clock, () => handled.length === 1);
  return { first, second: start('second'), handled, finish };
}

test('a process that is stopped keeps its lease until it has finished the record in progress', async () => {
  fixture = await openFixture();
  const { first, second, handled, finish } = await startHandling();
  const stopped = first.stop();
  await pass(fixture.clock, 3 * limits.leaseMs);
  expect(handled).toEqual(['first']);
  finish();
  await stopped;
  expect(first.counters().leasesLost).toBe(0);
  await writeNotes(fixture, ['b']);
  await until(fixture.clock, () => handled.length === 2);
  expect(handled).toEqual(['first', 'second']);
  await second.stop();
});

test('a process keeps its lease while each renewal takes longer than the time between two', async () => {
  fixture = await openFixture();
  const { clock } = fixture;
  let isSlow = false;
  const slow: DynamoClient = {
    ...fixture.client,
    async update(input) {
      if (isSlow && String(input.Key.sk).startsWith('work#')) await clock.sleep(limits.leaseMs / 2.6);
      return fixture.client.update(input);
    },
  };
  const { first, second, handled, finish } = await startHandling(slow);
  isSlow = true;
  await pass(clock, 5 * limits.leaseMs);
  expect(handled).toEqual(['first']);
  finish();
  let hasStopped = false;
  void everyone([first, second]).then(() => (hasStopped = true));
  await until(clock, () => hasStopped);
  expect(first.counters().leasesLost).toBe(0);
});

test('a process whose lease has ended meanwhile handles no more of its page', async () => {
  fixture = await openFixture();
  const { clock } = fixture;
  const versions: number[] = [];
  await writeNotes(fixture, ['a'], 3);
  const consumer = startConsumer(fixture, {
    subscription: {
      name: 'slow',
      table: notesTable,
      entities: [note],
      handle(change: NoteChange) {
        versions.push(change.new!.version);
        // As if the process had been suspended in the middle of its first record.
        if (versions.length === 1) clock.set(clock.now() + 2 * limits.leaseMs);
      },
    },
  });
  await until(clock, () => versions.at(-1) === 3);
  await consumer.stop();
  expect(versions).toEqual([1, 1, 2, 3]); // from the last checkpoint, under another lease
  expect(consumer.counters().leasesLost).toBe(1);
});

// Holds every call back while it is frozen, as a process that gets no processor or no network does.
function freezable() {
  let thaw: (() => void) | undefined;
  let frozen: Promise<void> | undefined;
  const wrap = <T extends object>(port: T): T =>
    Object.fromEntries(
      Object.entries(port).map(([name, method]) => [
        name,
        ['position', 'newest', 'waitForChange'].includes(name)
          ? method
          : async (...args: unknown[]) => {
              await frozen;
              return method(...args);
            },
      ]),
    ) as T;
  return {
    source: wrap<StreamSource>(fixture.source),
    client: wrap<DynamoClient>(fixture.client),
    freeze() {
      frozen = new Promise(resolve => {
        thaw = resolve;
      });
    },
    thaw: () => thaw?.(),
  };
}

test('a process that loses its lease in the middle of a record writes nothing more', async () => {
  fixture = await openFixture();
  const sleepy = freezable();
  const itsStore = createStore({ client: sleepy.client, clock: fixture.clock });
  const subscription = mirroring({ store: itsStore, clock: fixture.clock });
  let isHandling = false;
  const first = startConsumer(fixture, {
    ...sleepy,
    subscription: {
      ...subscription,
      handle(change: NoteChange, context: HandlerContext) {
        if (change.new?.version === 2) {
          isHandling = true;
          sleepy.freeze();
        }
        return subscription.handle!(change, context);
      },
    },
  });
  await writeNotes(fixture, ['a'], 4);
  await until(fixture.clock, () => isHandling);
  const second = startConsumer(fixture, { subscription: mirroring(fixture) });
  await until(fixture.clock, () => isMirrored(fixture));
  await writeNotes(fixture, ['a'], 1);
  const isCaughtUp = async () => (await second.status()).shards[0]?.behind?.records === 0;
  await until(fixture.clock, isCaughtUp);
  const { shards } = await second.status();

  sleepy.thaw();
  await until(fixture.clock, () => first.counters().leasesLost > 0);
  await until(fixture.clock, async () => (await second.status()).members === 2);
  expect((await second.status()).shards[0]?.sequence).toBe(shards[0]?.sequence);
  expect(first.counters().records).toBeLessThan(4);
  await everyone([first, second]);
  await expectMirrored(fixture);
});

test('order is kept for each item while shards move from process to process', async () => {
  fixture = await openFixture({ shards: 4 });
  const seen = new Map<string, number[]>();
  const subscription = {
    name: 'watch',
    table: notesTable,
    entities: [note],
    batchRecords: 3,
    handle(change: NoteChange) {
      const { id, version } = change.new!;
      seen.set(id, [...(seen.get(id) ?? []), version]);
    },
  };
  const consumers = [startConsumer(fixture, { subscription })];
  for (let round = 0; round < 6; round++) {
    await writeNotes(fixture, names, 2);
    if (round === 3) await fixture.engine.rollShards('notes');
    if (round % 2 === 0) consumers.push(startConsumer(fixture, { subscription }));
    else await consumers.shift()!.stop();
    await pass(fixture.clock, 6000);
  }
  const isComplete = () => names.every(name => seen.get(name)?.includes(12));
  await until(fixture.clock, isComplete);
  await everyone(consumers);
  // Given back in good order, nothing comes twice.
  for (const name of names) expect(seen.get(name)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
});

test('a renewal without a response costs one shard, not all of them', async () => {
  fixture = await openFixture({ shards: 4 });
  const leaseMs = 3000;
  let hanging: string | undefined;
  let release = () => {};
  const released = new Promise<void>(resolve => {
    release = resolve;
  });
  let isArmed = false;
  const client: DynamoClient = {
    ...fixture.client,
    async update(input) {
      const { sk } = input.Key;
      const isRenewal = isArmed && String(sk).startsWith('work#') && !input.UpdateExpression.includes('ADD');
      if (isRenewal) hanging ??= sk;
      if (isRenewal && sk === hanging) await released;
      return fixture.client.update(input);
    },
  };
  const consumer = startConsumer(fixture, { subscription: mirroring(fixture), client, leaseMs });
  await until(fixture.clock, async () => (await shares(consumer)).join() === '4');
  isArmed = true;
  await pass(fixture.clock, 3 * leaseMs);
  expect(hanging).toBeDefined();
  expect(await shares(consumer)).toEqual([3]);
  release();
  await consumer.stop();
});

test('a process that cannot take its share leaves it to others', async () => {
  fixture = await openFixture({ shards: 4 });
  const sound = startConsumer(fixture, { subscription: mirroring(fixture) });
  await until(fixture.clock, async () => (await shares(sound)).join() === '4');
  const source: StreamSource = { ...fixture.source, listStreams: () => Promise.reject(new Error('denied')) };
  const broken = startConsumer(fixture, { subscription: mirroring(fixture), source });
  await until(fixture.clock, () => broken.counters().failures > 10);
  await writeNotes(fixture, names);
  await until(fixture.clock, () => isMirrored(fixture), { steps: 1200 }); // a minute
  expect(await shares(sound)).toEqual([4]);
  await everyone([sound, broken]);
});

test('so does one whose death would be heard of, although its report would hold for longer', async () => {
  fixture = await openFixture({ shards: 4 });
  const { clock } = fixture;
  const owners = manualOwners();
  const start = (name: string, client: DynamoClient = fixture.client) =>
    startConsumer(fixture, { subscription: mirroring(fixture), owners: owners.as(name), client });
  let isDenied = false;
  const query: DynamoClient['query'] = input =>
    isDenied ? Promise.reject(new Error('denied')) : fixture.client.query(input);
  const failing = start('failing', { ...fixture.client, query });
  const sound = start('sound');
  const members = async () => (await sound.status()).members;
  await until(clock, () => failing.shards() === 2 && sound.shards() === 2);
  isDenied = true;
  await until(clock, async () => (await members()) === 1, { steps: 6_000 }); // five minutes
  isDenied = false;
  await until(clock, async () => (await members()) === 2, { steps: 3_000 });
  await everyone([failing, sound]);
});
