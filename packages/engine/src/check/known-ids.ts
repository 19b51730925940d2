import type { Context } from '../context.ts';
import type { Index, Table } from '../storage/table.ts';
import { listAllStreams } from '../streams/stream-lookup.ts';
import { itemsOf, listBackups } from '../tables/backups.ts';
import { listGarbage } from '../tables/removal.ts';

// The tables, indexes and streams that the ids in keys belong to.
export function readKnownIds(context: Context) {
  const tables = new Map<number, Table>();
  const indexes = new Map<number, { table: Table; index: Index }>();
  for (const backup of listBackups(context.store)) tables.set(backup.id, itemsOf(backup));
  for (const table of context.catalog.all()) {
    tables.set(table.id, table);
    for (const index of table.indexes) indexes.set(index.id, { table, index });
  }
  const streams = new Map(listAllStreams(context).map(entry => [entry.stream.id, entry]));
  const garbage = new Set(listGarbage(context.store).map(prefix => prefix.toString('latin1')));
  const isGarbage = (key: Buffer): boolean => garbage.has(key.toString('latin1', 0, 5));
  return { tables, indexes, streams, isGarbage };
}
