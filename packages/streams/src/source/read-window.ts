import type { Clock } from '@stak/kit';
import * as limits from '../limits.ts';
import { linkSignal } from './linked-signal.ts';
import { isAfter } from './sequence.ts';
import { createShardReader, type Page, type Start } from './shard-reader.ts';
import type { Shard } from './shards.ts';
import type { StreamRecord, StreamSource } from './source.ts';

// Records were removed, or a position at the newest record was lost: the window cannot continue without a gap.
export class WindowLostError extends Error {}

export type Window = ReturnType<typeof createWindow>;

const sequenceOf = (record: StreamRecord | undefined): string | undefined => record?.dynamodb?.SequenceNumber;
const bytesOf = ({ dynamodb }: StreamRecord): number => dynamodb?.SizeBytes ?? limits.recordBytes;

// The last records read from a shard, and the read that continues when a consumer reaches their end. Positions count
// records from the start of the window. `origin` is the record before the window, or empty at the oldest; undefined if
// it is not known.
export function createWindow(
  source: StreamSource,
  shard: Pick<Shard, 'streamArn' | 'shardId'>,
  start: Start,
  origin: { after: string | undefined } | undefined,
  clock: Clock,
) {
  const reader = createShardReader(source, shard, start, mishap => {
    if (mishap !== 'expired') throw new WindowLostError(`the window of ${shard.shardId} has a gap`);
  });
  const waiting = new Set<{ abort(): void }>();
  let before = origin; // the first record in the window
  let records: StreamRecord[] = [];
  let first = 0;
  let bytes = 0;
  let ended = false;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let intervalMs: number = limits.pollFirstMs;
  let isMoreLikely = false;
  let reading: Promise<void> | undefined;

  function add(page: Page): void {
    for (const record of page.records) {
      records.push(record);
      bytes += bytesOf(record);
    }
    let dropped = 0;
    while (records.length - dropped > limits.windowRecords || bytes > limits.windowBytes) {
      bytes -= bytesOf(records[dropped]!);
      dropped += 1;
    }
    if (dropped > 0) {
      before = { after: sequenceOf(records[dropped - 1]) };
      records = records.slice(dropped);
      first += dropped;
    }
    ended = page.ended;
    isMoreLikely = page.isFull;
    if (page.last !== undefined) intervalMs = limits.pollFirstMs;
    readAtMs = clock.now();
    if (page.last === undefined && !ended) return;
    for (const waiter of waiting) waiter.abort();
  }

  async function readNext(): Promise<void> {
    if (readAtMs !== Number.NEGATIVE_INFINITY)
      intervalMs = Math.min(limits.pollMostMs, Math.round(intervalMs * limits.pollGrowth));
    try {
      add(await reader.read(limits.readRecordsMost));
    } catch (error) {
      [isMoreLikely, readAtMs] = [false, clock.now()];
      throw error;
    }
  }

  const lastSequence = (): string | undefined => sequenceOf(records.at(-1)) ?? before?.after;
  const dueInMs = (pollMostMs: number): number =>
    isMoreLikely ? 0 : Math.max(0, readAtMs + Math.min(intervalMs, pollMostMs) - clock.now());

  return {
    add,
    first: () => first,
    end: () => first + records.length,
    hasEnded: () => ended,
    lastSequence,
    // The position after this record, or of the oldest record there ever was; undefined if it is not in the window.
    find(after: string | undefined): number | undefined {
      if (before && before.after === after) return first;
      if (after === undefined) return undefined;
      const index = records.findIndex(record => sequenceOf(record) === after);
      return index < 0 ? undefined : first + index + 1;
    },
    // A window that does not know its position counts as ahead.
    isBehind(sequence: string): boolean {
      const last = lastSequence();
      return last === undefined ? before !== undefined : isAfter(sequence, last);
    },
    isFresh: () => clock.now() - readAtMs <= 2 * limits.pollMostMs,
    isDue: (pollMostMs: number) => !ended && (reading !== undefined || dueInMs(pollMostMs) === 0),
    dueInMs,
    // Concurrent callers share one read.
    readOn(): Promise<void> {
      reading ??= readNext().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    take(position: number, limit: number) {
      if (position < first) throw new WindowLostError(`the window of ${shard.shardId} begins later`);
      return records.slice(position - first, position - first + limit);
    },
    // Returns early when records arrive.
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      const over = linkSignal(signal);
      waiting.add(over);
      try {
        await clock.sleep(ms, over.signal);
      } catch (error) {
        if (signal.aborted || !over.signal.aborted) throw error;
      } finally {
        waiting.delete(over);
        over.unlink();
      }
    },
  };
}
