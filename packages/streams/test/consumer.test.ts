import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  expectMirrored,
  type Fixture,
  isMirrored,
  mirroring,
  type NoteChange,
  note,
  notesTable,
  openFixture,
  pass,
  startConsumer,
  until,
  writeNote,
  writeNotes,
} from './stream-fixture.ts';

let fixture: Fixture;

beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.engine.close());

// A handler that remembers, and may be held up.
function watching(more: object = {}) {
  const begun: string[] = [];
  const seen: string[] = [];
  let gate: Promise<void> | undefined;
  let open = () => {};
  const subscription = {
    name: 'watch',
    table: notesTable,
    entities: [note],
    async handle(change: NoteChange) {
      const name = `${change.new?.id}${change.new?.version}`;
      begun.push(name);
      await gate;
      seen.push(name);
    },
    ...more,
  };
  const hold = () => {
    gate = new Promise(resolve => {
      open = resolve;
    });
  };
  return { begun, seen, subscription, hold, open: () => open() };
}

const setStream = (StreamEnabled: boolean) =>
  fixture.engine.execute('UpdateTable', {
    TableName: 'notes',
    StreamSpecification: { StreamEnabled, ...(StreamEnabled && { StreamViewType: 'NEW_AND_OLD_IMAGES' }) },
  });

test('handles records from before and after its start', async () => {
  await writeNotes(fixture, ['a', 'b'], 3);
  const consumer = startConsumer(fixture, { subscription: mirroring(fixture) });
  await until(fixture.clock, () => isMirrored(fixture));
  await writeNotes(fixture, ['a', 'c'], 2);
  await until(fixture.clock, () => consumer.counters().records === 10);
  await consumer.stop();
  await expectMirrored(fixture);
  expect(consumer.counters()).toMatchObject({ retries: 0, failures: 0, leasesLost: 0 });
});

test('resumes after its checkpoint', async () => {
  const { seen, subscription } = watching({ batchRecords: 2 });
  await writeNotes(fixture, ['a', 'b'], 2);
  const first = startConsumer(fixture, { subscription });
  await until(fixture.clock, () => seen.length === 4);
  await first.stop();
  await writeNotes(fixture, ['a']);
  const second = startConsumer(fixture, { subscription });
  await until(fixture.clock, () => seen.length >= 5);
  await second.stop();
  expect(seen).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
});

test('gathers changes that follow each other into one page', async () => {
  const pages: number[] = [];
  const subscription = {
    name: 'gathering',
    table: notesTable,
    entities: [note],
    gatherMs: 1000,
    handleBatch: (changes: readonly unknown[]) => void pages.push(changes.length),
  };
  const consumer = startConsumer(fixture, { subscription });
  await until(fixture.clock, () => consumer.counters().pages === 0, { stepMs: 0 });
  await writeNotes(fixture, ['a'], 2);
  await until(fixture.clock, () => pages.length > 0, { stepMs: 100, steps: 30 });
  await writeNotes(fixture, ['b']);
  await fixture.clock.advance(400);
  await writeNotes(fixture, ['c']);
  await fixture.clock.advance(400);
  const before = pages.length;
  await until(fixture.clock, () => pages.reduce((sum, count) => sum + count, 0) === 4, {
    stepMs: 100,
    steps: 30,
  });
  await consumer.stop();
  expect(pages.length - before).toBe(1);
});

describe('a batch of several reads', () => {
  const count = 2300;
  const writeMany = () =>
    Promise.all(
      Array.from({ length: count }, (_, i) => fixture.store.put(note, { id: `n${i}`, version: 1 })),
    );

  test('has all records in order, up to its limit', async () => {
    await writeMany();
    const batches: string[][] = [];
    const subscription = {
      name: 'batches',
      table: notesTable,
      entities: [note],
      batchRecords: 2100,
      handleBatch: (changes: readonly NoteChange[]) =>
        void batches.push(changes.map(({ sequence }) => sequence)),
    };
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => consumer.counters().records === count);
    await consumer.stop();
    expect(batches.map(({ length }) => length)).toEqual([2100, 200]);
    expect(batches.flat()).toEqual(batches.flat().sort());
    expect(new Set(batches.flat()).size).toBe(count);
  });

  test('is handled record by record if one of them cannot be handled, and continues after it', async () => {
    await writeMany();
    const seen = new Set<string>();
    const subscription = {
      name: 'one-by-one',
      table: notesTable,
      entities: [note],
      batchRecords: 10_000,
      attempts: 1,
      handleBatch(changes: readonly NoteChange[]) {
        if (changes.length > 1 || changes[0]!.new!.id === 'n1500') throw new Error('no');
        seen.add(changes[0]!.new!.id);
      },
    };
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => consumer.counters().records === count);
    await consumer.stop();
    expect(seen.size).toBe(count - 1);
    expect(consumer.counters().deadLetters).toBe(1);
  });
});

