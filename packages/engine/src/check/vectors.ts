import { readImage } from '../item-writer.ts';
import { type Table, type VectorIndex, vectorsOf } from '../storage/table.ts';
import { checkBlock } from '../vectors/blocks.ts';
import {
  createVectorReader,
  decodePosition,
  entryKey,
  filtersOf,
  itemKeyOf,
  partitionOf,
  vectorKey,
} from '../vectors/records.ts';
import { vectorSize } from '../vectors/size.ts';
import { forgetCodes } from '../vectors/state.ts';
import { vectorOf } from '../vectors/values.ts';
import { rewriteVector } from '../vectors/write.ts';
import { attempt, type Check } from './findings.ts';

// A vector index must have the vector of every item that has one, as it is in the item, and no other.

type SizedItem = { item: Parameters<typeof filtersOf>[1]; size: number };

export function checkVectorsOf(
  check: Check,
  table: Table,
  key: Buffer,
  sized: SizedItem,
  count: (id: number, bytes: number) => void,
): void {
  for (const index of vectorsOf(table)) {
    if (index.status === 'DELETING') continue;
    const vector = vectorOf(sized.item[index.attribute], index.dimensions);
    const partition = vector && partitionOf(index, sized.item);
    if (!partition) continue;
    const position = attempt(() => check.store.get(entryKey(index.id, key), decodePosition));
    // An index that is still being filled counts the vectors it has.
    if (!position && index.status === 'CREATING') continue;
    count(index.id, vectorSize(table, index, sized));
    const read = createVectorReader(index);
    const isStored =
      position?.partition.equals(partition) &&
      attempt(() =>
        check.store.get(vectorKey(index.id, position), (bytes, end) => {
          const stored = read(bytes, end);
          return (
            itemKeyOf(table.id, stored.base).equals(key) &&
            stored.filters.equals(filtersOf(index, sized.item)) &&
            stored.vector.every((value, i) => value === vector[i])
          );
        }),
      );
    if (!isStored) {
      const message = `the vector index ${index.name} has another vector than the item`;
      check.add('index', key, message, table.name, tx => rewriteVector(tx, table, index, key, sized));
    }
  }
}

export const isOfVectors = ({ known }: Check, id: number): boolean =>
  [...known.tables.values()].some(table => vectorsOf(table).some(index => index.id === id));

export function checkVectorEntry(check: Check, key: Buffer, value: Buffer): void {
  const { table, index } = ownerOf(check, key) ?? {};
  if (!table || !index) {
    if (!check.known.isGarbage(key)) check.add('index', key, 'a vector without an index');
    return;
  }
  if (index.status === 'DELETING') return;
  const image = attempt(() => readImage(check.store, itemKeyOf(table.id, key.subarray(5))));
  const position = attempt(() => decodePosition(value, value.length));
  const isRight =
    image &&
    position &&
    vectorOf(image.item[index.attribute], index.dimensions) &&
    partitionOf(index, image.item)?.equals(position.partition);
  check.report.indexEntries++;
  if (!isRight)
    check.add(
      'index',
      key,
      `an entry of the vector index ${index.name} disagrees with its item`,
      table.name,
      // The item may be there, and be damaged.
      image || !check.store.has(itemKeyOf(table.id, key.subarray(5))) ? tx => tx.remove(key) : undefined,
    );
}

// Every vector is the one that the entry of its item names.
export function checkVector(check: Check, key: Buffer, value: Buffer): void {
  const { table, index } = ownerOf(check, key) ?? {};
  if (!table || !index) {
    if (!check.known.isGarbage(key)) check.add('index', key, 'a vector without an index');
    return;
  }
  if (index.status === 'DELETING') return;
  const stored = attempt(() => createVectorReader(index)(value, value.length));
  const position =
    stored && check.store.get(entryKey(index.id, itemKeyOf(table.id, stored.base)), decodePosition);
  if (!position || !vectorKey(index.id, position).equals(key))
    check.add('index', key, `a vector of the index ${index.name} belongs to no item`, table.name, tx =>
      tx.remove(key),
    );
}

export function checkVectorBlock(check: Check, key: Buffer, value: Buffer): void {
  const owner = ownerOf(check, key);
  if (!owner) {
    if (!check.known.isGarbage(key)) check.add('index', key, 'codes of vectors without an index');
  } else if (!attempt(() => isWholeBlock(value))) {
    const message = `codes of the vector index ${owner.index.name} are damaged`;
    const partition = key.subarray(5, 21);
    check.add('index', key, message, owner.table.name, tx =>
      forgetCodes(check.store, tx, owner.index.id, partition),
    );
  }
}

function isWholeBlock(value: Buffer): true {
  checkBlock(value, value.length);
  return true;
}

function ownerOf({ known }: Check, key: Buffer): { table: Table; index: VectorIndex } | undefined {
  const id = key.length < 5 ? -1 : key.readUInt32BE(1);
  for (const table of known.tables.values()) {
    const index = vectorsOf(table).find(candidate => candidate.id === id);
    if (index) return { table, index };
  }
  return undefined;
}
