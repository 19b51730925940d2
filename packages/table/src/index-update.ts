import type { Attributes } from './client.ts';
import type { AnyEntity, IndexKeys } from './entity.ts';
import { itemRefused } from './errors.ts';
import { type Expression, nameIn, valueIn } from './expression.ts';
import { indexKeysOf } from './item.ts';
import { isMissing } from './key-template.ts';
import { addTo, type Change, type Clauses, type UpdateOptions } from './update.ts';

// Moves the item in every index whose key contains a changed attribute. Returns the condition that the attributes taken
// from `current` are unchanged.
export function writeIndexKeys(
  expression: Expression,
  clauses: Clauses,
  entity: AnyEntity,
  key: object,
  set: Attributes,
  change: Change<never>,
  options: UpdateOptions<never>,
): string | undefined {
  const removed: readonly string[] = change.remove ?? none;
  const current: Attributes | undefined = options.current;
  const borrowed: string[] = [];
  for (const index of entity.indexes) {
    refuseUnknowable(entity, index, change);
    if (!isMoved(index, key, set, removed, options.upsert)) continue;
    const keys = newKeysOf(entity, index, key, set, removed, current, borrowed);
    writeKey(expression, clauses, index.partition, keys);
    if (index.sort !== undefined) writeKey(expression, clauses, index.sort, keys);
  }
  let condition: string | undefined;
  for (const name of borrowed) {
    const text = unchangedText(expression, name, current![name]);
    condition = condition === undefined ? text : `${condition} AND ${text}`;
  }
  return condition;
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

function writeKey(
  expression: Expression,
  clauses: Clauses,
  name: string,
  keys: Attributes | undefined,
): void {
  if (keys) addTo(clauses, 'set', `${nameIn(expression, name)} = ${valueIn(expression, keys[name])}`);
  else addTo(clauses, 'remove', nameIn(expression, name));
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

const unchangedText = (expression: Expression, name: string, value: unknown): string =>
  value === undefined
    ? `attribute_not_exists(${nameIn(expression, name)})`
    : `${nameIn(expression, name)} = ${valueIn(expression, value)}`;
