import { readRecordsMost } from '../limits.ts';
import { readChange, type UnknownChange } from '../source/change.ts';
import { isAfter } from '../source/sequence.ts';
import { createShardReader } from '../source/shard-reader.ts';
import { listShards, type Shard } from '../source/shards.ts';
import type { StreamSource } from '../source/source.ts';

/** Reads a stream from the last position up to now. Created with `createCatchUp`. */
export type CatchUp = {
  // Reads every change since the last call, in order for each item. The next page waits for `onPage`.
  read(onChange: (change: UnknownChange) => void, onPage?: () => Promise<void>): Promise<void>;
  // The last sequence number read in each shard.
  reached(): ReadonlyMap<string, string>;
};

type Settings = {
  source: StreamSource;
  table: string;
  without?: readonly string[]; // shards to skip
  onMissed?(): void; // changes were removed before they were read
};

const emptyReads = 3; // a shard of DynamoDB may return empty pages before its end; the engine's never does

/**
 * Reads a table's stream from the given positions to its end, each time `read` is called: for comparing the stream with
 * a scan of the table. Keeps no checkpoint, and takes no lease.
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

  // Under steady load a shard is never empty. If the source knows its newest record, newer ones are left for the next
  // call.
  async function readShard(
    shard: Shard,
    newest: string | undefined,
    onChange: (change: UnknownChange) => void,
    onPage: () => Promise<void>,
  ): Promise<void> {
    let empty = 0;
    const patience = source.position ? 1 : emptyReads;
    while (empty < patience) {
      const page = await readerOf(shard).read(readRecordsMost);
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
      // Parents come before their children, so the changes of an item are read in order.
      for (const shard of await listShards(source, table))
        if (!ended.has(shard.key) && !without.includes(shard.shardId))
          await readShard(shard, newest, onChange, onPage);
    },
  };
}
