import { plainSize } from '../storage/plain-item.ts';
import {
  type KeyAttribute,
  searchAttributes,
  type Table,
  type VectorIndex,
  vectorsOf,
} from '../storage/table.ts';
import type { NativeItem } from '../values/marshal.ts';
import { byteLength } from '../values/size.ts';
import { filterDigest, partitionOfValue, wholeIndex } from '../vectors/records.ts';
import { visibleNames } from '../vectors/size.ts';
import type { VectorContent } from '../vectors/write.ts';
import { equalPlain, unsupported } from './values.ts';

// Vector indexes, for items of plain values. Their partition keys and filters are text: others are left to the wire
// operations, as is every item that is not valid.

export type VectorLayout = {
  readonly index: VectorIndex;
  readonly names: readonly string[]; // of the vector, the partition key and the filters
  // The attributes that answers may have, without the vector; undefined for all.
  readonly rest: readonly string[] | undefined;
};

export const vectorLayouts = (table: Table): VectorLayout[] =>
  vectorsOf(table)
    .filter(({ status }) => status !== 'DELETING')
    .map(index => {
      const visible = visibleNames(table, index);
      return {
        index,
        names: [index.attribute, ...searchAttributes(index).map(({ name }) => name)],
        rest: visible && [...visible].filter(name => name !== index.attribute),
      };
    });

export const isTextual = ({ names, rest = [], index }: VectorLayout): boolean =>
  searchAttributes(index).every(({ type }) => type === 'S') &&
  ![...names, ...rest].some(name => name in Object.prototype);

/** Throws unless everything that the index would hold is valid. */
export function checkVector({ index }: VectorLayout, item: NativeItem): void {
  const value: unknown = item[index.attribute];
  if (value !== undefined && !isVector(value, index.dimensions)) throw unsupported;
  for (const attribute of searchAttributes(index)) {
    const text: unknown = item[attribute.name];
    if (text === undefined) continue;
    if (typeof text !== 'string') throw unsupported;
    if (attribute === index.hash && !partitionOfValue({ S: text })) throw unsupported;
  }
}

function isVector(value: unknown, dimensions: number): value is number[] {
  if (!Array.isArray(value) || value.length !== dimensions) return false;
  for (let i = 0; i < dimensions; i++)
    if (typeof value[i] !== 'number' || !Number.isFinite(Math.fround(value[i]))) return false;
  return true;
}

export function isSameVector({ names }: VectorLayout, before: NativeItem, after: NativeItem): boolean {
  for (const name of names) if (!equalPlain(before[name], after[name])) return false;
  return true;
}

/** Of an item that is valid; undefined if it has nothing for the index. */
export function contentOf({ index }: VectorLayout, item: NativeItem): VectorContent | undefined {
  const vector = item[index.attribute] as number[] | undefined;
  const hash = index.hash && textOf(item, index.hash);
  if (!vector || (index.hash && !hash)) return undefined;
  return {
    vector: Float32Array.from(vector),
    partition: hash ? partitionOfValue(hash)! : wholeIndex,
    filters: Buffer.concat(index.filters.map(filter => filterDigest(filter, textOf(item, filter)))),
  };
}

const textOf = (item: NativeItem, { name }: KeyAttribute): { S: string } | undefined =>
  item[name] === undefined ? undefined : { S: item[name] as string };

/** As `vectorSize` counts it for tagged values. */
export function vectorBytes({ index, rest }: VectorLayout, item: NativeItem): number {
  const { attribute, dimensions } = index;
  const names = rest ?? Object.keys(item).filter(name => name !== attribute);
  return 4 * dimensions + byteLength(attribute) + restBytes(names, item);
}

/** How much larger the rest of an item has become whose vector is the same. */
export const restGrowth = (
  { rest }: VectorLayout,
  { before, after, beforeSize, afterSize }: Changed,
): number => (rest ? restBytes(rest, after!) - restBytes(rest, before!) : afterSize - beforeSize);

type Changed = {
  before: NativeItem | undefined;
  after: NativeItem | undefined;
  beforeSize: number;
  afterSize: number;
};

const restBytes = (rest: readonly string[], item: NativeItem): number =>
  rest.reduce((sum, name) => sum + attributeBytes(item, name), 0);

function attributeBytes(item: NativeItem, name: string): number {
  const value: unknown = item[name];
  if (value === undefined) return 0;
  return byteLength(name) + (value instanceof Uint8Array ? value.byteLength : plainSize(value, 1));
}
