import type { Clock } from '@stak/kit';
import { isUnavailable } from '@stak/table';
import * as limits from '../limits.ts';
import { readChange, type UnknownChange } from '../source/change.ts';
import { linkSignal } from '../source/linked-signal.ts';
import type { Start } from '../source/shard-reader.ts';
import { listShards, newestIterator, type Shard } from '../source/shards.ts';
import { openShard } from '../source/shared-reads.ts';
import type { StreamRecord, StreamSource } from '../source/source.ts';

/** Options of `tailTable`. */
export type TailOptions = {
  source: StreamSource;
  table: string;
  clock: Clock;
  // Changes written after this call are not missed.
  onReady(): void;
  // The change with its stored images, or the record as it came.
  onChange?(change: UnknownChange): void;
  onRecord?(record: StreamRecord): void;
  // Changes may have been missed: they were removed before they were read, or the position was lost.
  onMissed(): void;
};

/**
 * Reads every change of a table from now on, in order for each item, for live views. There is no lease, no checkpoint
 * and no retry. It continues until the signal is aborted, or throws.
 */
export async function tailTable(options: TailOptions, signal: AbortSignal): Promise<void> {
  const { source, table, clock } = options;
  const over = linkSignal(signal);
  const seen = new Set<string>();
  const reading = new Map<string, Promise<void>>();
  let failure: { error: unknown } | undefined;
  const whenAvailable = <Output>(call: () => Promise<Output>) => untilAvailable(clock, over.signal, call);

  function begin(shard: Shard, start: Start): void {
    seen.add(shard.key);
    const toItsEnd = followShard(options, shard, start, over.signal).then(() => {
      reading.delete(shard.key);
      return findShards();
    });
    reading.set(shard.key, toItsEnd.catch(fail));
  }

  function fail(error: unknown): void {
    if (over.signal.aborted) return;
    failure = { error };
    over.abort();
  }

  // Shards that appear later are read from their beginning, after their parents.
  async function findShards(): Promise<void> {
    if (over.signal.aborted) return;
    for (const shard of await whenAvailable(() => listShards(source, table)))
      if (!seen.has(shard.key) && !shard.parents.some(parent => reading.has(parent))) begin(shard, {});
  }

  async function beginAtEnd(): Promise<void> {
    for (const shard of await whenAvailable(() => listShards(source, table))) {
      seen.add(shard.key);
      const iterator = shard.isOpen ? await whenAvailable(() => newestIterator(source, shard)) : undefined;
      if (iterator !== undefined) begin(shard, { iterator, newest: true });
    }
    options.onReady();
  }

  try {
    await beginAtEnd().catch(fail);
    while (!over.signal.aborted) {
      await clock.sleep(limits.discoverMs, over.signal).catch(() => {});
      await findShards().catch(fail);
    }
    await Promise.all(reading.values());
  } finally {
    over.abort();
    over.unlink();
  }
  if (failure) throw failure.error;
}

// DynamoDB allows five reads of a shard and ten descriptions of a stream per second, so with many processes some
// requests have to be retried.
async function untilAvailable<Output>(
  clock: Clock,
  signal: AbortSignal,
  call: () => Promise<Output>,
): Promise<Output> {
  for (let waitMs = limits.pollOfFollowerMs; ; waitMs = Math.min(limits.unavailableMostMs, 2 * waitMs))
    try {
      return await call();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await clock.sleep(waitMs, signal);
    }
}

async function followShard(
  { source, clock, onChange, onRecord, onMissed }: TailOptions,
  shard: Shard,
  start: Start,
  signal: AbortSignal,
): Promise<void> {
  const open = openShard(source, {
    shard,
    start,
    onMishap(mishap) {
      if (mishap !== 'expired') onMissed();
    },
    clock,
    pollMostMs: limits.pollOfFollowerMs,
  });
  try {
    while (!signal.aborted) {
      const since = source.position?.();
      const page = await untilAvailable(clock, signal, () => open.read(limits.batchRecords));
      if (signal.aborted) return;
      for (const record of page.records) {
        onRecord?.(record);
        onChange?.(readChange([], record) as UnknownChange);
      }
      if (page.ended) return;
      await open.pause(page, since, signal);
    }
  } finally {
    open.close();
  }
}
