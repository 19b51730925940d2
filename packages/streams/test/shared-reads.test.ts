import { seededRandom } from '@stak/kit';
import { afterEach, expect, test } from 'vitest';
import { type StreamSource, type Subscription, shareReads, tailTable } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import {
  everyone,
  expectMirrored,
  type Fixture,
  isMirrored,
  mirroring,
  type NoteChange,
  openFixture,
  pass,
  pollable,
  type Running,
  startConsumer,
  until,
  writeNote,
  writeNotes,
} from './stream-fixture.ts';

// Consumers of one table on a source that is polled, as on AWS: a shard is read once for all of them.

let fixture: Fixture;
afterEach(() => fixture.engine.close());

const names = ['mirror', 'second', 'third', 'fourth'];

// Each consumer has random numbers of its own: its tokens are made of them.
let seed = 0;
const start = (source: StreamSource, subscription: Subscription, leaseMs?: number): Running =>
  startConsumer(fixture, { subscription, source, random: seededRandom(++seed), ...(leaseMs && { leaseMs }) });

// A node of Stak: every consumer of the table, on one source.
function startNode(polled: StreamSource, consumers = names): Running[] {
  const source = shareReads(polled);
  return consumers.map(name => start(source, mirroring(fixture, { name })));
}

// The most reads of one shard within a second, and all of them.
function countReads(reads: { shard: string; atMs: number }[]) {
  let most = 0;
  for (const { shard, atMs } of reads) {
    const within = reads.filter(one => one.shard === shard && one.atMs >= atMs && one.atMs < atMs + 1000);
    most = Math.max(most, within.length);
  }
  return { most, all: reads.length };
}

async function workAndRest(): Promise<void> {
  for (let round = 0; round < 10; round++) {
    await writeNotes(fixture, ['a', 'b', 'c'], 2);
    await pass(fixture.clock, 500);
  }
  await pass(fixture.clock, 30_000);
}

test('four consumers read a shard as often as one does', async () => {
  const counts = [];
  for (const consumers of [['mirror'], names]) {
    fixture = await openFixture();
    const { polled, reads } = pollable(fixture);
    const node = startNode(polled, consumers);
    await workAndRest();
    await expectMirrored(fixture, consumers);
    await everyone(node);
    counts.push(countReads(reads));
    if (consumers !== names) await fixture.engine.close();
  }
  const [one, four] = counts;
  expect(one!.most).toBeGreaterThan(1);
  expect(four!.most).toBeLessThanOrEqual(one!.most);
  expect(four!.all).toBeLessThanOrEqual(one!.all * 1.1);
});

test('consumers of one table have their shards on the same nodes, each read by one of them', async () => {
  fixture = await openFixture({ shards: 4 });
  const { polled, reads } = pollable(fixture);
  const nodes = [startNode(polled), startNode(polled), startNode(polled)];
  const shares = () => nodes.map(node => node.map(consumer => consumer.shards()));
  const isShared = () =>
    shares().every(node => new Set(node).size === 1) && shares().reduce((sum, [n]) => sum + n!, 0) === 4;
  await until(fixture.clock, isShared);
  expect(Math.max(...shares().flat())).toBeLessThanOrEqual(2);
  await pass(fixture.clock, 5000);

  reads.length = 0;
  await workAndRest();
  expect(isShared()).toBe(true);
  expect(countReads(reads).most).toBeLessThanOrEqual(1000 / limits.pollFirstMs);

  // One leaves, and its shards are read together elsewhere.
  await everyone(nodes.shift()!);
  await until(fixture.clock, isShared);
  await writeNotes(fixture, ['a', 'b', 'c', 'd']);
  await until(fixture.clock, () => isMirrored(fixture, names));
  for (const node of nodes) await everyone(node);
  await expectMirrored(fixture, names);
});

