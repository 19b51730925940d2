import { seededRandom, superviseWorkers } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Consumer, createConsumer, shareReads } from '../src/index.ts';
import { createStreamAdversary, passingStreamFaults } from './stream-adversary.ts';
import {
  expectMirrored,
  type Fixture,
  isMirrored,
  mirroring,
  openFixture,
  pass,
  silent,
  until,
  writeNotes,
} from './stream-fixture.ts';

// Several processes on a store and a stream that misbehave; each is killed now and then, in the middle of whatever it
// does. STAK_ADVERSARY_SEED gives another history.
const given = Number(process.env.STAK_ADVERSARY_SEED);
const seeds = Number.isInteger(given) && given > 0 ? [given] : [1, 2, 3];

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture({ shards: 2 });
});
afterEach(() => fixture.engine.close());

const hang = () => new Promise<never>(() => {});

const names = ['mirror', 'second', 'third'];

// Killed at once, or in the middle of what it does: after some more calls.
type Process = { consumers: Consumer[]; kill(calls?: number): void; reads(): number };

// A process with several consumers of the table, which read it together.
function startCrashing(random: () => number): Process {
  let isDead = false;
  let callsLeft = Number.POSITIVE_INFINITY;
  const crashing = <T extends object>(port: T): T =>
    Object.fromEntries(
      Object.entries(port).map(([name, method]) => [
        name,
        typeof method === 'function' && !['position', 'newest', 'waitForChange', 'counts'].includes(name)
          ? async (input: never) => {
              isDead ||= callsLeft-- <= 0;
              if (isDead) return hang();
              const output = await (method as (input: never) => Promise<unknown>)(input);
              return isDead ? hang() : output; // made, and nobody is there to hear of it
            }
          : method,
      ]),
    ) as T;
  const { waitForChange: _, position: _position, ...polled } = fixture.source;
  const { calls, ...misbehaving } = createStreamAdversary(polled, { random, ...passingStreamFaults });
  const source = shareReads(crashing(misbehaving));
  const client = crashing(createAdversary(fixture.client, { random, ...passingFaults })) as DynamoClient;
  const store = createStore({ client, clock: fixture.clock, random });
  const { clock } = fixture;
  const consumers = names.map(name => {
    const subscription = mirroring({ store, clock }, { name, batchRecords: 5, attempts: 3 });
    return createConsumer({ subscription, source, client, clock, random, log: silent });
  });
  superviseWorkers(consumers, { clock, log: silent, random });
  return {
    consumers,
    reads: calls,
    kill(calls = 0) {
      callsLeft = calls;
      isDead = calls === 0;
    },
  };
}

test.each(seeds)('every change has its effect once, in order, seed %i', async seed => {
  const random = seededRandom(seed);
  const running = [startCrashing(random), startCrashing(random)];
  const all = [...running];
  for (let round = 0; round < 12; round++) {
    await writeNotes(fixture, ['a', 'b', 'c', 'd', 'e'], 2);
    if (round % 5 === 2) await fixture.engine.rollShards('notes'); // the shards end, and others go on
    if (round % 2 === 1) {
      const victim = running.splice(Math.floor(random() * running.length), 1)[0]!;
      victim.kill(Math.floor(random() * 40));
      const born = startCrashing(random);
      running.push(born);
      all.push(born);
    }
    for (let step = 0; step < 10; step++) await until(fixture.clock, once());
  }
  const startedAt = fixture.clock.now();
  await until(fixture.clock, () => isMirrored(fixture, names));
  await expectMirrored(fixture, names);
  expect(fixture.clock.now() - startedAt).toBeLessThan(60_000);
  const consumers = all.flatMap(one => one.consumers);
  expect(consumers.map(one => one.counters().deadLetters)).toEqual(consumers.map(() => 0));
  // Two shards, a read every two seconds each when nothing comes, however many consumers there are, and some more for
  // what went wrong.
  const readsBefore = running.map(one => one.reads());
  await pass(fixture.clock, 20_000);
  for (const [i, one] of running.entries()) expect(one.reads() - readsBefore[i]!).toBeLessThan(80);
  for (const one of running) one.kill();
});

// Holds at the second look: time moves on by one step.
function once(): () => boolean {
  let looks = 0;
  return () => ++looks > 1;
}
