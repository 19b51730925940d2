import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recentRead, recentWritten } from '../limits.ts';
import { createRecentRecords, type Entry, type RecentRecords } from './recent-records.ts';

const streamId = 1;
const shards = [1, 2] as const;
type Shard = (typeof shards)[number];

// A log of two shards that grows at its end. This process hands over what it has written some time after its commit;
// other processes do not.
function createLog() {
  const log: (Entry & { shardId: Shard })[] = [];
  const recents = createRecentRecords(change => change.readUInt32BE(0));
  const committed: Parameters<RecentRecords['add']>[0][] = [];
  let last = 0;
  const entryOf = (shardId: Shard, size: number) => {
    const change = Buffer.alloc(4);
    change.writeUInt32BE(size);
    last += 1;
    return { shardId, sequence: last, change, size };
  };
  return {
    commit(sizes: readonly number[], shardOf: (i: number) => Shard): void {
      const added = sizes.map((size, i) => entryOf(shardOf(i), size));
      log.push(...added);
      committed.push({
        first: added[0]!.sequence,
        last,
        records: added.map(one => ({ streamId, ...one })),
      });
    },
    commitElsewhere(shardId: Shard, size: number): void {
      log.push(entryOf(shardId, size));
    },
    handOver(): void {
      for (const appended of committed.splice(0)) recents.add(appended);
    },
    read(shardId: Shard, position: number, limit: number) {
      const recent = recents.of(streamId, shardId);
      const known = recent.page(position, limit);
      const room = known.isFull ? 0 : limit - known.entries.length;
      const found = log.filter(one => one.shardId === shardId && one.sequence >= known.position);
      const read = found.slice(0, room);
      recent.remember(known.position, read);
      return { entries: [...known.entries, ...read], fromMemory: known.entries.length };
    },
    of: (shardId: Shard) => log.filter(one => one.shardId === shardId),
  };
}

const numbers = (entries: readonly Entry[]) => entries.map(({ sequence }) => sequence);

describe('the newest records', () => {
  // Readers begin anywhere and read pages of any size.
  it('give every reader all records once and in order, whoever wrote or read them first', () => {
    let fromMemory = 0;
    const shard = fc.constantFrom(...shards);
    const size = fc.constantFrom(10, 1000, recentRead.bytes / 3, recentWritten.bytes / 3);
    const step = fc.oneof(
      fc.record({ own: fc.array(size, { minLength: 1, maxLength: 4 }), shard }),
      fc.record({ others: size, shard }),
      fc.record({ handOver: fc.constant(true) }),
      fc.record({ reader: fc.nat(3), limit: fc.integer({ min: 1, max: 7 }) }),
      fc.record({ burst: fc.constant(recentRead.records + 50), shard }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.nat(20), { minLength: 4, maxLength: 4 }),
        fc.array(step, { maxLength: 100 }),
        (starts, steps) => {
          const log = createLog();
          const readers = starts.map((start, i) => ({
            shard: shards[i % 2]!,
            start,
            position: start,
            seen: [] as number[],
          }));
          const read = (reader: (typeof readers)[number], limit: number) => {
            const page = log.read(reader.shard, reader.position, limit);
            fromMemory += page.fromMemory;
            reader.position = (page.entries.at(-1)?.sequence ?? reader.position - 1) + 1;
            reader.seen.push(...numbers(page.entries));
            return page.entries.length;
          };
          for (const one of steps) {
            if ('own' in one) log.commit(one.own, i => shards[(i + one.shard) % 2]!);
            else if ('others' in one) log.commitElsewhere(one.shard, one.others);
            else if ('handOver' in one) log.handOver();
            else if ('reader' in one) read(readers[one.reader]!, one.limit);
            else log.commit(new Array(one.burst).fill(10), () => one.shard);
          }
          for (const reader of readers) {
            while (read(reader, 100) > 0);
            expect(reader.seen).toEqual(
              numbers(log.of(reader.shard)).filter(sequence => sequence >= reader.start),
            );
          }
        },
      ),
      { numRuns: process.env.STAK_LONG_TESTS ? 300 : 100 },
    );
    expect(fromMemory).toBeGreaterThan(100);
  });

  it('are not read from the log by a reader that follows what this process writes', () => {
    const log = createLog();
    log.read(1, 1, 10);
    log.commitElsewhere(1, 10);
    for (let i = 0; i < 5; i++) log.commit([10, 10, 10], () => 1);
    log.handOver();
    expect(log.read(1, 2, 1000)).toMatchObject({ fromMemory: 15 });
    expect(log.read(1, 1, 1000)).toMatchObject({ fromMemory: 0 }); // it needs that of the other process
  });

  it('are bounded by number and by bytes', () => {
    const log = createLog();
    log.read(1, 1, 10);
    for (let i = 0; i < 300; i++) log.commit(new Array(100).fill(1), () => 1);
    log.handOver();
    const inMemory = (count: number) => log.read(1, 30_001 - count, 30_000).fromMemory;
    expect([inMemory(recentWritten.records + 1), inMemory(recentWritten.records)]).toEqual([
      0,
      recentWritten.records,
    ]);
    log.commit([recentWritten.bytes - 100], () => 1);
    log.handOver();
    expect(log.read(1, 30_001, 10).fromMemory).toBe(1);
    expect(log.read(1, 29_901, 10).fromMemory).toBe(10);
    expect(log.read(1, 29_900, 10).fromMemory).toBe(0);
  });
});
