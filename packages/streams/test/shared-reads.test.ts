import { seededRandom } from '@stak/kit';
import { afterEach, expect, test } from 'vitest';
import { type StreamSource, type Subscription, shareReads, tailTable } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import {
  everyone,
  expectMirrored,
  type House,
  isMirrored,
  mirroring,
  type NoteChange,
  openHouse,
  pass,
  pollable,
  type Running,
  startConsumer,
  until,
  writeNote,
  writeNotes,
} from './stream-fixture.ts';

// Consumers of one table on a source that is polled, as on AWS: a shard is read once for all of them.

let house: House;
afterEach(() => house.engine.close());

const names = ['mirror', 'second', 'third', 'fourth'];

// Each consumer has random numbers of its own: its tokens are made of them.
let seed = 0;
const start = (source: StreamSource, subscription: Subscription, leaseMs?: number): Running =>
  startConsumer(house, { subscription, source, random: seededRandom(++seed), ...(leaseMs && { leaseMs }) });

// A node of Stak: every consumer of the table, on one source.
function startNode(polled: StreamSource, consumers = names): Running[] {
  const source = shareReads(polled);
  return consumers.map(name => start(source, mirroring(house, { name })));
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
    await writeNotes(house, ['a', 'b', 'c'], 2);
    await pass(house.clock, 500);
  }
  await pass(house.clock, 30_000);
}

test('four consumers read a shard as often as one does', async () => {
  const counts = [];
  for (const consumers of [['mirror'], names]) {
    house = await openHouse();
    const { polled, reads } = pollable(house);
    const node = startNode(polled, consumers);
    await workAndRest();
    await expectMirrored(house, consumers);
    await everyone(node);
    counts.push(countReads(reads));
    if (consumers !== names) await house.engine.close();
  }
  const [one, four] = counts;
  expect(one!.most).toBeGreaterThan(1);
  expect(four!.most).toBeLessThanOrEqual(one!.most);
  expect(four!.all).toBeLessThanOrEqual(one!.all * 1.1);
});

test('consumers of one table have their shards on the same nodes, each read by one of them', async () => {
  house = await openHouse({ shards: 4 });
  const { polled, reads } = pollable(house);
  const nodes = [startNode(polled), startNode(polled), startNode(polled)];
  const shares = () => nodes.map(node => node.map(consumer => consumer.shards()));
  const isShared = () =>
    shares().every(node => new Set(node).size === 1) && shares().reduce((sum, [n]) => sum + n!, 0) === 4;
  await until(house.clock, isShared);
  expect(Math.max(...shares().flat())).toBeLessThanOrEqual(2);
  await pass(house.clock, 5000);

  reads.length = 0;
  await workAndRest();
  expect(isShared()).toBe(true);
  expect(countReads(reads).most).toBeLessThanOrEqual(1000 / limits.pollFirstMs);

  // One leaves, and its shards are read together elsewhere.
  await everyone(nodes.shift()!);
  await until(house.clock, isShared);
  await writeNotes(house, ['a', 'b', 'c', 'd']);
  await until(house.clock, () => isMirrored(house, names));
  for (const node of nodes) await everyone(node);
  await expectMirrored(house, names);
});

test('a consumer that is held up, or fails, holds up nobody, and reads along again when it has caught up', async () => {
  house = await openHouse();
  const { polled, reads } = pollable(house);
  const source = shareReads(polled);
  let release: () => void = () => {};
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  const quick = start(source, mirroring(house));
  const ofSlow = mirroring(house, { name: 'slow' });
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
    mirroring(house, {
      name: 'failing',
      attempts: 1,
      handle(change) {
        if (change.new?.id === 'a') throw new Error('no');
      },
    }),
  );
  await writeNote(house, 'a');
  await until(house.clock, () => isMirrored(house));
  // More than the window holds.
  const rounds = limits.windowRecords / 100 + 3;
  for (let round = 0; round < rounds; round++) {
    const notes = Array.from({ length: 100 }, (_, i) => writeNote(house, `n${i}`));
    await Promise.all(notes);
  }
  await until(house.clock, () => isMirrored(house));
  await until(house.clock, () => failing.counters().records === 100 * rounds + 1);
  expect(failing.counters().deadLetters).toBe(1);
  expect(slow.counters().records).toBe(0);

  release();
  await until(house.clock, () => isMirrored(house, ['mirror', 'slow']));
  await pass(house.clock, 5000);
  reads.length = 0;
  await pass(house.clock, 20_000);
  expect(reads.length).toBeLessThanOrEqual(20_000 / limits.pollMostMs + 1);
  await writeNote(house, 'a');
  await until(house.clock, () => isMirrored(house, ['mirror', 'slow']));
  await everyone([quick, slow, failing]);
  await expectMirrored(house, ['mirror', 'slow']);
});

// Where a reader begins at the newest record, nobody knows what came before it.
test('a consumer that is new gets what was written before somebody began to look on', async () => {
  house = await openHouse();
  const source = shareReads(pollable(house).polled);
  await writeNotes(house, ['a', 'b']);
  let begun = 0;
  const held = start(
    source,
    mirroring(house, {
      name: 'held',
      handle: (_, { signal }) => {
        begun += 1;
        return new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()));
      },
    }),
    60 * 60_000,
  );
  await until(house.clock, () => begun === 2);
  await pass(house.clock, 3 * limits.pollMostMs); // what it has read is not the newest any more
  const leaving = new AbortController();
  const heard: unknown[] = [];
  const onChange = ({ new: image }: { new?: unknown }) => void heard.push(image);
  const ready = new Promise<void>(onReady => {
    const options = { source, table: 'notes', clock: house.clock, onReady, onChange, onMissed() {} };
    void tailTable(options, leaving.signal);
  });
  await ready;
  await pass(house.clock, 2 * limits.pollOfFollowerMs); // nothing yet
  await writeNote(house, 'c');
  await until(house.clock, () => heard.length === 1);
  const late = start(source, mirroring(house));
  await until(house.clock, () => late.counters().records > 0);
  await pass(house.clock, 2 * limits.pollMostMs);
  leaving.abort();
  await everyone([held, late]);
  await expectMirrored(house);
});

test('who looks on reads along with the consumers', async () => {
  house = await openHouse();
  const { polled, reads } = pollable(house);
  const source = shareReads(polled);
  const consumer = start(source, mirroring(house));
  await writeNote(house, 'a');
  await until(house.clock, () => isMirrored(house));
  await pass(house.clock, 10_000);
  const leaving = new AbortController();
  const heard: unknown[] = [];
  let isReady = false;
  const tail = tailTable(
    {
      source,
      table: 'notes',
      clock: house.clock,
      onReady: () => {
        isReady = true;
      },
      onChange: change => heard.push(change.new),
      onMissed: () => heard.push('missed'),
    },
    leaving.signal,
  );
  await until(house.clock, () => isReady);
  reads.length = 0;
  await pass(house.clock, 12_000);
  expect(reads.length).toBeLessThanOrEqual(12_000 / limits.pollOfFollowerMs + 1);
  await writeNotes(house, ['a', 'b']);
  await until(house.clock, () => heard.length === 2);
  await until(house.clock, () => isMirrored(house));
  expect(heard).toMatchObject([{ id: 'a' }, { id: 'b' }]);
  leaving.abort();
  await tail;
  await consumer.stop();
});
