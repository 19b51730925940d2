import { recentRead, recentShards, recentWritten, streamBytes } from '../limits.ts';
import type { Appended } from '../storage/committer.ts';
import type { NativeItem } from '../values/marshal.ts';
import type { LazyRecord } from './records.ts';

// The newest change records of the shards that are read in this process. Most readers of a shard are near its end: what
// this process has written, or one of them has read from the log, the others get from memory.

export type Entry = {
  sequence: number;
  change: Buffer;
  size: number;
  keys?: NativeItem | undefined; // those of the change, if they need not be decoded
  record?: LazyRecord;
};

// The start of a page, and where to continue in the log unless it is full.
type Beginning = { entries: Entry[]; bytes: number; position: number; isFull: boolean };

type Recent = {
  page(position: number, limit: number): Beginning;
  // The records in the log from a position on, without a gap.
  remember(position: number, entries: readonly Entry[]): void;
  // A record that this process has written. Every record of the shard from `known` on was given in this way.
  append(entry: Entry, previous: number): void;
};

// A log only grows at its end, so cached records stay valid. Records are shared and must not be changed.
function createRecent(): Recent {
  let entries: Entry[] = [];
  let head = 0; // earlier entries are dropped
  let from = 0; // every record of the shard from here on, up to the last one of `entries`, is in it
  let bytes = 0;

  const end = (): number => (entries.length === 0 ? from : entries.at(-1)!.sequence + 1);

  function restart(position: number): void {
    entries = [];
    head = 0;
    from = position;
    bytes = 0;
  }

  function push(entry: Entry, most: typeof recentRead): void {
    entries.push(entry);
    bytes += entry.size;
    while (entries.length - head > most.records || bytes > most.bytes) {
      bytes -= entries[head]!.size;
      from = entries[head]!.sequence + 1;
      head += 1;
    }
    // Not each time, because it copies what is left.
    if (head < most.records) return;
    entries = entries.slice(head);
    head = 0;
  }

  return {
    page(position, limit) {
      const page: Beginning = { entries: [], bytes: 0, position, isFull: false };
      if (position < from || position >= end()) return page;
      for (let i = findFirst(entries, head, position); i < entries.length; i++) {
        const entry = entries[i]!;
        const isLarge = page.bytes > 0 && page.bytes + entry.size > streamBytes;
        page.isFull = page.entries.length === limit || isLarge;
        if (page.isFull) break;
        page.entries.push(entry);
        page.bytes += entry.size;
        page.position = entry.sequence + 1;
      }
      return page;
    },
    remember(position, entries) {
      if (entries.length === 0 || position < from) return;
      if (position !== end()) restart(position);
      for (const entry of entries) push(entry, recentRead);
    },
    append(entry, previous) {
      const last = end();
      if (entry.sequence < last) return; // a reader has found it in the log
      if (last < previous) restart(previous);
      push(entry, recentWritten);
    },
  };
}

// The first entry at or after a position.
function findFirst(entries: readonly Entry[], head: number, position: number): number {
  let low = head;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries[middle]!.sequence < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

export type RecentRecords = {
  of(streamId: number, shardId: number): Recent;
  // Takes what a commit of this process has added to the log: when it is durable, in the order of commits.
  add(appended: Appended): void;
};

export function createRecentRecords(sizeOf: (change: Buffer) => number): RecentRecords {
  // `since`: what was added before this sequence was not given to it.
  const shards = new Map<string, { recent: Recent; since: number }>();
  let from = 0; // every later record was written by this process, and added
  let next = -1;
  return {
    of(streamId, shardId) {
      const key = `${streamId}/${shardId}`;
      const recent = shards.get(key) ?? { recent: createRecent(), since: next };
      // The shard that was not read for the longest time is the first.
      shards.delete(key);
      shards.set(key, recent);
      for (const first of shards.keys()) {
        if (shards.size <= recentShards) break;
        shards.delete(first);
      }
      return recent.recent;
    },
    add({ first, last, records }) {
      // Numbers are given to all streams together: a gap has the records of another process.
      if (first !== next) from = first;
      next = last + 1;
      for (const { streamId, shardId, sequence, change, keys } of records) {
        const { recent, since } = shards.get(`${streamId}/${shardId}`) ?? {};
        recent?.append({ sequence, change, size: sizeOf(change), keys }, Math.max(from, since!));
      }
    },
  };
}
