import { createHash } from 'node:crypto';
import { hashKeyBytes, rangeKeyBytes } from '../limits.ts';
import type { AttributeValue, Item } from '../values/attribute-value.ts';
import { toDecimal } from '../values/number.ts';
import { hashAttributes, type Index, type KeyAttribute, rangeAttributes, type Table } from './table.ts';

// Every record of the file lives in one ordered key space; the first byte says what it is.
//
//   00 name                                            the store's own facts (format, counters)
//   01 table name                                      table descriptors
//   10 table  | length, hash key | range key           items
//   20 index  | length, hash key | range key, 00 01 | base key   → key of the item
//             (of several hash attributes: each with its length; of several range attributes: each with its 00 01)
//   30 table  | expiry | item key                      what TTL will remove, soonest first
//   40 stream | shard | sequence                       change log
//   50 token                                           answers of idempotent transactions
//   51 expiry | token                                  when to forget them
//   60 table or index                                  item count and bytes
//   70 vector index | item key                         partition and number of the item's vector
//   71 vector index | partition | number               the vector, newer ones later
//   72 vector index | partition                        the next number, and how many vectors there are
//   73 vector index | partition                        how far a large partition has codes
//   74 vector index | partition | build | cell | number  codes of many vectors
//
// Partitions are kept in key order, not hashed: ids that grow with time land on the same few pages, and a
// commit costs what its dirty pages cost (docs/adr/0006-partitions-in-key-order.md).
export const space = {
  meta: 0x00,
  table: 0x01,
  item: 0x10,
  index: 0x20,
  ttl: 0x30,
  log: 0x40,
  token: 0x50,
  tokenExpiry: 0x51,
  size: 0x60,
  vectorEntry: 0x70,
  vector: 0x71,
  vectorCount: 0x72,
  vectorState: 0x73,
  vectorBlock: 0x74,
} as const;

export const vectorSpaces = [
  space.vectorEntry,
  space.vector,
  space.vectorCount,
  space.vectorState,
  space.vectorBlock,
] as const;

// Half-open: `start` is in the range, `end` is not.
export type KeyRange = { start: Buffer; end: Buffer };

const headBytes = 5;
const indexHashBytes = 1024; // a longer hash key of an index is replaced by its SHA-256
const indexBaseBytes = 600; // likewise for the base key that makes index entries unique
const hashedLength = 0xffff;
// Stands where the length of a base key would, so that no short key has the bytes of a long one's hash.
const hashedMark = Buffer.from([0xff, 0xff]);

export function head(prefix: number, id: number): Buffer {
  const key = Buffer.allocUnsafe(headBytes);
  key[0] = prefix;
  key.writeUInt32BE(id, 1);
  return key;
}

export const prefixRange = (start: Buffer): KeyRange => ({ start, end: successor(start) });

// The first key that does not begin with `prefix`.
export function successor(prefix: Uint8Array): Buffer {
  const next = Buffer.from(prefix);
  for (let i = next.length - 1; i >= 0; i--) {
    if (next[i] === 0xff) continue;
    next[i] = next[i]! + 1;
    return next.subarray(0, i + 1);
  }
  throw new RangeError('no key follows this prefix');
}

export const after = (key: Uint8Array): Buffer => Buffer.concat([key, zeroByte]);
const zeroByte = Buffer.from([0]);

// ---- values of key attributes, in bytes that sort as DynamoDB sorts the values

export function orderedBytes(value: AttributeValue): Buffer {
  if ('S' in value) return Buffer.from(value.S, 'utf8');
  if ('N' in value) return orderedNumber(value.N);
  if ('B' in value) return Buffer.from(value.B.buffer, value.B.byteOffset, value.B.byteLength);
  throw new TypeError('only strings, numbers and binary can be keys');
}

