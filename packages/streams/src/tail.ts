import type { Clock } from '@stak/kit';
import { isUnavailable } from '@stak/table';
import { readChange, type UnknownChange } from './change.ts';
import * as limits from './limits.ts';
import type { Start } from './shard-reader.ts';
import { listShards, newestIterator, type Shard } from './shards.ts';
import { openShard } from './shared-reads.ts';
import { followSignal } from './signal.ts';
import type { StreamRecord, StreamSource } from './source.ts';

/** Options of `tailTable`. */
export type TailOptions = {
  source: StreamSource;
  table: string;
  clock: Clock;
  // Nothing that is written after this is missed.
  onReady(): void;
  // As it is stored, or as it came.
  onChange?(change: UnknownChange): void;
  onRecord?(record: StreamRecord): void;
  // Changes were gone before they could be read.
  onMissed(): void;
};

/**
 * Every change of a table from now on, each item's in their order, for somebody who looks on. Nothing is remembered:
 * there is no lease, no checkpoint and no other try. It continues until the signal is aborted, or throws.
 */
export async function tailTable(options: TailOptions, signal: AbortSignal): Promise<void> {
  const { source, table, clock } = options;
  const over = followSignal(signal);
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

  // Shards that came after the tail did are read from their beginning, when what comes before them was read.
  async function findShards(): Promise<void> {
    if (over.signal.aborted) return;
    for (const shard of await whenAvailable(() => listShards(source, table)))
      if (!seen.has(shard.key) && !shard.parents.some(parent => reading.has(parent))) begin(shard, {});
  }

  async function beginAtEnd(): Promise<void> {
    const startedAt = clock.now();
    for (const shard of await whenAvailable(() => listShards(source, table))) {
      seen.add(shard.key);
      const iterator = shard.isOpen ? await whenAvailable(() => newestIterator(source, shard)) : undefined;
      if (iterator !== undefined) begin(shard, { iterator, notBeforeMs: startedAt });
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
    over.unfollow();
  }
  if (failure) throw failure.error;
}

// DynamoDB allows five reads of a shard and ten descriptions of a stream a second: with many processes looking on, some
// have to come again.
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
