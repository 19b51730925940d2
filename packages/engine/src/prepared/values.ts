import { isPlainName, notPlain, plainSize } from '../storage/plain-item.ts';
import type { NativeItem } from '../values/marshal.ts';

// Plain JavaScript values: text, numbers that a double holds exactly, booleans, null, lists and maps of them, and bytes.
// Everything else is left to the wire operations.

/** Thrown before anything is written. The caller repeats the request as a wire operation. */
export const unsupported = new Error('prepared operations do not support this');

/** An attribute, or the way into its maps. */
export type Path = string | readonly string[];

export const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;

export const isMap = (value: unknown): value is NativeItem =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isBytes(value);

// A name that every JavaScript object has would be found in items that do not have it.
function checkName(name: string): void {
  if (!isPlainName(name) || name in Object.prototype) throw unsupported;
}

export function checkPath(path: Path): void {
  if (typeof path === 'string') checkName(path);
  else for (const name of path) checkName(name);
}

export const rootOf = (path: Path): string => (typeof path === 'string' ? path : path[0]!);

export function valueAt(item: NativeItem, path: Path): unknown {
  if (typeof path === 'string') return item[path];
  let value: unknown = item;
  for (const name of path) {
    if (!isMap(value)) return undefined;
    value = value[name];
  }
  return value;
}

// A copy of a value that is plain, so that the caller may change its own.
export function copyPlain(value: unknown): unknown {
  if (plainSize(value, 1) === notPlain) throw unsupported;
  return copy(value);
}

function copy(value: unknown): unknown {
  if (typeof value === 'number') return value + 0; // -0 is stored as 0
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const out: NativeItem = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') throw unsupported;
    if (member !== undefined) out[name] = copy(member);
  }
  return out;
}

/** Like `equalValues`, for plain values. */
export function equalPlain(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isBytes(a)) return isBytes(b) && Buffer.compare(a, b) === 0;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((member, i) => equalPlain(member, b[i]));
  return isMap(b) && equalMaps(a as NativeItem, b);
}

// Attributes that are undefined are not stored.
export function equalMaps(a: NativeItem, b: NativeItem): boolean {
  let count = 0;
  for (const name in a) {
    const value = a[name];
    if (value === undefined) continue;
    if (!Object.hasOwn(b, name) || !equalPlain(value, b[name])) return false;
    count++;
  }
  for (const name in b) if (b[name] !== undefined) count--;
  return count === 0;
}
