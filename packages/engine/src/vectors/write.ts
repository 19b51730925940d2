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
import { exactVectors, restGrowth, vectorSize } from './size.ts';
import { vectorOf } from './values.ts';

// What a write of an item changes in a vector index, in the transaction of that write.

type Sized = { item: Item; size: number };

/** What an index holds of an item. */
export type VectorContent = { vector: Float32Array; partition: Buffer; filters: Buffer };

/** A write of an item, as an index sees it. Contents and sizes are only asked for where they are needed. */
export type VectorChange = {
  hadItem: boolean;
  hasItem: boolean;
  /** Whether the index holds the same of both items. */
  isSame(): boolean;
  content(): VectorContent | undefined; // of the new item
  sizeBefore(): number;
  sizeAfter(): number;
  /** How much larger the new item is in the index, if that holds the same of both. */
  growth(): number;
};

export function writeVector(
  tx: Tx,
  table: Table,
  index: VectorIndex,
  key: Buffer,
  before: Sized | undefined,
  after: Sized | undefined,
): void {
  changeVector(tx, table.id, index, key, {
    hadItem: before !== undefined,
    hasItem: after !== undefined,
    isSame: () => isSameVector(index, before!.item, after!.item),
    content: () => contentOf(index, after!.item),
    sizeBefore: () => vectorSize(table, index, before!),
    sizeAfter: () => vectorSize(table, index, after!),
    growth: () => restGrowth(table, index, before!, after!),
  });
}

export function changeVector(
  tx: Tx,
  tableId: number,
  index: VectorIndex,
  key: Buffer,
  change: VectorChange,
): void {
  const { hadItem, hasItem } = change;
  const entry = entryKey(index.id, key);
  // An index that is being built may not have the item yet.
  const position = hadItem ? tx.get(entry, decodePosition) : undefined;
  if (position && hasItem && change.isSame()) {
    tx.addSize(index.id, 0, change.growth());
    return;
  }
  if (position) {
    tx.remove(vectorKey(index.id, position));
    count(tx, tableId, index, position.partition, -1);
    tx.addSize(index.id, -1, -change.sizeBefore());
  }
  const content = hasItem ? change.content() : undefined;
  if (content) putVector(tx, tableId, index, key, content, change.sizeAfter());
  else if (position) tx.remove(entry);
}

/** Does nothing for an item that has nothing for the index. */
export function addVector(tx: Tx, table: Table, index: VectorIndex, key: Buffer, sized: Sized): void {
  const content = contentOf(index, sized.item);
  if (content) putVector(tx, table.id, index, key, content, vectorSize(table, index, sized));
}

function contentOf(index: VectorIndex, item: Item): VectorContent | undefined {
  const vector = vectorOf(item[index.attribute], index.dimensions);
  const partition = vector && partitionOf(index, item);
  return partition && { vector, partition, filters: filtersOf(index, item) };
}

function putVector(
  tx: Tx,
  tableId: number,
  index: VectorIndex,
  key: Buffer,
  { vector, partition, filters }: VectorContent,
  size: number,
): void {
  const position: Position = { partition, number: count(tx, tableId, index, partition, 1) };
  tx.put(entryKey(index.id, key), encodePosition(position));
  tx.put(vectorKey(index.id, position), encodeVector({ filters, base: baseOf(key), vector }));
  tx.addSize(index.id, 1, size);
}

/** Makes what the index holds of an item again. */
export function rewriteVector(tx: Tx, table: Table, index: VectorIndex, key: Buffer, sized: Sized): void {
  const position = tx.get(entryKey(index.id, key), decodePosition);
  if (position && tx.has(vectorKey(index.id, position))) {
    tx.remove(vectorKey(index.id, position));
    count(tx, table.id, index, position.partition, -1);
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
function count(tx: Tx, tableId: number, index: VectorIndex, partition: Buffer, change: 1 | -1): number {
  const key = countKey(index.id, partition);
  const before = tx.get(key, decodeCount) ?? { next: 0, live: 0 };
  const live = before.live + change;
  tx.put(key, encodeCount({ next: before.next + (change === 1 ? 1 : 0), live }));
  // One look at a partition is worth many writes.
  if (live === 0 || (live > exactVectors(index) && live % writesPerLook === 0))
    tx.noteVectors({ tableId, indexId: index.id, partition });
  return before.next;
}

const writesPerLook = 64;
