import { itemBytes, nestingDepth } from '../limits.ts';
import type { Encoded } from '../values/attribute-value.ts';
import type { NativeItem } from '../values/marshal.ts';
import { byteLength, numberSize } from '../values/size.ts';
import { base64, decodeNative, hasTags, hasTypeTags, sealText, textStart } from './codec.ts';

// Most items of JavaScript callers are stored as the JSON of what they passed. Those are checked, measured and encoded
// here, in one pass over the plain values. Everything else, and every error, takes the slow path, which handles all
// types and error messages.

export const notPlain = -1;
const longName = 1000; // characters; a longer one takes the slow path, which counts its bytes

export function encodePlain(item: NativeItem): Encoded | undefined {
  if (!isPlainObject(item)) return undefined;
  if (out.length > keptBytes) out = Buffer.allocUnsafeSlow(keptBytes);
  at = textStart;
  written.size = 0;
  written.isAscii = true;
  written.hasTags = false;
  // In a loop over the names themselves, V8 reads each value without looking for it.
  for (const name in item) {
    const value: unknown = item[name];
    if (value === undefined) continue;
    if (!writeName(name, at === textStart)) return undefined;
    if (value instanceof Uint8Array) writeBinary(value);
    else if (!writeValue(value, 1)) return undefined;
  }
  const { size, isAscii, hasTags } = written;
  if (size > itemBytes) return undefined;
  endMap(at === textStart);
  const bytes = Buffer.allocUnsafe(at);
  out.copy(bytes, 0, 0, at);
  return { size, bytes: sealText(bytes, size, hasTags, isAscii) };
}

// The JSON is written into one buffer, which is used for every item: joining a hundred short texts would make as many
// objects, and their characters would be copied twice.
const keptBytes = 64 * 1024; // an item of 400 KB may take more, for a while
let out = Buffer.allocUnsafeSlow(keptBytes);
let at = 0;

// Of what was written: the size as DynamoDB counts it, and whether every byte is one character.
const written = { size: 0, isAscii: true, hasTags: false };

function makeRoom(bytes: number): void {
  if (at + bytes <= out.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.max(at + bytes, out.length * 2));
  out.copy(larger, 0, 0, at);
  out = larger;
}

// Writes JSON as `JSON.stringify` does. False if the value is not plain.
function writeValue(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'number':
      return writeNumber(value);
    case 'boolean':
      written.size += 1;
      writeAscii(value ? 'true' : 'false');
      return true;
    case 'object':
      if (value !== null)
        return (
          depth < nestingDepth &&
          (Array.isArray(value) ? writeList(value, depth + 1) : writeMap(value as NativeItem, depth + 1))
        );
      written.size += 1;
      writeAscii('null');
      return true;
    default:
      return false;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const shortChars = 256; // written here: crossing into the runtime costs more than the loop

function writeString(value: string): boolean {
  const { length } = value;
  if (length > shortChars) return writeLongString(value);
  makeRoom(length + 2);
  const bytes = out;
  const start = at + 1;
  for (let i = 0; i < length; i++) {
    const code = value.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || code === quote || code === backslash) return writeLongString(value);
    bytes[start + i] = code;
  }
  bytes[at] = quote;
  bytes[start + length] = quote;
  at = start + length + 1;
  written.size += length;
  return true;
}

