import type { Store } from '@stak/table';
import { sourceById, sourcePointer } from './main-table.ts';

/** The account of a source, also of a deleted one that is still stored. A new source is found at once. */
export async function findOwnerOfSource(store: Store, sourceId: string): Promise<string | undefined> {
  const pointer = await store.get(sourcePointer, { sourceId }, { consistent: true });
  return pointer?.userId ?? findInIndex(store, sourceId);
}

// A source of an earlier version has no pointer. The index may list it late, but its owner is always correct.
export async function findInIndex(store: Store, sourceId: string): Promise<string | undefined> {
  const { items } = await store.query(sourceById, { sourceId }, { limit: 1 });
  return items[0]?.userId;
}
