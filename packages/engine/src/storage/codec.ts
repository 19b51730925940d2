import { itemDamaged } from '../errors.ts';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { type NativeItem, nativeNumber, plainBytes, setOwn } from '../values/marshal.ts';
import { checksum } from './checksum.ts';
import { wordSum } from './word-sum.ts';

// A stored item: one byte of flags, its DynamoDB size, a checksum, then JSON. Values that JSON can express are stored as
// JSON, so that an ordinary item is read back with a single JSON.parse; other values have a tag, an object with one
// member whose name begins with U+0001. Items of format 2 and before have no checksum.
//
//   { "pk": "a", "n": 12.5, "big": { "\u0001N": "12345678901234567890" }, "tags": { "\u0001SS": ["x"] } }

const tagged = 1; // some value carries a tag
const ascii = 2; // every byte is one character, which V8 reads faster
const checkedByCrc = 4; // a checksum follows the size, as the first stores of format 3 have it
const checked = 8; // a checksum follows the size
const sumAt = 5;
export const textStart = 9; // after the header

type Stored = string | number | boolean | null | Stored[] | { [name: string]: Stored };
type StoredMap = { [name: string]: Stored };

export function encodeItem(item: Item, size: number): Buffer {
  const state = { tagged: false };
  const text = JSON.stringify(storedMap(item, state));
  return encodeText(text, size, state.tagged);
}

function encodeText(text: string, size: number, hasTags: boolean, knownAscii?: boolean): Buffer {
  const length = knownAscii ? text.length : Buffer.byteLength(text);
  const isAscii = length === text.length;
  const bytes = Buffer.allocUnsafe(textStart + length);
  bytes.write(text, textStart, isAscii ? 'latin1' : 'utf8');
  return sealText(bytes, size, hasTags, isAscii);
}

// Writes the header before a text that is already in its place.
export function sealText(bytes: Buffer, size: number, hasTags: boolean, isAscii: boolean): Buffer {
  bytes[0] = (hasTags ? tagged : 0) | (isAscii ? ascii : 0) | checked;
  bytes.writeUInt32LE(size, 1);
  bytes.writeUInt32LE(sumOf(bytes, bytes.length), sumAt);
  return bytes;
}

// The checksum of the text begins with a number of the size and the flags. The factor is odd: no two sizes have the same.
const sumOf = (bytes: Buffer, end: number): number => wordSum(bytes, textStart, end, seedOf(bytes));
const crcOf = (bytes: Buffer, end: number): number => checksum(bytes, textStart, end, seedOf(bytes));
const seedOf = (bytes: Buffer): number => Math.imul(bytes.readUInt32LE(1), 0x9e3779b1) ^ bytes[0]!;

function storedMap(map: Item, state: { tagged: boolean }): StoredMap {
  const out = newItem() as unknown as StoredMap;
  for (const name in map) {
    if (name.charCodeAt(0) === 1) return tag(state, 'M', storedEntries(map, state));
    out[name] = stored(map[name]!, state);
  }
  return out;
}

const storedEntries = (map: Item, state: { tagged: boolean }): Stored =>
  Object.keys(map).map(name => [name, stored(map[name]!, state)]);

function stored(value: AttributeValue, state: { tagged: boolean }): Stored {
  if ('S' in value) return value.S;
  if ('N' in value) {
    const number = Number(value.N);
    return isPlain(number, value.N) ? number : tag(state, 'N', value.N);
  }
  if ('BOOL' in value) return value.BOOL;
  if ('M' in value) return storedMap(value.M, state);
  if ('L' in value) return value.L.map(member => stored(member, state));
  if ('NULL' in value) return null;
  if ('B' in value) {
    state.tagged = true;
    return taggedBytes(value.B);
  }
  if ('SS' in value) return tag(state, 'SS', value.SS);
  if ('NS' in value) return tag(state, 'NS', value.NS);
  return tag(state, 'BS', value.BS.map(base64));
}

// Past the safe integers a double may still print as the same text, but callers get a BigInt there.
const isPlain = (number: number, text: string): boolean =>
  Math.abs(number) <= Number.MAX_SAFE_INTEGER && String(number) === text;

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