const unusual = /[^ !#-[\]-~]/; // not printable ASCII, or a quote or backslash

function writeLongString(value: string): boolean {
  if (!unusual.test(value)) {
    written.size += value.length;
    writeAscii(`"${value}"`);
    return true;
  }
  if (!value.isWellFormed()) return false;
  const bytes = byteLength(value);
  written.size += bytes;
  const text = JSON.stringify(value);
  if (bytes === value.length) writeAscii(text);
  else {
    written.isAscii = false;
    makeRoom(text.length * 3);
    at += out.write(text, at, 'utf8');
  }
  return true;
}

function writeAscii(text: string): void {
  makeRoom(text.length);
  at += out.write(text, at, 'latin1');
}

function writeNumber(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  if (value >= 0 && Math.floor(value) === value) {
    writeInteger(value);
    return true;
  }
  const text = String(value);
  if (text.includes('e')) return false;
  written.size += numberSize(text);
  writeAscii(text);
  return true;
}

function writeInteger(value: number): void {
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits += 1;
  makeRoom(digits);
  const end = at + digits;
  let left = value;
  let to = end;
  // Eight digits fit in an integer of the processor.
  while (left >= 1e8) {
    const high = Math.floor(left / 1e8);
    writeDigits(left - high * 1e8, to - 8, to);
    left = high;
    to -= 8;
  }
  writeDigits(left, at, to);
  written.size += integerSize(end);
  at = end;
}

function writeDigits(value: number, from: number, to: number): void {
  const bytes = out;
  let left = value | 0;
  for (let i = to - 1; i >= from; i--) {
    const tens = (left / 10) | 0;
    bytes[i] = 0x30 + left - tens * 10;
    left = tens;
  }
}

// As `numberSize` counts it. Zeros at the end are not stored.
function integerSize(end: number): number {
  let last = end - 1;
  while (last > at && out[last] === 0x30) last--;
  const digits = last - at + 1;
  if (digits === 1 && out[at] === 0x30) return 1;
  const isShared = digits % 2 === 0 && (end - at) % 2 === 1;
  return 1 + ((digits + 1) >> 1) + (isShared ? 1 : 0);
}

function writeList(list: readonly unknown[], depth: number): boolean {
  written.size += 3 + list.length;
  if (list.length === 0) writeByte(0x5b);
  for (let i = 0; i < list.length; i++) {
    writeByte(i === 0 ? 0x5b : comma);
    if (!writeValue(list[i], depth)) return false;
  }
  writeByte(0x5d);
  return true;
}

function writeMap(map: NativeItem, depth: number): boolean {
  if (!isPlainObject(map)) return false;
  written.size += 3;
  let isEmpty = true;
  for (const name in map) {
    const value: unknown = map[name];
    if (value === undefined) continue;
    written.size += 1;
    if (!writeName(name, isEmpty) || !writeValue(value, depth)) return false;
    isEmpty = false;
  }
  endMap(isEmpty);
  return true;
}

function endMap(isEmpty: boolean): void {
  if (isEmpty) writeByte(0x7b);
  writeByte(0x7d);
}

function writeByte(byte: number): void {
  makeRoom(1);
  out[at++] = byte;
}

// As `taggedBytes` of the codec has it in JSON.
const binaryStart = '{"\\u0001B":"';

function writeBinary(bytes: Uint8Array): void {
  written.size += bytes.byteLength;
  written.hasTags = true;
  // Nothing in base64 needs an escape.
  writeAscii(`${binaryStart}${base64(bytes)}"}`);
}

// Attributes of the same few entities are written again and again. Maps may have any names: past the limit, new ones are
// not remembered.
type NameText = { text: Uint8Array; bytes: number; isAscii: boolean };
const nameTexts = new Map<string, NameText>();
const nameTextsKept = 2000; // about 200 bytes each

function writeName(name: string, isFirst: boolean): boolean {
  const known = nameTexts.get(name) ?? encodeName(name);
  if (!known) return false;
  const { text, bytes, isAscii } = known;
  const { length } = text;
  written.size += bytes;
  if (!isAscii) written.isAscii = false;
  makeRoom(length + 1);
  const target = out;
  const start = at + 1;
  target[start - 1] = isFirst ? 0x7b : comma;
  for (let i = 0; i < length; i++) target[start + i] = text[i]!;
  at = start + length;
  return true;
}

function encodeName(name: string): NameText | undefined {
  if (!isPlainName(name)) return undefined;
  const bytes = byteLength(name);
  const text = new Uint8Array(Buffer.from(`${JSON.stringify(name)}:`));
  const encoded = { text, bytes, isAscii: bytes === name.length };
  if (nameTexts.size < nameTextsKept) nameTexts.set(name, encoded);
  return encoded;
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
