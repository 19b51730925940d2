import type { Context } from './context.ts';
import { readSize } from './storage/committer.ts';
import { head, prefixRange, space } from './storage/keys.ts';
import type { LmdbStats } from './storage/store.ts';
import { vectorsOf } from './storage/table.ts';
import { listDroppedStreams } from './streams/dropped-streams.ts';

type TableStats = {
  name: string;
  items: number;
  bytes: number;
  indexes: { name: string; items: number; bytes: number }[];
  ttlEntries: number;
  logRecords: number;
};

export type Stats = {
  tables: TableStats[];
  // Includes the streams of dropped tables.
  logRecords: number;
  fileBytes: number;
  freePages: number;
  pageBytes: number;
};

// Counting the log and the TTL index walks their keys; everything else is stored.
export function stats(context: Context): Stats {
  const { catalog, store } = context;
  const count = (prefix: number, id: number) => store.count(prefixRange(head(prefix, id)));
  const tables = catalog.all().map(
    (table): TableStats => ({
      name: table.name,
      ...readSize(store, table.id),
      indexes: [...table.indexes, ...vectorsOf(table)].map(index => ({
        name: index.name,
        ...readSize(store, index.id),
      })),
      ttlEntries: table.ttl ? count(space.ttl, table.id) : 0,
      logRecords: table.streams.reduce((sum, stream) => sum + count(space.log, stream.id), 0),
    }),
  );
  const dropped = listDroppedStreams(store).reduce((sum, { stream }) => sum + count(space.log, stream.id), 0);
  const pages = store.stats();
  return {
    tables,
    logRecords: tables.reduce((sum, table) => sum + table.logRecords, dropped),
    fileBytes: (pages.lastPageNumber + 1) * pages.pageSize,
    freePages: freePages(pages),
    pageBytes: pages.pageSize,
  };
}

const metaPages = 2;

// LMDB lists its free pages in a separate tree; pages of no tree are free.
function freePages({ lastPageNumber, root, free }: LmdbStats): number {
  const used = [root, free].reduce(
    (sum, tree) => sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages,
    metaPages,
  );
  return Math.max(0, lastPageNumber + 1 - used);
}