const taggedBytes = (bytes: Uint8Array): StoredMap => ({ '\u0001B': base64(bytes) });

function tag(state: { tagged: boolean }, type: string, value: Stored): StoredMap {
  state.tagged = true;
  return { [`\u0001${type}`]: value };
}

// `end` is given when `bytes` is the store's shared buffer, which is longer than the value.
export const decodeSize = (bytes: Buffer): number => bytes.readUInt32LE(1);

// Reads the size of an item within other bytes. It is not a parameter of `decodeSize`, which is passed as a decoder and
// called with the end.
export const decodeSizeAt = (bytes: Buffer, start: number): number => bytes.readUInt32LE(start + 1);

// Throws if the bytes are not as they were written.
function textOf(bytes: Buffer, end: number): string {
  const flags = bytes[0]!;
  if (flags & (checked | checkedByCrc)) {
    const sum = flags & checked ? sumOf : crcOf;
    if (end < textStart || bytes.readUInt32LE(sumAt) !== sum(bytes, end)) throw itemDamaged();
    return bytes.toString(flags & ascii ? 'latin1' : 'utf8', textStart, end);
  }
  return bytes.toString(flags & ascii ? 'latin1' : 'utf8', sumAt, end);
}

const parse = (bytes: Buffer, end: number): StoredMap => parseText(textOf(bytes, end)) as StoredMap;

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw itemDamaged();
  }
}

export const decodeItem = (bytes: Buffer, end = bytes.length): Item => {
  const map = parse(bytes, end);
  const pairs = map['\u0001M'];
  return pairs === undefined ? wireMap(map) : wireEntries(pairs as [string, Stored][]);
};

// Leaves out one attribute. If it is a list of numbers, as vectors are, its text is not parsed either.
export function decodeItemWithout(bytes: Buffer, end: number, name: string): Item {
  const text = textOf(bytes, end);
  const map = (parseWithoutList(text, name) ?? parseText(text)) as StoredMap;
  const pairs = map['\u0001M'] as [string, Stored][] | undefined;
  return wireEntries((pairs ?? Object.entries(map)).filter(([attribute]) => attribute !== name));
}

// The text of an item without what a list has; undefined if the list is not found.
function parseWithoutList(text: string, name: string): StoredMap | undefined {
  const list = findList(text, name);
  const map = list && (parseText(text.slice(0, list.start) + text.slice(list.end)) as StoredMap);
  return map && Object.hasOwn(map, name) ? map : undefined;
}

// What stands between the brackets of a list. Undefined if it is not found at once, or has more than numbers. A string
// does not contain the name with its quotes, because the text has a backslash before those. If the name is there once and
// the item itself has it, no map within the item has it.
function findList(text: string, name: string): { start: number; end: number } | undefined {
  const before = `${JSON.stringify(name)}:`;
  const at = text.indexOf(before);
  const start = at + before.length + 1;
  if (at < 0 || text[start - 1] !== '[' || text.includes(before, start)) return undefined;
  const end = text.indexOf(']', start);
  const list = text.slice(start, end);
  return list.includes('"') || list.includes('[') ? undefined : { start, end };
}

/**
 * Decodes an item that has the same list of numbers as another one, which is given in both forms: the numbers are not
 * parsed again. Undefined if the text does not show at once that the lists are the same.
 */
export function decodeBeside(
  bytes: Buffer,
  other: { bytes: Buffer; item: NativeItem },
  name: string,
): NativeItem | undefined {
  const list: unknown = Object.hasOwn(other.item, name) ? other.item[name] : undefined;
  if (!Array.isArray(list) || hasTags(bytes) || hasTags(other.bytes)) return undefined;
  const [text, otherText] = [textOf(bytes, bytes.length), textOf(other.bytes, other.bytes.length)];
  const [own, same] = [findList(text, name), findList(otherText, name)];
  if (!own || !same || text.slice(own.start, own.end) !== otherText.slice(same.start, same.end))
    return undefined;
  const map = parseWithoutList(text, name) as NativeItem | undefined;
  return map && { ...map, [name]: list.slice() };
}

