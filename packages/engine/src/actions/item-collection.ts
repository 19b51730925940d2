import type { View } from '../context.ts';
import type { Table } from '../storage/table.ts';
import { type Item, newItem } from '../values/attribute-value.ts';

type MetricsInput = { ReturnItemCollectionMetrics?: 'SIZE' | 'NONE' };

export type ItemCollectionMetrics<T> = { ItemCollectionKey: T; SizeEstimateRangeGB: [number, number] };

// Only tables with local indexes have item collections. The estimate is DynamoDB's for a collection of less
// than a gigabyte; a larger one is not measured, because the engine has no 10 GB limit to warn of.
export function itemCollectionMetrics<T>(
  { ReturnItemCollectionMetrics: kind }: MetricsInput,
  table: Table,
  key: Item,
  view: View<T>,
): { ItemCollectionMetrics: ItemCollectionMetrics<T> } | undefined {
  if (kind !== 'SIZE' || !table.indexes.some(index => index.kind === 'local')) return undefined;
  return {
    ItemCollectionMetrics: {
      ItemCollectionKey: collectionKey(table, key, view),
      SizeEstimateRangeGB: [0, 1],
    },
  };
}

function collectionKey<T>(table: Table, item: Item, view: View<T>): T {
  const key = newItem();
  key[table.keys.hash.name] = item[table.keys.hash.name]!;
  return view.present(key);
}