test('a slow or failing consumer delays no other, and shares reads again when it has caught up', async () => {
  fixture = await openFixture();
  const { polled, reads } = pollable(fixture);
  const source = shareReads(polled);
  let release: () => void = () => {};
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  const quick = start(source, mirroring(fixture));
  const ofSlow = mirroring(fixture, { name: 'slow' });
  const slow = start(
    source,
    {
      ...ofSlow,
      async handle(change, context) {
        await held;
        return ofSlow.handle!(change as NoteChange, context);
      },
    },
    60 * 60_000,
  );
  const failing = start(
    source,
    mirroring(fixture, {
      name: 'failing',
      attempts: 1,
      handle(change) {
        if (change.new?.id === 'a') throw new Error('no');
      },
    }),
  );
  await writeNote(fixture, 'a');
  await until(fixture.clock, () => isMirrored(fixture));
  // More than the window holds.
  const rounds = limits.windowRecords / 100 + 3;
  for (let round = 0; round < rounds; round++) {
    const notes = Array.from({ length: 100 }, (_, i) => writeNote(fixture, `n${i}`));
    await Promise.all(notes);
  }
  await until(fixture.clock, () => isMirrored(fixture));
  await until(fixture.clock, () => failing.counters().records === 100 * rounds + 1);
  expect(failing.counters().deadLetters).toBe(1);
  expect(slow.counters().records).toBe(0);

  release();
  await until(fixture.clock, () => isMirrored(fixture, ['mirror', 'slow']));
  await pass(fixture.clock, 5000);
  reads.length = 0;
  await pass(fixture.clock, 20_000);
  expect(reads.length).toBeLessThanOrEqual(20_000 / limits.pollMostMs + 1);
  await writeNote(fixture, 'a');
  await until(fixture.clock, () => isMirrored(fixture, ['mirror', 'slow']));
  await everyone([quick, slow, failing]);
  await expectMirrored(fixture, ['mirror', 'slow']);
});

// Where a reader begins at the newest record, nobody knows what came before it.
test('a new consumer gets what was written before the first follower started', async () => {
  fixture = await openFixture();
  const source = shareReads(pollable(fixture).polled);
  await writeNotes(fixture, ['a', 'b']);
  let begun = 0;
  const held = start(
    source,
    mirroring(fixture, {
      name: 'held',
      handle: (_, { signal }) => {
        begun += 1;
        return new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()));
      },
    }),
    60 * 60_000,
  );
  await until(fixture.clock, () => begun === 2);
  await pass(fixture.clock, 3 * limits.pollMostMs); // what it has read is not the newest any more
  const leaving = new AbortController();
  const heard: unknown[] = [];
  const onChange = ({ new: image }: { new?: unknown }) => void heard.push(image);
  const ready = new Promise<void>(onReady => {
    const options = { source, table: 'notes', clock: fixture.clock, onReady, onChange, onMissed() {} };
    void tailTable(options, leaving.signal);
  });
  await ready;
  await pass(fixture.clock, 2 * limits.pollOfFollowerMs); // nothing yet
  await writeNote(fixture, 'c');
  await until(fixture.clock, () => heard.length === 1);
  const late = start(source, mirroring(fixture));
  await until(fixture.clock, () => late.counters().records > 0);
  await pass(fixture.clock, 2 * limits.pollMostMs);
  leaving.abort();
  await everyone([held, late]);
  await expectMirrored(fixture);
});

test('a tail shares the consumers’ reads', async () => {
  fixture = await openFixture();
  const { polled, reads } = pollable(fixture);
  const source = shareReads(polled);
  const consumer = start(source, mirroring(fixture));
  await writeNote(fixture, 'a');
  await until(fixture.clock, () => isMirrored(fixture));
  await pass(fixture.clock, 10_000);
  const leaving = new AbortController();
  const heard: unknown[] = [];
  let isReady = false;
  const tail = tailTable(
    {
      source,
      table: 'notes',
      clock: fixture.clock,
      onReady: () => {
        isReady = true;
      },
      onChange: change => heard.push(change.new),
      onMissed: () => heard.push('missed'),
    },
    leaving.signal,
  );
  await until(fixture.clock, () => isReady);
  reads.length = 0;
  await pass(fixture.clock, 12_000);
  expect(reads.length).toBeLessThanOrEqual(12_000 / limits.pollOfFollowerMs + 1);
  await writeNotes(fixture, ['a', 'b']);
  await until(fixture.clock, () => heard.length === 2);
  await until(fixture.clock, () => isMirrored(fixture));
  expect(heard).toMatchObject([{ id: 'a' }, { id: 'b' }]);
  leaving.abort();
  await tail;
  await consumer.stop();
});
