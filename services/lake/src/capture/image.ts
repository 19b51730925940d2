import { type Change, readImage, readImageJson } from '@stak/streams';
import { type AnyEntity, type Attributes, findEntity, recognise } from '@stak/table';
import type { Plan } from '../tables.ts';

/** An image of a change: the entity, undefined for none; the item; and its JSON as a row has it, if it is known. */
export type Image = { entity?: string; item: Attributes; json?: string };

/** Reads an image of a change, whose keys may belong to the entities. */
export function readEntityImage(
  plan: Plan,
  possible: readonly AnyEntity[],
  change: Change<AnyEntity>,
  which: 'new' | 'old',
): Image | undefined {
  const json = readImageJson(change, which);
  const stored = json === undefined ? readImage(change, which) : (JSON.parse(json) as Attributes);
  if (!stored) return undefined;
  const entity = findEntity(possible, stored);
  if (!entity) return { item: stored };
  const { name } = entity;
  const about = plan.entities.get(name);
  const isShownWhole = !about?.omit && !about?.text && entity.inKeyOnly.length === 0;
  const shown = json !== undefined && isShownWhole && withoutKeys(json, stored, plan.table.keyNames);
  if (shown) return { entity: name, item: stored, json: shown };
  return { entity: name, item: recognise([entity], stored)!.item };
}

// Cuts the keys off the start of an item's JSON, where most items have them. Undefined for other items. Parsing, copying
// and writing an item takes several times as long.
function withoutKeys(json: string, stored: Attributes, keyNames: ReadonlySet<string>): string | undefined {
  let start = 1;
  let isPastKeys = false;
  for (const name in stored) {
    if (name === '__proto__') return undefined;
    if (!keyNames.has(name)) {
      isPastKeys = true;
      continue;
    }
    const member = `${JSON.stringify(name)}:${JSON.stringify(stored[name])},`;
    if (isPastKeys || !json.startsWith(member, start)) return undefined;
    start += member.length;
  }
  return isPastKeys ? `{${json.slice(start)}` : undefined;
}

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