describe('a deferred checkpoint', () => {
  const positionOf = async () => {
    const { Items = [] } = await fixture.client.scan({ TableName: 'stak-streams', ConsistentRead: true });
    return Items.find(item => typeof item.sequence === 'string')?.sequence;
  };

  test('is written after its delay, once for all changes until then', async () => {
    const { seen, subscription } = watching({});
    const consumer = startConsumer(fixture, { subscription, checkpointMs: 1000 });
    for (const count of [1, 2, 3]) {
      await writeNotes(fixture, ['a']);
      await until(fixture.clock, () => seen.length === count, { stepMs: 0 });
    }
    expect(await positionOf()).toBeUndefined();
    await until(fixture.clock, async () => (await positionOf()) !== undefined, { stepMs: 100, steps: 40 });
    await consumer.stop();
    const again = startConsumer(fixture, { subscription, checkpointMs: 1000 });
    await writeNotes(fixture, ['b']);
    await until(fixture.clock, () => seen.length >= 4);
    await again.stop();
    expect(seen).toEqual(['a1', 'a2', 'a3', 'b1']);
  });

  test('is written with the end of a shard, and not again after it', async () => {
    const { seen, begun, subscription, hold, open } = watching({});
    hold();
    const consumer = startConsumer(fixture, { subscription, checkpointMs: 3_600_000 });
    await writeNotes(fixture, ['a']);
    await until(fixture.clock, () => begun.length === 1, { stepMs: 0 });
    await writeNotes(fixture, ['b']);
    await fixture.engine.rollShards(notesTable.name);
    open();
    await writeNotes(fixture, ['c']);
    await until(fixture.clock, () => seen.length === 3);
    await consumer.stop();
    expect(consumer.counters()).toMatchObject({ leasesLost: 0, failures: 0 });
  });

  test('is written if there is much to repeat, and at the end', async () => {
    const { seen, subscription } = watching({ batchRecords: 2 });
    const consumer = startConsumer(fixture, { subscription, checkpointMs: 3_600_000 });
    await writeNotes(fixture, ['a', 'b', 'c']);
    await until(fixture.clock, () => seen.length === 3, { stepMs: 0 });
    await until(fixture.clock, async () => (await positionOf()) !== undefined, { stepMs: 0 });
    const before = await positionOf();
    await consumer.stop();
    expect((await positionOf()) > before).toBe(true);
  });
});

test('checkpoints what is done when it is stopped in the middle of a page', async () => {
  const { seen, subscription, hold, open } = watching({ concurrency: 1 });
  await writeNotes(fixture, ['a'], 5);
  let handled = 0;
  const stoppable = startConsumer(fixture, {
    subscription: {
      ...subscription,
      async handle(change: NoteChange) {
        if (++handled === 3) hold();
        await subscription.handle(change);
      },
    },
  });
  await until(fixture.clock, () => handled === 3);
  const stopped = stoppable.stop();
  open();
  await stopped;
  expect(seen).toEqual(['a1', 'a2', 'a3']);
  const next = startConsumer(fixture, { subscription });
  await until(fixture.clock, () => seen.length === 5);
  await next.stop();
  expect(seen).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
});

test('handles several items at a time, and one of them in order', async () => {
  let active = 0;
  let most = 0;
  const seen = new Map<string, number[]>();
  const subscription = {
    name: 'busy',
    table: notesTable,
    entities: [note],
    concurrency: 3,
    async handle(change: NoteChange) {
      most = Math.max(most, ++active);
      const { id, version } = change.new!;
      await fixture.clock.sleep(100 - 20 * version); // a later one would overtake an earlier one, if it could
      seen.set(id, [...(seen.get(id) ?? []), version]);
      active -= 1;
    },
  };
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await writeNotes(fixture, [name], 4);
  const consumer = startConsumer(fixture, { subscription });
  await until(fixture.clock, () => consumer.counters().records === 20);
  await consumer.stop();
  expect(most).toBe(3);
  for (const name of names) expect(seen.get(name)).toEqual([1, 2, 3, 4]);
});

