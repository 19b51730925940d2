import { createHash } from 'node:crypto';
import { itemDamaged } from '../errors.ts';
import { hashKeyBytes } from '../limits.ts';
import { checksum } from '../storage/checksum.ts';
import { head, type KeyRange, orderedBytes, prefixRange, space } from '../storage/keys.ts';
import type { Decode } from '../storage/store.ts';
import type { KeyAttribute, VectorIndex } from '../storage/table.ts';
import type { AttributeValue, Item } from '../values/attribute-value.ts';

// How a vector index is stored. Each write of a vector gives it a new number within its partition, so whatever was
// derived from the vector before refers to a number that is not there any more.
//
// A vector's record: checksum, length of the item's key, a digest of each filter's value, the item's key, floats.

const headBytes = 5;
const partitionBytes = 16;
const numberBytes = 6;
const digestBytes = 16;
const filtersAt = 6;

export type Position = { partition: Buffer; number: number };

/** Of an item that is in the index. */
export type VectorRecord = { filters: Buffer; base: Buffer; vector: Float32Array };

// ---- keys

const onePartition = Buffer.alloc(partitionBytes);

/** Undefined if the item has no value for the partition key, or one that no key can have. */
export function partitionOf({ hash }: VectorIndex, item: Item): Buffer | undefined {
  if (!hash) return onePartition;
  const value = item[hash.name];
  return value && hash.type in value ? partitionOfValue(value) : undefined;
}

export function partitionOfValue(value: AttributeValue): Buffer | undefined {
  const bytes = orderedBytes(value);
  return bytes.length === 0 || bytes.length > hashKeyBytes ? undefined : digest(bytes, partitionBytes);
}

export const wholeIndex = onePartition;

const digest = (bytes: Buffer, length: number): Buffer =>
  createHash('sha256').update(bytes).digest().subarray(0, length);

export const entryKey = (indexId: number, itemKey: Buffer): Buffer =>
  Buffer.concat([head(space.vectorEntry, indexId), itemKey.subarray(headBytes)]);

export function vectorKey(indexId: number, { partition, number }: Position): Buffer {
  const key = Buffer.allocUnsafe(headBytes + partitionBytes + numberBytes);
  head(space.vector, indexId).copy(key);
  partition.copy(key, headBytes);
  key.writeUIntBE(number, headBytes + partitionBytes, numberBytes);
  return key;
}

export const vectorsIn = (indexId: number, partition: Buffer): KeyRange =>
  prefixRange(Buffer.concat([head(space.vector, indexId), partition]));

export const numberOf = (key: Buffer): number => key.readUIntBE(headBytes + partitionBytes, numberBytes);

export const countKey = (indexId: number, partition: Buffer): Buffer =>
  Buffer.concat([head(space.vectorCount, indexId), partition]);

// ---- values

export const encodePosition = ({ partition, number }: Position): Buffer => {
  const bytes = Buffer.allocUnsafe(partitionBytes + numberBytes);
  partition.copy(bytes);
  bytes.writeUIntBE(number, partitionBytes, numberBytes);
  return bytes;
};

export const decodePosition: Decode<Position> = bytes => ({
  partition: Buffer.from(bytes.subarray(0, partitionBytes)),
  number: bytes.readUIntBE(partitionBytes, numberBytes),
});

export type VectorCount = { next: number; live: number };

export function encodeCount({ next, live }: VectorCount): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeDoubleBE(next, 0);
  bytes.writeDoubleBE(live, 8);
  return bytes;
}

export const decodeCount: Decode<VectorCount> = bytes => ({
  next: bytes.readDoubleBE(0),
  live: bytes.readDoubleBE(8),
});

const noValue = Buffer.alloc(digestBytes);

/** What stands for a filter's value in a record; zeros for an item without one. */
export function filterDigest({ type }: KeyAttribute, value: AttributeValue | undefined): Buffer {
  return value && type in value ? digest(orderedBytes(value), digestBytes) : noValue;
}

export const filtersOf = ({ filters }: VectorIndex, item: Item): Buffer =>
  Buffer.concat(filters.map(filter => filterDigest(filter, item[filter.name])));

export function encodeVector({ filters, base, vector }: VectorRecord): Buffer {
  const bytes = Buffer.allocUnsafe(filtersAt + filters.length + base.length + vector.byteLength);
  bytes.writeUInt16LE(base.length, 4);
  filters.copy(bytes, filtersAt);
  base.copy(bytes, filtersAt + filters.length);
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).copy(
    bytes,
    filtersAt + filters.length + base.length,
  );
  bytes.writeUInt32LE(checksum(bytes, 4, bytes.length, seed), 0);
  return bytes;
}

const seed = 0x76656374;

/** Reads records of one index one after the other: what it returns is valid until the next one. */
export function createVectorReader({ filters, dimensions }: VectorIndex): Decode<VectorRecord> {
  const vector = new Float32Array(dimensions);
  const target = new Uint8Array(vector.buffer);
  const filterBytes = filters.length * digestBytes;
  return (bytes, end) => {
    const baseAt = filtersAt + filterBytes;
    const vectorAt = end - vector.byteLength;
    const isWhole =
      vectorAt >= baseAt &&
      baseAt + bytes.readUInt16LE(4) === vectorAt &&
      bytes.readUInt32LE(0) === checksum(bytes, 4, end, seed);
    if (!isWhole) throw itemDamaged();
    target.set(bytes.subarray(vectorAt, end));
    return { filters: bytes.subarray(filtersAt, baseAt), base: bytes.subarray(baseAt, vectorAt), vector };
  };
}

/** The key of the item that a record belongs to. */
export const itemKeyOf = (tableId: number, base: Buffer): Buffer =>
  Buffer.concat([head(space.item, tableId), base]);

export const baseOf = (itemKey: Buffer): Buffer => itemKey.subarray(headBytes);