export const decodeNative = (bytes: Buffer, end = bytes.length): NativeItem => {
  const map = parse(bytes, end);
  return bytes[0]! & tagged ? (native(map) as NativeItem) : map;
};

export function isWholeItem(bytes: Buffer, end: number): boolean {
  try {
    textOf(bytes, end);
    return true;
  } catch {
    return false;
  }
}

// The JSON of an item; undefined if some value has a tag, which makes the JSON another one than the item's.
export const plainJson = (bytes: Buffer, end = bytes.length): string | undefined =>
  hasTags(bytes) ? undefined : textOf(bytes, end);

export const hasTags = (bytes: Buffer): boolean => (bytes[0]! & tagged) !== 0;

// Whether some value carries a tag other than that of binary.
export function hasTypeTags(bytes: Buffer, end: number): boolean {
  if (!hasTags(bytes)) return false;
  const text = textOf(bytes, end);
  for (let at = text.indexOf(tagMark); at >= 0; at = text.indexOf(tagMark, at + 1))
    if (!text.startsWith('B"', at + tagMark.length)) return true;
  return false;
}

const tagMark = '\\u0001'; // U+0001 in JSON

export type Gathering<T> = { add(bytes: Buffer, end: number): void; finish(): T[] };

// Decodes many items as JavaScript values. Their texts are joined and parsed at once, which for a page of twenty takes
// about three quarters of the time of parsing them one by one.
export function gatherNative(): Gathering<NativeItem> {
  let text = '';
  let count = 0;
  const withTags: number[] = [];
  return {
    add(bytes, end) {
      if (bytes[0]! & tagged) withTags.push(count);
      text += (count++ === 0 ? '[' : ',') + textOf(bytes, end);
    },
    finish() {
      if (count === 0) return [];
      const items = parseText(`${text}]`) as StoredMap[];
      for (const index of withTags) items[index] = native(items[index]!) as StoredMap;
      return items;
    },
  };
}

export function gatherEach<T>(decode: (bytes: Buffer, end: number) => T): Gathering<T> {
  const items: T[] = [];
  return { add: (bytes, end) => void items.push(decode(bytes, end)), finish: () => items };
}

function wireMap(map: StoredMap): Item {
  const out = newItem();
  for (const name in map) out[name] = wire(map[name]!);
  return out;
}

function wireEntries(pairs: [string, Stored][]): Item {
  const out = newItem();
  for (const [name, value] of pairs) out[name] = wire(value);
  return out;
}

function wire(value: Stored): AttributeValue {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: String(value) };
    case 'boolean':
      return { BOOL: value };
  }
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.map(wire) };
  return tagOf(value) ? wireTagged(value) : { M: wireMap(value) };
}

function tagOf(map: StoredMap): string | undefined {
  for (const name in map) return name.charCodeAt(0) === 1 ? name.slice(1) : undefined;
  return undefined;
}

function wireTagged(map: StoredMap): AttributeValue {
  const type = tagOf(map)!;
  const value = map[`\u0001${type}`]!;
  if (type === 'M') return { M: wireEntries(value as [string, Stored][]) };
  if (type === 'B') return { B: Buffer.from(value as string, 'base64') };
  if (type === 'BS') return { BS: (value as string[]).map(text => Buffer.from(text, 'base64')) };
  return { [type]: value } as AttributeValue;
}

function native(value: Stored): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(native);
  const type = tagOf(value);
  if (type) return nativeTagged(type, value[`\u0001${type}`]!);
  for (const name in value) setOwn(value, name, native(value[name]!));
  return value;
}

function nativeTagged(type: string, value: Stored): unknown {
  switch (type) {
    case 'N':
      return nativeNumber(value as string);
    case 'B':
      return plainBytes(Buffer.from(value as string, 'base64'));
    case 'SS':
      return new Set(value as string[]);
    case 'NS':
      return new Set((value as string[]).map(nativeNumber));
    case 'BS':
      return new Set((value as string[]).map(text => plainBytes(Buffer.from(text, 'base64'))));
  }
  const out: NativeItem = {};
  for (const [name, member] of value as [string, Stored][]) setOwn(out, name, native(member));
  return out;
}
