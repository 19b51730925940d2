import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCatchUp, createDeadLetters, handOver, listShards, readStatus } from '../src/index.ts';
import {
  type Fixture,
  type NoteChange,
  note,
  notesTable,
  openFixture,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

let old: Fixture;
let fresh: Fixture;
beforeEach(async () => {
  old = await openFixture();
  fresh = await openFixture({ clock: old.clock });
});
afterEach(() => Promise.all([old.engine.close(), fresh.engine.close()]));

function listening(mayHandle: (version: number) => boolean = () => true) {
  const seen: [number, string | undefined][] = [];
  const subscription = {
    name: 'listener',
    table: notesTable,
    entities: [note],
    concurrency: 1,
    async handle(change: NoteChange, { shardId, signal }: { shardId?: string; signal: AbortSignal }) {
      const { version } = change.new!;
      if (!mayHandle(version)) await new Promise((_, reject) => signal.addEventListener('abort', reject));
      seen.push([version, shardId]);
    },
  };
  return { seen, subscription };
}

// A migration copies the items, and then notes where its own writes end in the new streams.
async function copyNotes(): Promise<
  { shard: Awaited<ReturnType<typeof listShards>>[number]; sequence: string }[]
> {
  const { Items = [] } = await old.client.scan({ TableName: 'notes' });
  for (const Item of Items) await fresh.client.put({ TableName: 'notes', Item });
  const copies = createCatchUp({ source: fresh.source, table: 'notes' }, new Map());
  await copies.read(() => {});
  const shards = await listShards(fresh.source, 'notes');
  return shards.map(shard => ({ shard, sequence: copies.reached().get(shard.shardId)! }));
}

test('a consumer continues in another store with unhandled changes, and does not see the copy itself', async () => {
  const before = listening(version => version <= 2);
  await writeNotes(old, ['a'], 5);
  const consumer = startConsumer(old, { subscription: before.subscription });
  await until(old.clock, () => before.seen.length === 2);
  await consumer.stop();

  const hand = async () =>
    handOver(
      {
        from: old,
        to: fresh.store,
        shards: await copyNotes(),
        nameOf: shardId => `old-${shardId}`,
        clock: old.clock,
      },
      'listener',
    );
  expect(await hand()).toBe(3);
  expect(await hand()).toBe(3); // once more after a kill

  const after = listening();
  await fresh.store.put(note, { id: 'a', version: 6 });
  const next = startConsumer(fresh, { subscription: after.subscription });
  await until(fresh.clock, () => after.seen.length >= 4);
  await until(fresh.clock, async () => (await readStatus(fresh, 'listener')).deadLetters === 0);
  await next.stop();
  expect(after.seen.map(([version]) => version).toSorted()).toEqual([3, 4, 5, 6]);
  const carried = after.seen.filter(([version]) => version < 6);
  expect(carried.every(([, shardId]) => shardId?.startsWith('old-'))).toBe(true);
});

test('a change that was handled because the move was abandoned is not handed over again', async () => {
  const { seen, subscription } = listening();
  await writeNotes(old, ['a'], 1);
  const first = startConsumer(old, { subscription });
  await until(old.clock, () => seen.length === 1);
  await first.stop();
  await writeNotes(old, ['a'], 2);
  const options = { from: old, to: fresh.store, shards: [], nameOf: (id: string) => id, clock: old.clock };
  expect(await handOver(options, 'listener')).toBe(2);
  const second = startConsumer(old, { subscription });
  await until(old.clock, () => seen.length === 3);
  await second.stop();
  expect(await handOver(options, 'listener')).toBe(0);
  const letters = createDeadLetters({ store: fresh.store, clock: old.clock, consumer: 'listener' });
  for await (const letter of letters.list()) expect.unreachable(letter.sequence);
});

test('reading a stream to its end terminates, however steadily it grows', async () => {
  await writeNotes(old, ['a'], 3);
  const versions: unknown[] = [];
  const stream = createCatchUp({ source: old.source, table: 'notes' }, new Map());
  const read = () =>
    stream.read(
      ({ new: image }) => void versions.push(image?.version),
      () => writeNotes(old, ['a']),
    );
  await read();
  expect(versions).toEqual([1, 2, 3]);
  await read();
  expect(versions).toEqual([1, 2, 3, 4]);
});
