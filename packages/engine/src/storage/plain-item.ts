import { itemBytes, nestingDepth } from '../limits.ts';
import type { Encoded } from '../values/attribute-value.ts';
import type { NativeItem } from '../values/marshal.ts';
import { byteLength, numberSize } from '../values/size.ts';
import { decodeNative, encodeText, hasTags, hasTypeTags, taggedBytes } from './codec.ts';

// Most items of JavaScript callers are stored as the JSON of what they passed. Those are checked, measured and encoded
// here, in one pass over the plain values. Everything else, and every error, takes the slow path, which handles all
// types and error messages.

export const notPlain = -1;
const longName = 1000; // characters; a longer one takes the slow path, which counts its bytes

export function encodePlain(item: NativeItem): Encoded | undefined {
  if (!isPlainObject(item)) return undefined;
  let size = 0;
  const binary: string[] = [];
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value === undefined) continue;
    if (!isPlainName(name)) return undefined;
    const bytes = value instanceof Uint8Array ? value.byteLength : plainSize(value, 1);
    if (bytes === notPlain) return undefined;
    if (value instanceof Uint8Array) binary.push(name);
    size += byteLength(name) + bytes;
  }
  if (size > itemBytes) return undefined;
  const text = JSON.stringify(binary.length > 0 ? withTags(item, binary) : item);
  return { size, bytes: encodeText(text, size, binary.length > 0) };
}

// The reverse: undefined for an item that `encodePlain` would not have encoded. Such an item has sets, long numbers,
// binary inside its maps, or maps whose names look like tags.
export function decodePlain(bytes: Buffer, end = bytes.length): NativeItem | undefined {
  if (hasTypeTags(bytes, end)) return undefined;
  const item = decodeNative(bytes, end);
  if (!hasTags(bytes)) return item;
  for (const name in item) {
    const value: unknown = item[name];
    if (!(value instanceof Uint8Array) && plainSize(value, 1) === notPlain) return undefined;
  }
  return item;
}

// Other objects may have their own `toJSON`.
export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export const isPlainName = (name: string): boolean =>
  name !== '' && name.length < longName && name.charCodeAt(0) !== 1 && name.isWellFormed();

export function plainSize(value: unknown, depth: number): number {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? byteLength(value) : notPlain;
    case 'number':
      return plainNumberSize(value);
    case 'boolean':
      return 1;
    case 'object':
      if (value === null) return 1;
      if (depth >= nestingDepth) return notPlain;
      return Array.isArray(value) ? plainListSize(value, depth + 1) : plainMapSize(value, depth + 1);
    default:
      return notPlain;
  }
}

// Like `isPlain` in the codec: a double that reads back as the same text, and is not a BigInt for callers.
function plainNumberSize(value: number): number {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return notPlain;
  const text = String(value);
  return text.includes('e') ? notPlain : numberSize(text);
}

function plainListSize(list: readonly unknown[], depth: number): number {
  let size = 3;
  for (let i = 0; i < list.length; i++) {
    const member = plainSize(list[i], depth);
    if (member === notPlain) return notPlain;
    size += 1 + member;
  }
  return size;
}

function plainMapSize(map: object, depth: number): number {
  if (!isPlainObject(map)) return notPlain;
  let size = 3;
  for (const [name, value] of Object.entries(map)) {
    if (value === undefined) continue;
    const member = isPlainName(name) ? plainSize(value, depth) : notPlain;
    if (member === notPlain) return notPlain;
    size += 1 + byteLength(name) + member;
  }
  return size;
}

function withTags(item: NativeItem, binary: readonly string[]): NativeItem {
  const out: NativeItem = Object.assign(Object.create(null), item);
  for (const name of binary) out[name] = taggedBytes(item[name] as Uint8Array);
  return out;
}