// Sign byte, exponent, then two digits a byte. Negative numbers are complemented and closed by FF, so that of
// two numbers with the same leading digits the longer one sorts first.
function orderedNumber(canonical: string): Buffer {
  const { negative, digits, point } = toDecimal(canonical);
  if (digits === '') return Buffer.from([1]);
  const pairs = Math.ceil(digits.length / 2);
  const bytes = Buffer.allocUnsafe(2 + pairs + (negative ? 1 : 0));
  bytes[0] = 2;
  bytes[1] = point + 129;
  for (let i = 0; i < pairs; i++) {
    const tens = digits.charCodeAt(2 * i) - 48;
    const ones = 2 * i + 1 < digits.length ? digits.charCodeAt(2 * i + 1) - 48 : 0;
    bytes[2 + i] = tens * 10 + ones + 1;
  }
  if (!negative) return bytes;
  bytes[0] = 0;
  for (let i = 1; i < 2 + pairs; i++) bytes[i] = 255 - bytes[i]!;
  bytes[2 + pairs] = 0xff;
  return bytes;
}

// ---- items

function partitionPrefix(tableId: number, hash: AttributeValue): Buffer {
  if ('S' in hash) return stringPrefix(tableId, hash.S);
  const bytes = orderedBytes(hash);
  const key = Buffer.allocUnsafe(headBytes + 2 + bytes.length);
  writePrefix(key, tableId, bytes.length);
  bytes.copy(key, headBytes + 2);
  return key;
}

// The usual key is a short string: written in place, without a buffer of its own.
function stringPrefix(tableId: number, hash: string): Buffer {
  const key = Buffer.allocUnsafe(headBytes + 2 + hash.length * 3);
  const length = key.write(hash, headBytes + 2, 'utf8');
  writePrefix(key, tableId, length);
  return key.subarray(0, headBytes + 2 + length);
}

function writePrefix(key: Buffer, tableId: number, length: number): void {
  key[0] = space.item;
  key.writeUInt32BE(tableId, 1);
  key.writeUInt16BE(length, headBytes);
}

// `key` holds at least the table's key attributes, of the right types.
export function itemKey(table: Pick<Table, 'id' | 'keys'>, key: Item): Buffer {
  const prefix = partitionPrefix(table.id, key[table.keys.hash.name]!);
  if (!table.keys.range) return prefix;
  const range = key[table.keys.range.name]!;
  if (!('S' in range)) return Buffer.concat([prefix, orderedBytes(range)]);
  const bytes = Buffer.allocUnsafe(prefix.length + range.S.length * 3);
  prefix.copy(bytes);
  return bytes.subarray(0, prefix.length + bytes.write(range.S, prefix.length, 'utf8'));
}

// ---- index entries

const indexPrefix = (indexId: number, hash: AttributeValue[]): Buffer =>
  indexPartition(indexId, composedHash(hash.map(orderedBytes)));

// Each of several attributes has its length in front, so that no two sets of values have the same bytes.
function composedHash(parts: Buffer[]): Buffer {
  if (parts.length === 1) return parts[0]!;
  return Buffer.concat(
    parts.flatMap(part => {
      const length = Buffer.allocUnsafe(2);
      length.writeUInt16BE(part.length);
      return [length, part];
    }),
  );
}

function indexPartition(indexId: number, bytes: Buffer): Buffer {
  const hashed = bytes.length > indexHashBytes;
  const part = hashed ? digest(bytes) : bytes;
  const key = Buffer.allocUnsafe(headBytes + 2 + part.length);
  key[0] = space.index;
  key.writeUInt32BE(indexId, 1);
  key.writeUInt16BE(hashed ? hashedLength : bytes.length, headBytes);
  part.copy(key, headBytes + 2);
  return key;
}

const digest = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

const endOfRange = Buffer.from([0, 1]);
const pastRange = Buffer.from([0, 2]);

// 00 becomes 00 FF, so that the closing 00 01 sorts before any longer value.
function escaped(bytes: Buffer): Buffer {
  let zeros = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) zeros++;
  if (zeros === 0) return bytes;
  const out = Buffer.allocUnsafe(bytes.length + zeros);
  let at = 0;
  for (let i = 0; i < bytes.length; i++) {
    out[at++] = bytes[i]!;
    if (bytes[i] === 0) out[at++] = 0xff;
  }
  return out;
}

