import { readChange, type UnknownChange } from './change.ts';
import { batchRecordsMost } from './limits.ts';
import { isAfter } from './sequence.ts';
import { createShardReader } from './shard-reader.ts';
import { listShards, type Shard } from './shards.ts';
import type { StreamSource } from './source.ts';

/** Reads a stream from where it stopped up to now. Made with `createCatchUp`. */
export type CatchUp = {
  // Every change between where the last call ended and now, each item's in their order. `onPage` holds up the next page.
  read(onChange: (change: UnknownChange) => void, onPage?: () => Promise<void>): Promise<void>;
  // The last sequence number that was read of each shard.
  reached(): ReadonlyMap<string, string>;
};

type Settings = {
  source: StreamSource;
  table: string;
  without?: readonly string[]; // shards to pass over
  onMissed?(): void; // changes were gone before they were read
};

const emptyReads = 3; // a shard of DynamoDB may answer nothing before its end; the engine's never does

/**
 * A table's stream from the given places on, read to its end whenever somebody asks: for comparing it with what a
 * scan of the table finds. Nothing is remembered, and nobody else is kept from reading.
 */
export function createCatchUp(
  { source, table, without = [], onMissed }: Settings,
  after: ReadonlyMap<string, string>,
): CatchUp {
  const reached = new Map(after);
  const readers = new Map<string, ReturnType<typeof createShardReader>>();
  const ended = new Set<string>();

  function readerOf(shard: Shard) {
    const known = readers.get(shard.key);
    if (known) return known;
    const sequence = reached.get(shard.shardId);
    const start = sequence === undefined || sequence === '' ? {} : { after: sequence };
    const reader = createShardReader(source, shard, start, mishap => {
      if (mishap === 'trimmed') onMissed?.();
    });
    readers.set(shard.key, reader);
    return reader;
  }

  // Under steady load a shard is never empty: where it can be told, what is newer than the call is left to the next one.
  async function readShard(
    shard: Shard,
    newest: string | undefined,
    onChange: (change: UnknownChange) => void,
    onPage: () => Promise<void>,
  ): Promise<void> {
    let empty = 0;
    const patience = source.position ? 1 : emptyReads;
    while (empty < patience) {
      const page = await readerOf(shard).read(batchRecordsMost);
      for (const record of page.records) onChange(readChange([], record) as UnknownChange);
      if (page.last !== undefined) reached.set(shard.shardId, page.last);
      await onPage();
      if (page.ended) {
        ended.add(shard.key);
        return;
      }
      empty = page.last === undefined ? empty + 1 : 0;
      if (newest !== undefined && page.last !== undefined && !isAfter(newest, page.last)) return;
    }
  }

  return {
    reached: () => reached,
    async read(onChange, onPage = async () => {}) {
      const newest = source.newest?.();
      // Parents come before their children, so no item's changes are seen out of order.
      for (const shard of await listShards(source, table))
        if (!ended.has(shard.key) && !without.includes(shard.shardId))
          await readShard(shard, newest, onChange, onPage);
    },
  };
}
