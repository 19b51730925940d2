import type { Attributes } from '@stak/table';

// An item as JSON text. Sets become lists, bytes become base64 text, and whole numbers that JSON readers would round
// become text.
export function imageOf(item: Attributes, omit: readonly string[] = []): string {
  const shown = omit.length === 0 ? item : without(item, omit);
  return isPlain(shown) ? JSON.stringify(shown) : JSON.stringify(shown, replace);
}

function without(item: Attributes, omit: readonly string[]): Attributes {
  const shown: Attributes = {};
  for (const name in item) if (!omit.includes(name)) shown[name] = item[name];
  return shown;
}

// Whether JSON can express the whole value. Most items are like this, and a replacer function takes five times as long.
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  if (value instanceof Uint8Array || value instanceof Set) return false;
  if (Array.isArray(value)) return value.every(isPlain);
  for (const name in value) if (!isPlain((value as Attributes)[name])) return false;
  return true;
}

function replace(this: Record<string, unknown>, key: string, value: unknown): unknown {
  // `JSON.stringify` has already converted buffers in `value`.
  const original = this[key];
  if (original instanceof Uint8Array) return Buffer.from(original).toString('base64');
  if (original instanceof Set) return [...original];
  return typeof original === 'bigint' ? original.toString() : value;
}

// The keys of an item as one text, the same for a scanned item and a stream record.
export const keyText = (
  { partition, sort }: { partition: string; sort?: string },
  keys: Attributes,
): string =>
  imageOf(
    sort === undefined
      ? { [partition]: keys[partition] }
      : { [partition]: keys[partition], [sort]: keys[sort] },
  );
