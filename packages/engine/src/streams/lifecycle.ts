import type { Context } from '../context.ts';
import type { Tx } from '../storage/committer.ts';
import type { Stream, StreamViewType, Table } from '../storage/table.ts';
import { withIds } from '../tables/ids.ts';
import { knownTable } from '../tables/known-table.ts';
import { keepDroppedStream, listDroppedStreams } from './dropped-streams.ts';
import { streamLabel } from './names.ts';

type Opening = { viewType: StreamViewType; sequence: number; newId: () => number };

// `sequence` is a number of the log's own counter, taken in this transaction: every later record is above it.
export function openStream(context: Context, table: Table, { viewType, sequence, newId }: Opening): Stream {
  const createdAt = context.now();
  return {
    id: newId(),
    label: unusedLabel(context, table, createdAt),
    viewType,
    enabled: true,
    createdAt,
    shards: Array.from({ length: context.streamShards }, (_, slot) => ({
      id: newId(),
      slot,
      start: sequence,
    })),
  };
}

// Two streams of one table name in the same millisecond must still have different ARNs.
function unusedLabel(context: Context, table: Table, createdAt: number): string {
  const dropped = listDroppedStreams(context.store).filter(entry => entry.tableName === table.name);
  const used = new Set([...table.streams, ...dropped.map(entry => entry.stream)].map(stream => stream.label));
  let at = createdAt;
  while (used.has(streamLabel(at))) at++;
  return streamLabel(at);
}

export function closeStream(stream: Stream, sequence: number, closedAt: number): Stream {
  const shards = stream.shards.map(shard =>
    shard.end === undefined ? { ...shard, end: sequence, closedAt } : shard,
  );
  return { ...stream, enabled: false, shards };
}

// When the table is deleted, its streams stay.
export function keepStreamsOf(tx: Tx, table: Table, now: number): void {
  if (table.streams.length === 0) return;
  const sequence = tx.nextSequenceForAll();
  for (const stream of table.streams) {
    keepDroppedStream(tx, {
      tableName: table.name,
      keys: table.keys,
      stream: stream.enabled ? closeStream(stream, sequence, now) : stream,
    });
  }
}

// Closes every open shard of the table's stream and opens a child for each. A child takes its parent's position among
// the open shards, so the changes of one item move from a shard to its child and to no other.
export function rollShards(context: Context, tableName: string): Promise<void> {
  return context.submit((tx: Tx) => {
    const table = knownTable(context, tableName);
    const stream = table.streams.at(-1);
    if (!stream?.enabled) return;
    const sequence = tx.nextSequenceForAll();
    const rolled = withIds(context.store, tx, newId => rollOver(stream, sequence, context.now(), newId));
    context.catalog.save(tx, { ...table, streams: [...table.streams.slice(0, -1), rolled] });
  });
}

function rollOver(stream: Stream, sequence: number, now: number, newId: () => number): Stream {
  const open = stream.shards.filter(shard => shard.end === undefined);
  const children = open.map(({ id, slot }) => ({ id: newId(), parent: id, slot, start: sequence }));
  const closed = closeStream(stream, sequence, now);
  return { ...closed, enabled: true, shards: [...closed.shards, ...children] };
}
