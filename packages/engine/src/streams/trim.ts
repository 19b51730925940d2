import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import { streamRetentionMs } from '../limits.ts';
import { decodeChangeTime } from '../storage/change-log.ts';
import type { Tx } from '../storage/committer.ts';
import { logSequence, metaKey } from '../storage/keys.ts';
import { encodeJson, readMeta, type Store } from '../storage/store.ts';
import type { Shard, Stream } from '../storage/table.ts';
import { keysPerTransaction } from '../tables/removal.ts';
import {
  forgetDroppedStream,
  keepDroppedStream,
  listDroppedStreams,
  type StreamEntry,
} from './dropped-streams.ts';
import { shardRange } from './records.ts';
import { listAllStreams } from './stream-lookup.ts';

// Records are kept for a day. The newest sequence removed from a shard is stored, to report it to a reader that asks
// for older records.

const trimmedName = (streamId: number, shardId: number): string => `trimmed/${streamId}/${shardId}`;

export const trimmedUpTo = (store: Store, streamId: number, shardId: number): number =>
  readMeta<number>(store, trimmedName(streamId, shardId)) ?? -1;

export function checkNotTrimmed(store: Store, streamId: number, shardId: number, position: number): void {
  if (position > trimmedUpTo(store, streamId, shardId)) return;
  throw new DynamoError(
    'TrimmedDataAccessException',
    'The operation attempted to read past the oldest stream record in a shard.',
  );
}

export async function trimLog(context: Context): Promise<number> {
  const horizon = context.now() - streamRetentionMs;
  let removed = 0;
  for (const { stream } of listAllStreams(context)) {
    for (const shard of stream.shards) removed += await trimShard(context, stream, shard, horizon);
    if (stream.shards.some(shard => isOver(context.store, stream, shard, horizon))) {
      await context.submit(tx => dropShards(context, tx, stream.id, horizon));
    }
  }
  return removed;
}

async function trimShard(context: Context, stream: Stream, shard: Shard, horizon: number): Promise<number> {
  const { store } = context;
  let removed = 0;
  // Checking costs nothing; a transaction is started only if there is something to remove.
  while (oldKeys(store, stream.id, shard.id, horizon, 1).length > 0) {
    removed += await context.submit(tx => {
      const keys = oldKeys(store, stream.id, shard.id, horizon, keysPerTransaction);
      const last = keys.at(-1);
      if (!last) return 0;
      for (const key of keys) tx.remove(key);
      tx.put(metaKey(trimmedName(stream.id, shard.id)), encodeJson(logSequence(last)));
      return keys.length;
    });
  }
  return removed;
}

function oldKeys(store: Store, streamId: number, shardId: number, horizon: number, limit: number): Buffer[] {
  const keys: Buffer[] = [];
  for (const { key, value: at } of store.range(shardRange(streamId, shardId), decodeChangeTime)) {
    if (at >= horizon || keys.length === limit) break;
    keys.push(key);
  }
  return keys;
}

// A closed shard also stays for a day, even when empty: its readers learn from it where to continue.
function isOver(store: Store, stream: Stream, shard: Shard, horizon: number): boolean {
  if (shard.closedAt === undefined || shard.closedAt >= horizon) return false;
  for (const _ of store.keys(shardRange(stream.id, shard.id))) return false;
  return true;
}

function dropShards(context: Context, tx: Tx, streamId: number, horizon: number): void {
  const { catalog, store } = context;
  const table = catalog.list().find(({ streams }) => streams.some(({ id }) => id === streamId));
  const dropped = listDroppedStreams(store).find(({ stream }) => stream.id === streamId);
  const stream = table?.streams.find(({ id }) => id === streamId) ?? dropped?.stream;
  if (!stream) return;
  const shards = stream.shards.filter(shard => {
    if (!isOver(store, stream, shard, horizon)) return true;
    tx.remove(metaKey(trimmedName(streamId, shard.id)));
    return false;
  });
  const left: Stream | undefined = stream.enabled || shards.length > 0 ? { ...stream, shards } : undefined;
  if (dropped) saveDropped(tx, dropped, left);
  if (!table) return;
  const streams = table.streams.flatMap(other => (other.id === streamId ? (left ?? []) : other));
  catalog.save(tx, { ...table, streams });
}

function saveDropped(tx: Tx, entry: StreamEntry, left: Stream | undefined): void {
  if (left) keepDroppedStream(tx, { ...entry, stream: left });
  else forgetDroppedStream(tx, entry.stream.id);
}
