import { seededRandom, superviseWorkers } from '@stak/kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createConsumer,
  createMissedWatch,
  type Gap,
  type StreamSource,
  type Subscription,
  shareReads,
} from '../src/index.ts';
import { createStreamAdversary } from './stream-adversary.ts';
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
  pollable,
  silent,
  startConsumer,
  until,
  writeNote,
  writeNotes,
} from './stream-fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
let fixture: Fixture;

beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.engine.close());

const collect = () => {
  const seen: number[] = [];
  const subscription = {
    name: 'collect',
    table: notesTable,
    entities: [note],
    handle: (change: NoteChange) => void seen.push(change.new!.version),
  };
  return { seen, subscription };
};

test('a record that a stream repeats, in a page or in the next one, is handled once', async () => {
  const source = createStreamAdversary(fixture.source, {
    random: seededRandom(7),
    repeated: 0.8,
    doubled: 0.8,
  });
  const { seen, subscription } = collect();
  const consumer = startConsumer(fixture, { subscription: { ...subscription, batchRecords: 3 }, source });
  for (let round = 0; round < 5; round++) {
    await writeNotes(fixture, ['a'], 4);
    await until(fixture.clock, () => seen.length >= (round + 1) * 4);
  }
  await consumer.stop();
  expect(seen).toHaveLength(20);
  expect(new Set(seen).size).toBe(20);
});

test('a page that ends with a repeated record moves no checkpoint back', async () => {
  const source: StreamSource = {
    ...fixture.source,
    isExact: false,
    async getRecords(input) {
      const { Records = [], NextShardIterator } = await fixture.source.getRecords(input);
      return { Records: [...Records, ...Records.slice(0, 1)], NextShardIterator };
    },
  };
  const pages: number[][] = [];
  const { subscription } = collect();
  const handleBatch = (changes: readonly NoteChange[]) =>
    void pages.push(changes.map(change => change.new!.version));
  await writeNotes(fixture, ['a'], 4);
  const consumer = startConsumer(fixture, {
    subscription: { ...subscription, handle: undefined, handleBatch } as Subscription<typeof note>,
    source,
  });
  await until(fixture.clock, () => pages.length > 0);
  await consumer.stop();
  expect(pages).toEqual([[1, 2, 3, 4]]);
  expect((await consumer.status()).shards[0]?.behind?.records).toBe(0);
});

describe('an iterator that expired', () => {
  test('is replaced by one after the last record', async () => {
    let getRecords = 0;
    const source = {
      ...fixture.source,
      getRecords(input: Parameters<Fixture['source']['getRecords']>[0]) {
        getRecords += 1;
        if (getRecords === 2) fixture.clock.set(fixture.clock.now() + 16 * minute);
        return fixture.source.getRecords(input);
      },
    };
    const consumer = startConsumer(fixture, {
      subscription: mirroring(fixture, { batchRecords: 2 }),
      source,
      leaseMs: hour,
    });
    await writeNotes(fixture, ['a'], 5);
    await until(fixture.clock, () => isMirrored(fixture));
    await consumer.stop();
    expect(consumer.counters()).toMatchObject({ expiredIterators: 1, records: 5, failures: 0, alarms: 0 });
    await expectMirrored(fixture);
  });

  test('does not happen to an idle consumer', async () => {
    const consumer = startConsumer(fixture, { subscription: mirroring(fixture) });
    await until(fixture.clock, () =>
      consumer
        .status()
        .then(({ members }) => members === 1)
        .catch(() => false),
    );
    await fixture.clock.advance(50 * minute);
    await writeNotes(fixture, ['a']);
    await until(fixture.clock, () => isMirrored(fixture));
    await consumer.stop();
    expect(consumer.counters().expiredIterators).toBe(0);
  });
});

