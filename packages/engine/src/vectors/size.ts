import { searchAttributes, type Table, type VectorIndex } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import { byteLength, valueSize } from '../values/size.ts';

// What an index contains of an item, and how large that is.

const namesOfIndexes = new WeakMap<VectorIndex, Set<string>>();

/** The attributes that answers of a search may have, beside the vector; undefined for all. */
export function visibleNames(table: Table, index: VectorIndex): Set<string> | undefined {
  if (index.projection.type === 'ALL') return undefined;
  const known = namesOfIndexes.get(index);
  if (known) return known;
  const names = new Set([table.keys.hash.name]);
  if (table.keys.range) names.add(table.keys.range.name);
  for (const { name } of searchAttributes(index)) names.add(name);
  if (index.projection.type === 'INCLUDE') for (const name of index.projection.attributes) names.add(name);
  namesOfIndexes.set(index, names);
  return names;
}

/** Four bytes for each dimension, the vector's name, and the rest of what the index shows, as DynamoDB meters it. */
export function vectorSize(table: Table, index: VectorIndex, { item }: { item: Item }): number {
  return 4 * index.dimensions + byteLength(index.attribute) + restSize(table, index, item);
}

/** The size of what an index shows of an item beside its vector, whose numbers are many: they are not measured. */
export function restSize(table: Table, index: VectorIndex, item: Item): number {
  const names = visibleNames(table, index) ?? Object.keys(item);
  let rest = 0;
  for (const name of names) if (name !== index.attribute) rest += attributeSize(item, name);
  return rest;
}

/** How much larger the rest of an item has become whose vector is the same. */
export function restGrowth(
  table: Table,
  index: VectorIndex,
  before: { item: Item; size: number },
  after: { item: Item; size: number },
): number {
  if (!visibleNames(table, index)) return after.size - before.size;
  return restSize(table, index, after.item) - restSize(table, index, before.item);
}

function attributeSize(item: Item, name: string): number {
  const value = item[name];
  return value ? byteLength(name) + valueSize(value) : 0;
}

/** So many vectors are compared one by one: a few milliseconds. */
export const exactVectors = ({ dimensions }: Pick<VectorIndex, 'dimensions'>): number =>
  Math.min(2000, Math.floor(768_000 / dimensions));