// Undefined when the item lacks an index key: the index is sparse. An item written before the index existed may
// hold a value that is not a valid key, empty or too long; it stays out of the index too.
export function indexKey(index: Index, item: Item, baseKey: Buffer): Buffer | undefined {
  if (index.keys.more) return composedKey(index, item, baseKey);
  const hash = item[index.keys.hash.name];
  if (!hash || !(index.keys.hash.type in hash)) return undefined;
  const hashBytes = orderedBytes(hash);
  if (hashBytes.length === 0 || hashBytes.length > hashKeyBytes) return undefined;
  const parts = [indexPartition(index.id, hashBytes)];
  if (index.keys.range) {
    const range = item[index.keys.range.name];
    if (!range || !(index.keys.range.type in range)) return undefined;
    const rangeBytes = orderedBytes(range);
    if (rangeBytes.length === 0 || rangeBytes.length > rangeKeyBytes) return undefined;
    parts.push(escaped(rangeBytes), endOfRange);
  }
  addBase(parts, baseKey);
  return Buffer.concat(parts);
}

function addBase(parts: Buffer[], baseKey: Buffer): void {
  const base = baseKey.subarray(headBytes);
  if (base.length <= indexBaseBytes) parts.push(base);
  else parts.push(hashedMark, digest(base));
}

function composedKey({ id, keys }: Index, item: Item, baseKey: Buffer): Buffer | undefined {
  const hashes = bytesOfAll(item, hashAttributes(keys), hashKeyBytes);
  const ranges = hashes && bytesOfAll(item, rangeAttributes(keys), rangeKeyBytes);
  if (!ranges) return undefined;
  const parts = [indexPartition(id, composedHash(hashes))];
  for (const range of ranges) parts.push(escaped(range), endOfRange);
  addBase(parts, baseKey);
  return Buffer.concat(parts);
}

// The limit is one for all attributes of a part. Numbers count as one byte, as where a write is checked.
function bytesOfAll(item: Item, attributes: KeyAttribute[], limit: number): Buffer[] | undefined {
  const parts: Buffer[] = [];
  let size = 0;
  for (const { name, type } of attributes) {
    const value = item[name];
    if (!value || !(type in value)) return undefined;
    const bytes = orderedBytes(value);
    if (bytes.length === 0) return undefined;
    size += type === 'N' ? 1 : bytes.length;
    parts.push(bytes);
  }
  return size > limit ? undefined : parts;
}

// ---- ranges of one partition

export type RangeCondition =
  | { op: '=' | '<' | '<=' | '>' | '>='; value: AttributeValue }
  | { op: 'BETWEEN'; from: AttributeValue; to: AttributeValue }
  | { op: 'begins_with'; value: AttributeValue };

// How a range key's bytes bound a range: `low` is the first key of a value, `high` the first key past it.
type Bounds = {
  stem(v: AttributeValue): Buffer;
  low(v: AttributeValue): Buffer;
  high(v: AttributeValue): Buffer;
};

function narrow(prefix: Buffer, condition: RangeCondition | undefined, bounds: Bounds): KeyRange {
  const whole = prefixRange(prefix);
  if (!condition) return whole;
  switch (condition.op) {
    case '=':
      return { start: bounds.low(condition.value), end: bounds.high(condition.value) };
    case '<':
      return { start: whole.start, end: bounds.low(condition.value) };
    case '<=':
      return { start: whole.start, end: bounds.high(condition.value) };
    case '>':
      return { start: bounds.high(condition.value), end: whole.end };
    case '>=':
      return { start: bounds.low(condition.value), end: whole.end };
    case 'BETWEEN':
      return { start: bounds.low(condition.from), end: bounds.high(condition.to) };
    case 'begins_with':
      return prefixRange(bounds.stem(condition.value));
  }
}

