import type { Context } from '../context.ts';
import { projectedNames } from '../item-writer.ts';
import * as limits from '../limits.ts';
import type { Tx } from '../storage/committer.ts';
import { isPlainName, notPlain, plainSize } from '../storage/plain-item.ts';
import { attributesOfKey, type Index, type KeyAttribute, type Stream, type Table } from '../storage/table.ts';
import type { NativeItem } from '../values/marshal.ts';
import { byteLength } from '../values/size.ts';
import { isBytes, unsupported } from './values.ts';
import { isTextual, type VectorLayout, vectorLayouts } from './vectors.ts';

// The keys, indexes and stream of a table, as prepared operations need them, read once for each version of it. Keys are
// text: tables and indexes with other keys are left to the wire operations.

export type IndexLayout = {
  readonly id: number;
  readonly name: string;
  readonly hash: string;
  readonly range: string | undefined;
  // The attributes that it contains; undefined for all.
  readonly names: readonly { name: string; bytes: number }[] | undefined;
  readonly isReadable: boolean;
};

type StreamLayout = {
  readonly id: number;
  readonly shards: readonly number[]; // open ones
  readonly wantsOld: boolean;
  readonly wantsNew: boolean;
};

export type Layout = {
  readonly table: Table;
  readonly id: number;
  readonly hash: string;
  readonly range: string | undefined;
  readonly canWrite: boolean;
  readonly indexes: readonly IndexLayout[];
  readonly vectors: readonly VectorLayout[];
  readonly keyNames: ReadonlySet<string>; // of the table and its indexes
  readonly ttl: string | undefined;
  readonly stream: StreamLayout | undefined;
};

const layouts = new WeakMap<Table, Layout | null>();

/** Throws if the table has keys of other types. */
export function layoutOf(table: Table): Layout {
  let layout = layouts.get(table);
  if (layout === undefined) {
    layout = createLayout(table);
    layouts.set(table, layout);
  }
  if (!layout) throw unsupported;
  return layout;
}

function createLayout(table: Table): Layout | null {
  const { hash, range } = table.keys;
  if (!isText(hash) || (range && !isText(range))) return null;
  const stream = table.streams.at(-1);
  const vectors = vectorLayouts(table);
  return {
    table,
    id: table.id,
    hash: hash.name,
    range: range?.name,
    canWrite:
      table.indexes.every(isSupported) &&
      vectors.every(isTextual) &&
      !(table.ttl && isInherited(table.ttl.attribute)),
    vectors,
    indexes: table.indexes.map(index => indexLayout(table, index)),
    keyNames: new Set(
      [table, ...table.indexes].flatMap(({ keys }) => attributesOfKey(keys).map(({ name }) => name)),
    ),
    ttl: table.ttl?.attribute,
    stream: stream?.enabled ? streamLayout(stream) : undefined,
  };
}

const isInherited = (name: string): boolean => name in Object.prototype;

const isText = ({ name, type }: KeyAttribute): boolean =>
  type === 'S' && isPlainName(name) && !isInherited(name);

const isSupported = ({ status, keys: { hash, range, more }, projection }: Index): boolean =>
  status === 'ACTIVE' &&
  !more &&
  isText(hash) &&
  (!range || isText(range)) &&
  !(projection.type === 'INCLUDE' && projection.attributes.some(isInherited));

function indexLayout(table: Table, index: Index): IndexLayout {
  const names = projectedNames(table, index);
  return {
    id: index.id,
    name: index.name,
    hash: index.keys.hash.name,
    range: index.keys.range?.name,
    names: names && Array.from(names, name => ({ name, bytes: byteLength(name) })),
    isReadable: isSupported(index),
  };
}

function streamLayout({ id, shards, viewType }: Stream): StreamLayout {
  const wants = (view: string) => viewType === view || viewType === 'NEW_AND_OLD_IMAGES';
  return {
    id,
    shards: shards.filter(({ end }) => end === undefined).map(shard => shard.id),
    wantsOld: wants('OLD_IMAGE'),
    wantsNew: wants('NEW_IMAGE'),
  };
}

/**
 * Finds tables inside write transactions. The catalog looks into the file for changes of other processes; those cannot
 * happen within a transaction, so it is asked once for each. Every transaction has a `Tx` of its own.
 */
export function createTableFinder({ catalog }: Context) {
  let seenIn: Tx | undefined;
  let changes = -1;
  let found = new Map<string, Layout>();
  return (tx: Tx, name: string): Layout => {
    if (tx !== seenIn || catalog.changes() !== changes) {
      found = new Map();
      seenIn = tx;
    }
    let layout = found.get(name);
    if (!layout) {
      const table = catalog.find(name);
      if (!table) throw unsupported;
      layout = layoutOf(table);
      found.set(name, layout);
      changes = catalog.changes();
    }
    return layout;
  };
}

/** The size of what an index contains of an item. */
export function projectedBytes({ names }: IndexLayout, item: NativeItem, size: number): number {
  if (!names) return size;
  let sum = 0;
  for (const { name, bytes } of names) {
    const value = item[name];
    if (value !== undefined) sum += bytes + valueBytes(value);
  }
  return sum;
}

function valueBytes(value: unknown): number {
  if (isBytes(value)) return value.byteLength;
  const size = plainSize(value, 1);
  if (size === notPlain) throw unsupported;
  return size;
}

// A key of an index that can be stored: text that is neither empty nor too long. Undefined if the item has none.
export function indexKeyPart(item: NativeItem, name: string, isHash: boolean): string | undefined {
  const value: unknown = item[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw unsupported;
  // Longer partition keys are stored as their hash.
  const most = isHash ? limits.hashKeyBytes / 2 : limits.rangeKeyBytes;
  if (value.length * 3 > most && byteLength(value) > most) throw unsupported;
  if (!isHash && value.includes('\0')) throw unsupported;
  return value;
}
