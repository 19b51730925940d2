import type { History } from './history/history.ts';
import type { PartitionUsage } from './partition-usage.ts';
import type { Catalog } from './storage/catalog.ts';
import type { Gathering } from './storage/codec.ts';
import type { SubmitOptions, Tx } from './storage/committer.ts';
import type { Decode, Store } from './storage/store.ts';
import type { Table } from './storage/table.ts';
import type { RecentRecords } from './streams/recent-records.ts';
import type { Buckets } from './transfer/buckets.ts';
import type { Item } from './values/attribute-value.ts';
import type { Vectors } from './vectors/upkeep.ts';

// Shared by all actions.
export type Context = {
  store: Store;
  catalog: Catalog;
  // Runs in the next group commit; resolves when it is on disk. Decide first, write afterwards: what `work`
  // throws before its first write rejects only this call.
  submit<T>(work: (tx: Tx) => T, options?: SubmitOptions): Promise<T>;
  // Earlier states of the store; undefined if none are kept.
  history?: Pick<History, 'range' | 'openItems'> | undefined;
  // The files of exports and imports.
  buckets: Buckets;
  // This process among those that have the store open.
  peer: { id: string; isGone(id: string): Promise<boolean> };
  recentRecords: RecentRecords;
  now(): number;
  region: string;
  accountId: string;
  streamShards: number;
  onUsage?: ((usage: PartitionUsage) => void) | undefined;
  vectors: Vectors;
  // Runs until done or the engine closes: backfills, clean-up after a dropped table. Work of a name that is
  // already running is not started again.
  background(name: string, work: (signal: AbortSignal) => Promise<void>): void;
};

// The form in which items leave an action: tagged values for the wire, plain values for JavaScript callers. Whole items
// are decoded directly from the stored bytes; computed ones go through `present`.
export type View<T> = { decode: Decode<T>; gather(): Gathering<T>; present(item: Item): T };

// Reads see the newest commit of this process, and those of other processes after a moment. A consistent read sees
// every commit acknowledged anywhere before it.
export function beginRead({ store }: Context, consistent: boolean | undefined): void {
  if (consistent) store.refresh();
}

// The checks against the table run at once, outside the transaction. If the table has changed when the work runs, it is
// prepared again for the new one.
export function submitOnTable<T>(
  context: Context,
  name: string,
  prepare: (table: Table) => (tx: Tx) => T,
): Promise<T> {
  const table = context.catalog.get(name);
  const work = prepare(table);
  return context.submit(tx => {
    const current = context.catalog.get(name);
    return current === table ? work(tx) : prepare(current)(tx);
  });
}
