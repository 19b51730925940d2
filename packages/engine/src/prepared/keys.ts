import * as limits from '../limits.ts';
import { space } from '../storage/keys.ts';
import type { NativeItem } from '../values/marshal.ts';
import type { Layout } from './layout.ts';
import { unsupported } from './values.ts';

// The keys of `storage/keys.ts` from text, without a buffer for each part.

const headBytes = 5;
const lengthBytes = 2;
const longestBase = 600; // of an item's key in an index; longer ones are stored as their hash

/** The key of an item, from an object that has at least the key attributes. */
export function itemKeyOf({ id, hash, range }: Layout, values: NativeItem): Buffer {
  const first: unknown = values[hash];
  const second: unknown = range === undefined ? '' : values[range];
  if (typeof first !== 'string' || typeof second !== 'string' || first === '') throw unsupported;
  if (range !== undefined && second === '') throw unsupported;
  const firstBytes = keyBytes(first, limits.hashKeyBytes);
  const secondBytes = keyBytes(second, limits.rangeKeyBytes);
  const key = Buffer.allocUnsafe(headBytes + lengthBytes + firstBytes + secondBytes);
  writeHead(key, space.item, id, firstBytes);
  writeText(key, first, headBytes + lengthBytes, firstBytes);
  if (secondBytes > 0) writeText(key, second, headBytes + lengthBytes + firstBytes, secondBytes);
  return key;
}

/** A key that names nothing but the item. */
export function exactKeyOf(layout: Layout, key: NativeItem): Buffer {
  let count = 0;
  for (const _ in key) count++;
  if (count !== (layout.range === undefined ? 1 : 2)) throw unsupported;
  return itemKeyOf(layout, key);
}

/** The entry of an item in an index. `range` has no NUL. */
export function indexEntry(indexId: number, hash: string, range: string | undefined, base: Buffer): Buffer {
  if (base.length - headBytes > longestBase) throw unsupported;
  const hashBytes = Buffer.byteLength(hash);
  const rangeBytes = range === undefined ? 0 : Buffer.byteLength(range) + 2;
  const key = Buffer.allocUnsafe(lengthBytes + hashBytes + rangeBytes + base.length);
  writeHead(key, space.index, indexId, hashBytes);
  let at = headBytes + lengthBytes;
  writeText(key, hash, at, hashBytes);
  at += hashBytes;
  if (range !== undefined) {
    writeText(key, range, at, rangeBytes - 2);
    at += rangeBytes;
    key[at - 2] = 0;
    key[at - 1] = 1;
  }
  base.copy(key, at, headBytes);
  return key;
}

function keyBytes(text: string, most: number): number {
  const bytes = asciiBytes(text);
  if (bytes <= most) return bytes;
  throw unsupported;
}

// Text that is not well-formed would be stored as another one.
function asciiBytes(text: string): number {
  for (let i = 0; i < text.length; i++)
    if (text.charCodeAt(i) > 127) {
      if (!text.isWellFormed()) throw unsupported;
      return Buffer.byteLength(text);
    }
  return text.length;
}

function writeHead(key: Buffer, prefix: number, id: number, length: number): void {
  key[0] = prefix;
  key[1] = id >>> 24;
  key[2] = id >>> 16;
  key[3] = id >>> 8;
  key[4] = id;
  key[5] = length >>> 8;
  key[6] = length;
}

// A short text is written here: crossing into the runtime takes longer than the loop.
function writeText(key: Buffer, text: string, at: number, bytes: number): void {
  if (bytes !== text.length || bytes > 64) key.write(text, at, 'utf8');
  else for (let i = 0; i < bytes; i++) key[at + i] = text.charCodeAt(i);
}
