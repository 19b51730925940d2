import type { Tx } from '../storage/committer.ts';
import type { Table, VectorIndex } from '../storage/table.ts';
import { searchAttributes } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import { equalValues } from '../values/compare.ts';
import {
  baseOf,
  countKey,
  decodeCount,
  decodePosition,
  encodeCount,
  encodePosition,
  encodeVector,
  entryKey,
  filtersOf,
  type Position,
  partitionOf,
  vectorKey,
} from './records.ts';
import { exactVectors, vectorSize } from './size.ts';
import { vectorOf } from './values.ts';

// What a write of an item changes in a vector index, in the transaction of that write.

type Sized = { item: Item; size: number };

export function writeVector(
  tx: Tx,
  table: Table,
  index: VectorIndex,
  key: Buffer,
  before: Sized | undefined,
  after: Sized | undefined,
): void {
  const entry = entryKey(index.id, key);
  // An index that is being built may not have the item yet.
  const position = before && tx.get(entry, decodePosition);
  if (position && after && isSameVector(index, before.item, after.item)) {
    tx.addSize(index.id, 0, vectorSize(table, index, after) - vectorSize(table, index, before));
    return;
  }
  if (position) {
    tx.remove(vectorKey(index.id, position));
    count(tx, table, index, position.partition, -1);
    tx.addSize(index.id, -1, -vectorSize(table, index, before));
  }
  const isAdded = after !== undefined && addVector(tx, table, index, key, after);
  if (position && !isAdded) tx.remove(entry);
}

/** Whether the item has what the index holds. */
export function addVector(tx: Tx, table: Table, index: VectorIndex, key: Buffer, sized: Sized): boolean {
  const vector = vectorOf(sized.item[index.attribute], index.dimensions);
  const partition = vector && partitionOf(index, sized.item);
  if (!partition) return false;
  const position: Position = { partition, number: count(tx, table, index, partition, 1) };
  tx.put(entryKey(index.id, key), encodePosition(position));
  tx.put(
    vectorKey(index.id, position),
    encodeVector({ filters: filtersOf(index, sized.item), base: baseOf(key), vector }),
  );
  tx.addSize(index.id, 1, vectorSize(table, index, sized));
  return true;
}

/** Makes what the index holds of an item again. */
export function rewriteVector(tx: Tx, table: Table, index: VectorIndex, key: Buffer, sized: Sized): void {
  const position = tx.get(entryKey(index.id, key), decodePosition);
  if (position && tx.has(vectorKey(index.id, position))) {
    tx.remove(vectorKey(index.id, position));
    count(tx, table, index, position.partition, -1);
  }
  addVector(tx, table, index, key, sized);
}

function isSameVector(index: VectorIndex, before: Item, after: Item): boolean {
  for (const name of [index.attribute, ...searchAttributes(index).map(attribute => attribute.name)]) {
    const [old, next] = [before[name], after[name]];
    if (old !== next && !(old && next && equalValues(old, next))) return false;
  }
  return true;
}

// Returns the number of a new vector.
function count(tx: Tx, table: Table, index: VectorIndex, partition: Buffer, change: 1 | -1): number {
  const key = countKey(index.id, partition);
  const before = tx.get(key, decodeCount) ?? { next: 0, live: 0 };
  const live = before.live + change;
  tx.put(key, encodeCount({ next: before.next + (change === 1 ? 1 : 0), live }));
  // One look at a partition is worth many writes.
  if (live === 0 || (live > exactVectors(index) && live % writesPerLook === 0))
    tx.noteVectors({ tableId: table.id, indexId: index.id, partition });
  return before.next;
}

const writesPerLook = 64;