describe('shards', () => {
  test('that close in the middle are followed by their children, each after its parent', async () => {
    await fixture.engine.close();
    fixture = await openFixture({ shards: 4 });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { begun, seen, subscription, hold, open } = watching({ batchRecords: 2 });
    await writeNotes(fixture, names, 2);
    hold();
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => begun.length > 0);
    await fixture.engine.rollShards('notes');
    await writeNotes(fixture, names);
    await fixture.engine.rollShards('notes');
    await writeNotes(fixture, names);
    await pass(fixture.clock, 6000);
    expect(begun.every(name => name.endsWith('1') || name.endsWith('2'))).toBe(true);
    expect(seen).toEqual([]);
    open();
    await until(fixture.clock, () => seen.length === 24);
    for (const name of names)
      expect(seen.filter(id => id[0] === name)).toEqual([1, 2, 3, 4].map(version => name + version));
    const { shards } = await consumer.status();
    expect(shards.map(({ state }) => state).join()).toBe(`${'finished,'.repeat(8)}owned,owned,owned,owned`);
    await consumer.stop();
  });

  test('of a stream that is switched off and on again are read to the end first', async () => {
    const { begun, seen, subscription, hold, open } = watching();
    await writeNote(fixture, 'a');
    await setStream(false);
    await writeNote(fixture, 'a');
    await fixture.clock.advance(10);
    await setStream(true);
    await writeNote(fixture, 'a');
    hold();
    const consumer = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => begun.length > 0);
    await pass(fixture.clock, 6000);
    expect(begun).toEqual(['a1']);
    open();
    await until(fixture.clock, () => seen.length === 2);
    await setStream(false);
    await fixture.clock.advance(10);
    await setStream(true);
    await writeNote(fixture, 'a');
    await until(fixture.clock, () => seen.length === 3);
    await consumer.stop();
    expect(seen).toEqual(['a1', 'a3', 'a4']);
  });

  test('may be created long after the consumer', async () => {
    const { seen, subscription } = watching();
    await setStream(false);
    await fixture.clock.advance(25 * 60 * 60_000);
    await fixture.engine.sweep();
    const consumer = startConsumer(fixture, { subscription });
    await fixture.clock.advance(60_000);
    await setStream(true);
    await writeNote(fixture, 'a');
    await until(fixture.clock, () => seen.length === 1);
    await consumer.stop();
  });
});

describe('a consumer that starts at the newest change', () => {
  const latest = { startAt: 'LATEST' as const };

  test('skips existing records, in closed and open shards', async () => {
    const { seen, subscription } = watching(latest);
    await writeNotes(fixture, ['a'], 2);
    await fixture.engine.rollShards('notes');
    await writeNotes(fixture, ['a'], 2);
    const consumer = startConsumer(fixture, { subscription });
    await until(
      fixture.clock,
      async () => (await consumer.status().catch(() => undefined))?.shards[1]?.owner !== undefined,
    );
    await writeNote(fixture, 'a');
    await until(fixture.clock, () => seen.length > 0);
    await fixture.engine.rollShards('notes');
    await writeNote(fixture, 'a');
    await until(fixture.clock, () => seen.length > 1);
    await consumer.stop();
    expect(seen).toEqual(['a5', 'a6']);
  });

  test('keeps its position without a checkpoint, whichever process continues', async () => {
    const { seen, subscription } = watching(latest);
    await writeNote(fixture, 'a');
    await fixture.clock.advance(2 * 60_000);
    const first = startConsumer(fixture, { subscription });
    await until(fixture.clock, () =>
      first.status().then(
        ({ members }) => members === 1,
        () => false,
      ),
    );
    await first.stop();
    await fixture.clock.advance(5000);
    await writeNotes(fixture, ['a'], 2);
    const second = startConsumer(fixture, { subscription });
    await until(fixture.clock, () => seen.length === 2);
    await second.stop();
    expect(seen).toEqual(['a2', 'a3']);
  });
});
