import { itemBytes, nestingDepth } from '../limits.ts';
import type { Encoded } from '../values/attribute-value.ts';
import type { NativeItem } from '../values/marshal.ts';
import { byteLength, numberSize } from '../values/size.ts';
import { base64, decodeNative, encodeText, hasTags, hasTypeTags } from './codec.ts';

// Most items of JavaScript callers are stored as the JSON of what they passed. Those are checked, measured and encoded
// here, in one pass over the plain values. Everything else, and every error, takes the slow path, which handles all
// types and error messages.

export const notPlain = -1;
const longName = 1000; // characters; a longer one takes the slow path, which counts its bytes

export function encodePlain(item: NativeItem): Encoded | undefined {
  if (!isPlainObject(item)) return undefined;
  writing.size = 0;
  writing.isAscii = true;
  writing.hasTags = false;
  let text = '';
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value === undefined) continue;
    const member = value instanceof Uint8Array ? binaryText(value) : plainText(value, 1);
    const head = member === undefined ? undefined : nameText(name);
    if (head === undefined) return undefined;
    text += (text === '' ? '{' : ',') + head + member;
  }
  const { size, isAscii, hasTags } = writing;
  if (size > itemBytes) return undefined;
  return { size, bytes: encodeText(text === '' ? '{}' : `${text}}`, size, hasTags, isAscii) };
}

// The size so far as DynamoDB counts it, and whether every byte is one character.
const writing = { size: 0, isAscii: true, hasTags: false };

// JSON of a value, as `JSON.stringify` writes it; undefined if it is not plain. Checking, measuring and writing in one
// pass takes about half the time of JSON.stringify alone.
function plainText(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return stringText(value);
    case 'number':
      return numberText(value);
    case 'boolean':
      writing.size += 1;
      return value ? 'true' : 'false';
    case 'object':
      if (value !== null)
        return depth >= nestingDepth
          ? undefined
          : Array.isArray(value)
            ? listText(value, depth + 1)
            : mapText(value as NativeItem, depth + 1);
      writing.size += 1;
      return 'null';
    default:
      return undefined;
  }
}

const unusual = /[^ !#-[\]-~]/; // not printable ASCII, or a quote or backslash

function stringText(value: string): string | undefined {
  if (!unusual.test(value)) {
    writing.size += value.length;
    return `"${value}"`;
  }
  if (!value.isWellFormed()) return undefined;
  const bytes = byteLength(value);
  writing.size += bytes;
  if (bytes !== value.length) writing.isAscii = false;
  return JSON.stringify(value);
}

function numberText(value: number): string | undefined {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return undefined;
  const text = String(value);
  if (text.includes('e')) return undefined;
  writing.size += numberSize(text);
  return text;
}

function listText(list: readonly unknown[], depth: number): string | undefined {
  writing.size += 3 + list.length;
  let text = '[';
  for (let i = 0; i < list.length; i++) {
    const member = plainText(list[i], depth);
    if (member === undefined) return undefined;
    text += i === 0 ? member : `,${member}`;
  }
  return `${text}]`;
}

function mapText(map: NativeItem, depth: number): string | undefined {
  if (!isPlainObject(map)) return undefined;
  writing.size += 3;
  let text = '';
  for (const name of Object.keys(map)) {
    const value: unknown = map[name];
    if (value === undefined) continue;
    writing.size += 1;
    const member = plainText(value, depth);
    const head = member === undefined ? undefined : nameText(name);
    if (head === undefined) return undefined;
    text += (text === '' ? '{' : ',') + head + member;
  }
  return text === '' ? '{}' : `${text}}`;
}

// As `taggedBytes` has it in JSON.
const binaryStart = '{"\\u0001B":"';

function binaryText(bytes: Uint8Array): string {
  writing.size += bytes.byteLength;
  writing.hasTags = true;
  // Nothing in base64 needs an escape.
  return `${binaryStart}${base64(bytes)}"}`;
}

// Attributes of the same few entities are written again and again. Maps may have any names: past the limit, new ones are
// not remembered.
type NameText = { text: string; bytes: number; isAscii: boolean };
const nameTexts = new Map<string, NameText>();
const nameTextsKept = 2000; // about 200 bytes each

function nameText(name: string): string | undefined {
  const written = nameTexts.get(name) ?? writeName(name);
  if (!written) return undefined;
  writing.size += written.bytes;
  if (!written.isAscii) writing.isAscii = false;
  return written.text;
}

function writeName(name: string): NameText | undefined {
  if (!isPlainName(name)) return undefined;
  const bytes = byteLength(name);
  const written = { text: `${JSON.stringify(name)}:`, bytes, isAscii: bytes === name.length };
  if (nameTexts.size < nameTextsKept) nameTexts.set(name, written);
  return written;
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
function isPlainObject(value: object): boolean {
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
