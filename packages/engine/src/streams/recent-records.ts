import { recentBytes, recentRecords, streamBytes } from '../limits.ts';
import type { LazyRecord } from './records.ts';

export type Entry = { sequence: number; record: LazyRecord; size: number };

// The start of a page, and where to continue in the log unless it is full.
type Beginning = { records: LazyRecord[]; bytes: number; position: number; isFull: boolean };

export type Recent = {
  page(position: number, limit: number): Beginning;
  // The records in the log from a position on, without a gap.
  remember(position: number, found: readonly Entry[]): void;
};

// The last records of a shard, read from the log once for all readers. A log only grows at its end, so cached records
// stay valid. Records are shared and must not be changed.
export function createRecent(): Recent {
  let entries: Entry[] = [];
  let from = 0; // every record of the shard from here on, up to the last one of `entries`, is in it
  let bytes = 0;

  const end = (): number => (entries.length === 0 ? from : entries.at(-1)!.sequence + 1);

  function shorten(): void {
    let left = entries.length;
    let first = 0;
    while (left > recentRecords || bytes > recentBytes) {
      bytes -= entries[first]!.size;
      first += 1;
      left -= 1;
    }
    if (first === 0) return;
    from = entries[first - 1]!.sequence + 1;
    entries = entries.slice(first);
  }

  return {
    page(position, limit) {
      const page: Beginning = { records: [], bytes: 0, position, isFull: false };
      if (position < from || position >= end()) return page;
      for (let i = findFirst(entries, position); i < entries.length; i++) {
        const { record, sequence, size } = entries[i]!;
        page.isFull = page.records.length === limit || (page.bytes > 0 && page.bytes + size > streamBytes);
        if (page.isFull) break;
        page.records.push(record);
        page.bytes += size;
        page.position = sequence + 1;
      }
      return page;
    },
    remember(position, found) {
      if (found.length === 0 || position < from) return;
      if (position !== end()) {
        entries = [];
        from = position;
        bytes = 0;
      }
      for (const entry of found) {
        entries.push(entry);
        bytes += entry.size;
      }
      shorten();
    },
  };
}

// The first record at or after a position.
function findFirst(entries: readonly Entry[], position: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries[middle]!.sequence < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