// A read bounds a key by a value for each hash attribute, and tests of the first range attributes. All tests but the
// last are equalities.
export type KeyBounds = { hash: AttributeValue[]; range: RangeCondition[] };

export function itemRange(table: Table, { hash, range }: KeyBounds): KeyRange {
  const prefix = partitionPrefix(table.id, hash[0]!);
  if (!table.keys.range) return { start: prefix, end: after(prefix) };
  const low = (value: AttributeValue) => Buffer.concat([prefix, orderedBytes(value)]);
  return narrow(prefix, range[0], { stem: low, low, high: value => after(low(value)) });
}

export function indexRange(index: Index, { hash, range }: KeyBounds): KeyRange {
  let prefix = indexPrefix(index.id, hash);
  const stem = (value: AttributeValue) => Buffer.concat([prefix, escaped(orderedBytes(value))]);
  const low = (value: AttributeValue) => Buffer.concat([stem(value), endOfRange]);
  const high = (value: AttributeValue) => Buffer.concat([stem(value), pastRange]);
  for (const condition of range.slice(0, -1)) {
    if (condition.op !== '=') throw new TypeError('only the last condition can be a range');
    prefix = low(condition.value);
  }
  return narrow(prefix, range.at(-1), { stem, low, high });
}

// ---- the rest

export const metaKey = (name: string): Buffer =>
  Buffer.concat([Buffer.from([space.meta]), Buffer.from(name)]);
export const tableKey = (name: string): Buffer =>
  Buffer.concat([Buffer.from([space.table]), Buffer.from(name)]);
export const sizeKey = (id: number): Buffer => head(space.size, id);

export function ttlKey(tableId: number, expirySeconds: number, key: Buffer): Buffer {
  const out = Buffer.allocUnsafe(headBytes + 6 + key.length - headBytes);
  out[0] = space.ttl;
  out.writeUInt32BE(tableId, 1);
  out.writeUIntBE(expirySeconds, headBytes, 6);
  key.copy(out, headBytes + 6, headBytes);
  return out;
}

export const ttlSeconds = (key: Buffer): number => key.readUIntBE(headBytes, 6);

export function ttlItemKey(key: Buffer): Buffer {
  const out = Buffer.allocUnsafe(key.length - 6);
  key.copy(out, 0, 0, headBytes);
  out[0] = space.item;
  key.copy(out, headBytes, headBytes + 6);
  return out;
}

export function logKey(streamId: number, shardId: number, sequence: number): Buffer {
  const key = Buffer.allocUnsafe(headBytes + 10);
  key[0] = space.log;
  key.writeUInt32BE(streamId, 1);
  key.writeUInt32BE(shardId, headBytes);
  key.writeUIntBE(sequence, headBytes + 4, 6);
  return key;
}

export const logSequence = (key: Buffer): number => key.readUIntBE(headBytes + 4, 6);
export const logShard = (key: Buffer): number => key.readUInt32BE(headBytes);

export const tokenKey = (token: string): Buffer =>
  Buffer.concat([Buffer.from([space.token]), digest(Buffer.from(token))]);

export function tokenExpiryKey(expiresAtMs: number, token: Buffer): Buffer {
  const key = Buffer.allocUnsafe(7);
  key[0] = space.tokenExpiry;
  key.writeUIntBE(expiresAtMs, 1, 6);
  return Buffer.concat([key, token.subarray(1)]);
}

// Every key of a partition begins with these bytes.
export const partitionOf = (key: Buffer): Buffer =>
  key.subarray(0, headBytes + 2 + key.readUInt16BE(headBytes));

// Spreads partitions over scan segments and stream shards. FNV-1a with a final mix; it need not resist attack,
// it only has to give the same answer in every process.
export function partitionHash(key: Buffer): number {
  let hash = 0x811c9dc5;
  const end = headBytes + 2 + key.readUInt16BE(headBytes);
  for (let i = headBytes + 2; i < end; i++) hash = Math.imul(hash ^ key[i]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