describe('records removed before they were read', () => {
  test('raise an alarm, and the consumer continues with what is left', async () => {
    const { seen, subscription } = collect();
    const before = startConsumer(fixture, { subscription });
    await writeNote(fixture, 'a');
    await until(fixture.clock, () => seen.length === 1);
    await before.stop();
    await writeNotes(fixture, ['a'], 2);
    await fixture.clock.advance(25 * hour);
    await writeNote(fixture, 'a');
    await fixture.engine.sweep();

    const after = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => seen.length === 2);
    await after.stop();
    expect(seen).toEqual([1, 4]);
    expect(after.alarms).toMatchObject([{ kind: 'trimmed', consumer: 'collect' }]);
    expect(after.counters().alarms).toBe(1);
    const { store, clock } = fixture;
    const watch = createMissedWatch({ store, clock, log: silent });
    expect(await watch.read()).toMatchObject([{ consumer: 'collect', table: 'notes' }]);
    await watch.forget('collect');
    expect(await watch.read()).toEqual([]);
  });

  test('are got back by a consumer that can, before it handles anything else', async () => {
    const { seen, subscription } = collect();
    const gaps: unknown[] = [];
    let isBroken = true;
    const recover = async (gap: Gap) => {
      gaps.push([gap, [...seen]]);
      if (isBroken) throw new Error('not now');
    };
    const before = startConsumer(fixture, { subscription: { ...subscription, recover } });
    await writeNote(fixture, 'a');
    await until(fixture.clock, () => seen.length === 1);
    await before.stop();
    const sinceMs = fixture.clock.now();
    await writeNotes(fixture, ['a'], 2);
    await fixture.clock.advance(25 * hour);
    await writeNote(fixture, 'a');
    await fixture.engine.sweep();

    const after = startConsumer(fixture, { subscription: { ...subscription, recover } });
    await until(fixture.clock, () => gaps.length === 2);
    expect(seen).toEqual([1]);
    isBroken = false;
    await until(fixture.clock, () => seen.length === 2);
    await after.stop();
    expect(gaps[0]).toMatchObject([{ after: expect.any(String), sinceMs: expect.any(Number) }, [1]]);
    expect((gaps[0] as [Gap])[0].sinceMs).toBeLessThanOrEqual(sinceMs);
    const { store, clock } = fixture;
    expect(await createMissedWatch({ store, clock, log: silent }).read()).toEqual([]);
  });

  test('raise an alarm in every consumer that shares the reads', async () => {
    const names = ['first', 'second'];
    const { seen, subscription } = collect();
    const { polled } = pollable(fixture);
    let isLate = false;
    const late = { ...polled };
    late.getRecords = async input => {
      if (!isLate) return polled.getRecords(input);
      isLate = false;
      return { Records: [], NextShardIterator: input.ShardIterator };
    };
    const start = (name: string, source: StreamSource) =>
      startConsumer(fixture, { subscription: { ...subscription, name }, source });
    await writeNote(fixture, 'a');
    for (const name of names) {
      const before = start(name, polled);
      await until(fixture.clock, () => before.counters().records === 1);
      await before.stop();
    }
    await writeNotes(fixture, ['a'], 2);
    await fixture.clock.advance(25 * hour);
    await writeNote(fixture, 'a');
    await fixture.engine.sweep();

    isLate = true; // DynamoDB may return an empty page before the first record
    const source = shareReads(late);
    const first = start('first', source);
    await until(fixture.clock, () => first.counters().records === 1);
    const second = start('second', source);
    await until(fixture.clock, () => second.counters().records === 1);
    await everyone([first, second]);
    expect(seen).toEqual([1, 1, 4, 4]);
    expect([first, second].map(({ alarms }) => alarms.map(({ kind }) => kind))).toEqual([
      ['trimmed'],
      ['trimmed'],
    ]);
  });

  test('with their whole shard do not stop its children', async () => {
    const { seen, subscription } = collect();
    const before = startConsumer(fixture, { subscription });
    await writeNote(fixture, 'a');
    await until(fixture.clock, () => seen.length === 1);
    await before.stop();
    await writeNote(fixture, 'a');
    await fixture.engine.rollShards('notes');
    await fixture.clock.advance(25 * hour);
    await fixture.engine.sweep();
    await writeNote(fixture, 'a');

    const after = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => seen.length === 2);
    await after.stop();
    expect(seen).toEqual([1, 3]);
    expect(after.alarms).toMatchObject([{ kind: 'gone' }]);
  });

  test('raise no alarm if they had been handled', async () => {
    const { seen, subscription } = collect();
    const before = startConsumer(fixture, { subscription });
    await writeNotes(fixture, ['a'], 2);
    await until(fixture.clock, () => seen.length === 2);
    await before.stop();
    await fixture.clock.advance(25 * hour);
    await fixture.engine.sweep();
    await writeNote(fixture, 'a');
    const after = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => seen.length === 3);
    await after.stop();
    expect(after.alarms).toEqual([]);
  });
});

test('a source or a table that fails for a while delays everything and loses nothing', async () => {
  const random = seededRandom(7);
  const flaky = <T extends object>(port: T): T =>
    Object.fromEntries(
      Object.entries(port).map(([name, method]) => [
        name,
        (...args: unknown[]) => {
          if (name !== 'position' && random() < 0.3) return Promise.reject(new Error('no route to host'));
          return method(...args);
        },
      ]),
    ) as T;
  await writeNotes(fixture, ['a', 'b'], 5);
  const { clock } = fixture;
  const consumer = createConsumer({
    subscription: mirroring(fixture, { batchRecords: 3 }),
    source: flaky(fixture.source),
    client: flaky(fixture.client),
    clock,
    log: silent,
  });
  const supervisor = superviseWorkers([consumer], { clock, log: silent });
  await until(clock, () => isMirrored(fixture));
  await Promise.race([supervisor.stop(), until(clock, () => false)]);
  await expectMirrored(fixture);
  expect(consumer.counters().failures).toBeGreaterThan(0);
});
