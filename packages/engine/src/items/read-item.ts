import type { Context, View } from '../context.ts';
import type { Condition } from '../expressions/condition.ts';
import { evaluateCondition } from '../expressions/evaluation.ts';
import { type Projection, project } from '../expressions/projection.ts';
import { decodeItem, decodeSize } from '../storage/codec.ts';

type ReadShape = { filter?: Condition; projection?: Projection };

// Without `item` if there is none, or the filter refuses it: the read is billed all the same.
export type ReadItem<T> = { item?: T; size: number };

// One item by its key. A whole item is decoded directly into the caller's form; only a filter or a projection needs
// tagged values.
export function readItem<T>(
  { store }: Context,
  key: Buffer,
  view: View<T>,
  { filter, projection }: ReadShape,
): ReadItem<T> {
  const found = store.get<ReadItem<T>>(key, (bytes, end) => {
    const size = decodeSize(bytes);
    if (!filter && !projection) return { item: view.decode(bytes, end), size };
    const item = decodeItem(bytes, end);
    if (filter && !evaluateCondition(filter, item)) return { size };
    return { item: view.present(projection ? project(projection, item) : item), size };
  });
  return found ?? { size: 0 };
}
