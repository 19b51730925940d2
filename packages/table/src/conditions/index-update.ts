import type { Attributes } from '../client/client.ts';
import type { AnyEntity, IndexKeys } from '../design/entity.ts';
import { indexKeysOf } from '../design/item.ts';
import { isMissing } from '../design/key-template.ts';
import { itemRefused } from '../errors.ts';
import type { Change, UpdateOptions } from './update.ts';

// The new keys in every index whose key contains a changed attribute; a key without a value is removed. `borrowed` are
// the attributes taken from `current`, which must be unchanged.
export function moveIndexKeys(
  entity: AnyEntity,
  key: object,
  set: Attributes,
  change: Change<never>,
  options: UpdateOptions<never>,
): { moved: { name: string; value?: unknown }[]; borrowed: { name: string; value: unknown }[] } {
  const removed: readonly string[] = change.remove ?? none;
  const current: Attributes | undefined = options.current;
  const borrowed: string[] = [];
  const moved: { name: string; value?: unknown }[] = [];
  for (const index of entity.indexes) {
    refuseUnknowable(entity, index, change);
    if (!isMoved(index, key, set, removed, options.upsert)) continue;
    const keys = newKeysOf(entity, index, key, set, removed, current, borrowed);
    moved.push({ name: index.partition, value: keys?.[index.partition] });
    if (index.sort !== undefined) moved.push({ name: index.sort, value: keys?.[index.sort] });
  }
  return { moved, borrowed: borrowed.map(name => ({ name, value: current![name] })) };
}

const none: readonly string[] = [];

// An item that an update creates is added to the indexes whose keys are known.
function isMoved(
  { params }: IndexKeys,
  key: object,
  set: Attributes,
  removed: readonly string[],
  upsert: boolean | undefined,
): boolean {
  for (const name of params) if (name in set || removed.includes(name)) return true;
  return upsert === true && params.every(name => name in key);
}

// Undefined removes the item from the index: one missing attribute is enough.
function newKeysOf(
  entity: AnyEntity,
  index: IndexKeys,
  key: object,
  set: Attributes,
  removed: readonly string[],
  current: Attributes | undefined,
  borrowed: string[],
): Attributes | undefined {
  const values: Attributes = {};
  for (const name of index.params) {
    if (removed.includes(name)) return undefined;
    if (name in set) {
      if (isMissing(set[name])) return undefined;
      values[name] = set[name];
    } else if (name in key) values[name] = (key as Attributes)[name];
  }
  for (const name of index.params) {
    if (name in values) continue;
    if (current === undefined)
      throw itemRefused(
        `this update of ${entity.name} moves it in ${index.name}, whose key also needs ${name}: ` +
          'set it as well, or pass the item as `current`',
      );
    values[name] = current[name];
    if (!borrowed.includes(name)) borrowed.push(name);
  }
  return indexKeysOf(index, values);
}

const computed = ['setOnce', 'add', 'append', 'deleteFrom'] as const;

function refuseUnknowable(entity: AnyEntity, index: IndexKeys, change: Change<never>): void {
  for (const clause of computed) {
    const values = change[clause] as Attributes | undefined;
    const name = values && index.params.find(param => values[param] !== undefined);
    if (name)
      throw itemRefused(
        `${name} of ${entity.name} is part of the key of ${index.name}, which ${clause} cannot compute: use set`,
      );
  }
}
