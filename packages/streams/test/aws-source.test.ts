import { createHttpServer, type HttpServer } from '@stak/engine';
import { createNotifier, seededRandom } from '@stak/kit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFollower, type Subscription, shareReads, subscribe } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { awsSource } from '../src/source/aws-source.ts';
import {
  everyone,
  expectMirrored,
  type Fixture,
  isMirrored,
  mirroring,
  note,
  notesTable,
  openFixture,
  pass,
  silent,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

// The same consumer through the AWS SDK and the engine's HTTP server: it gets no wake-ups, so it polls.

let fixture: Fixture;
let server: HttpServer;
let source: ReturnType<typeof awsSource>;

beforeEach(async () => {
  fixture = await openFixture({ shards: 2 });
  server = createHttpServer(fixture.engine, { port: 0 });
  const { url } = await server.listen();
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  source = fixture.paced(awsSource({ region: 'us-east-1', endpoint: url, credentials }));
});
afterEach(async () => {
  source.close();
  await server.close();
  await fixture.engine.close();
});

test('it handles everything across closing shards, and resumes after its checkpoint', async () => {
  const names = ['a', 'b', 'c'];
  await writeNotes(fixture, names, 3);
  const start = () =>
    startConsumer(fixture, { subscription: mirroring(fixture, { batchRecords: 2 }), source });
  const first = start();
  await until(fixture.clock, () => isMirrored(fixture));
  await fixture.engine.rollShards('notes');
  await writeNotes(fixture, names, 2);
  await until(fixture.clock, () => isMirrored(fixture));
  await first.stop();
  await writeNotes(fixture, names);
  const others = [start(), start()];
  await until(fixture.clock, () => isMirrored(fixture));
  await everyone(others);
  await expectMirrored(fixture);
  expect([first, ...others].map(consumer => consumer.counters().failures)).toEqual([0, 0, 0]);
});

test('without notifications, shards are spread, and those of a killed process move when their leases end', async () => {
  await writeNotes(fixture, ['a', 'b', 'c', 'd']);
  let isDead = false;
  const crashing = shareReads({
    ...source,
    getRecords: (input: never) => (isDead ? hang() : source.getRecords(input)),
  });
  const hang = () => new Promise<never>(() => {});
  const deadClient = Object.fromEntries(
    Object.entries(fixture.client).map(([name, operation]) => [
      name,
      (input: never) => (isDead ? hang() : (operation as (input: never) => Promise<unknown>)(input)),
    ]),
  ) as unknown as typeof fixture.client;
  const subscription = mirroring(fixture);
  const killed = startConsumer(fixture, { subscription, source: crashing, client: deadClient });
  const survivor = startConsumer(fixture, { subscription, source, random: seededRandom(2) });
  const ownersOf = async () => {
    const { shards } = await survivor.status();
    return shards.filter(shard => shard.state !== 'finished').map(shard => shard.owner);
  };
  await until(fixture.clock, () => isMirrored(fixture));
  const areSpread = async () => {
    const owners = await ownersOf();
    return owners.every(Boolean) && new Set(owners).size === 2;
  };
  await until(fixture.clock, areSpread, { stepMs: 500, steps: 40 });
  isDead = true;
  const diedAt = fixture.clock.now();
  await writeNotes(fixture, ['a', 'b', 'c', 'd']);
  await until(fixture.clock, () => isMirrored(fixture), { stepMs: 50, steps: 400 });
  // At the end of its lease: after that, the poll of a quiet shard.
  const { leaseMs, lookLeastMs, pollMostMs } = limits;
  expect(fixture.clock.now() - diedAt).toBeLessThanOrEqual(leaseMs + 2 * lookLeastMs + pollMostMs + 100);
  expect(new Set(await ownersOf()).size).toBe(1);
  await survivor.stop();
  expect(killed.counters().deadLetters).toBe(0);
});

test('every follower receives a change within a second without notifications', async () => {
  const stopping = new AbortController();
  const seen = [0, 1, 2].map(() => [] as { version: number; at: number }[]);
  let throttled = 0;
  const crowded = {
    ...source,
    getRecords: (input: Parameters<typeof source.getRecords>[0]) => {
      throttled += 1;
      return throttled % 3 === 0 ? Promise.reject(tooManyReaders()) : source.getRecords(input);
    },
  };
  const tooManyReaders = () => Object.assign(new Error('slow down'), { name: 'LimitExceededException' });
  const ready = [0, 0, 0];
  const running = seen.map((heard, i) =>
    createFollower(
      {
        subscription: subscribe({
          name: 'live',
          table: notesTable,
          entities: [note],
          handle: change => void heard.push({ version: change.new!.version, at: fixture.clock.now() }),
        }) as Subscription,
        hasListeners: () => true,
        listenerAdded: createNotifier(fixture.clock),
        onMissed: () => void ready[i]!++,
      },
      { source: i === 2 ? crowded : source, clock: fixture.clock, log: silent },
    ).run(stopping.signal),
  );
  await until(fixture.clock, () => ready.every(times => times > 0));
  const waits: number[] = [];
  for (let version = 1; version <= 5; version++) {
    await pass(fixture.clock, 3_000); // the shard is quiet for a while
    const writtenAt = fixture.clock.now();
    await fixture.store.put(note, { id: 'a', version });
    await until(fixture.clock, () => seen.every(heard => heard.at(-1)?.version === version));
    waits.push(...seen.map(heard => heard.at(-1)!.at - writtenAt));
  }
  stopping.abort();
  await Promise.allSettled(running);
  expect(Math.max(...waits.filter((_, i) => i % 3 !== 2))).toBeLessThan(1_000);
  expect(Math.max(...waits)).toBeLessThan(2_500); // the one that is refused now and then
});

test('errors of the SDK are understood: expired iterators and trimmed records', async () => {
  await writeNotes(fixture, ['a'], 1);
  const first = startConsumer(fixture, { subscription: mirroring(fixture), source });
  await until(fixture.clock, () => isMirrored(fixture));
  await until(fixture.clock, async () => {
    const { shards } = await first.status();
    return shards.every(({ behind }) => behind?.records === 0);
  });
  await first.stop();
  await fixture.store.put(note, { id: 'a', version: 99 });
  await fixture.clock.advance(25 * 60 * 60_000);
  await fixture.engine.sweep();
  const second = startConsumer(fixture, { subscription: mirroring(fixture), source });
  await until(fixture.clock, () => second.alarms.length > 0);
  await second.stop();
  expect(second.alarms).toMatchObject([{ kind: 'trimmed' }]);
});
