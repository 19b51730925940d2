import { isDeepStrictEqual } from 'node:util';
import type { Attributes } from '../client/client.ts';
import type { Change } from '../conditions/update.ts';
import type { AnyEntity } from '../design/entity.ts';

// Whether a write can be repeated, and how to recognise that it was made. A conditional write that was made refuses its
// own repetition; the item that fails the condition is then what it wrote. Writes that claim something include an id,
// or an owner and a time, so no process takes another's claim for its own.

// Adding the same element to a set twice has no further effect.
export const isAddition = ({ add = {}, append = {} }: Change<never>): boolean =>
  Object.keys(append).length > 0 || Object.values(add).some(value => typeof value === 'number');

export const isResultOfPut = (
  stored: Attributes | undefined,
  written: Attributes,
  { ifNew }: { ifNew?: boolean },
): boolean => (ifNew ? stored !== undefined : isSame(stored, written));

const isSame = (stored: unknown, written: unknown): boolean =>
  isDeepStrictEqual(comparable(stored), comparable(written));

// Everything to be set is there, everything to be removed is gone, and the version is the next one.
export function isResultOf(
  entity: AnyEntity,
  stored: Attributes | undefined,
  { set = {}, remove = [] }: Change<never>,
  ifVersion: number | undefined,
): boolean {
  if (!stored) return false;
  if (ifVersion !== undefined && stored[entity.version!] !== ifVersion + 1) return false;
  const isSet = Object.entries(set).every(
    ([path, value]) => value === undefined || isSame(valueAt(stored, path), value),
  );
  return isSet && (remove as readonly string[]).every(path => valueAt(stored, path) === undefined);
}

const valueAt = (stored: Attributes, path: string): unknown =>
  path.split('.').reduce<unknown>((within, name) => (within as Attributes | undefined)?.[name], stored);

// Bytes are returned as another class, and undefined is not stored.
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(comparable);
  if (value === null || typeof value !== 'object' || value instanceof Set) return value;
  const present = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(present.map(([name, one]) => [name, comparable(one)]));
}
