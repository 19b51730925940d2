import type { Attributes, UpdateInput } from './client.ts';
import type { AnyEntity } from './entity.ts';
import { itemRefused } from './errors.ts';
import {
  bindPlaceholders,
  createExpression,
  type Expression,
  nameIn,
  pathIn,
  valueIn,
} from './expression.ts';
import { conditional, type Guards, guardText } from './guard.ts';
import { writeIndexKeys } from './index-update.ts';
import { keyOf } from './item.ts';

type Settable<Item, Key> = Omit<Item, keyof Key | 'kind'>;
type Numbers<Item> = { [A in keyof Item as NonNullable<Item[A]> extends number ? A : never]?: number };
type Sets<Item> = {
  [A in keyof Item as NonNullable<Item[A]> extends Set<unknown> ? A : never]?: NonNullable<Item[A]>;
};
type Lists<Item> = {
  [A in keyof Item as NonNullable<Item[A]> extends readonly unknown[] ? A : never]?: NonNullable<Item[A]>;
};
type Nested = { readonly [path: `${string}.${string}`]: unknown };

/** Clauses of an update; dotted names reach into maps. An attribute set to undefined stays unchanged. */
export type Change<Item, Key = unknown> = {
  set?: Partial<Settable<Item, Key>> & Nested;
  // Sets the attribute only if it has no value yet.
  setOnce?: Partial<Settable<Item, Key>> & Nested;
  add?: Numbers<Settable<Item, Key>> & Sets<Settable<Item, Key>> & Nested;
  append?: Lists<Settable<Item, Key>> & Nested;
  remove?: readonly ((keyof Settable<Item, Key> & string) | `${string}.${string}`)[];
  deleteFrom?: Sets<Settable<Item, Key>> & Nested;
};

export type UpdateOptions<Item> = Guards<Item> & {
  // Creates the item if it does not exist. Without this, updating an absent item fails its condition.
  upsert?: boolean;
  // The item as last read, if a changed index key also needs unchanged attributes. Those become part of the condition,
  // so an index key is never built from an outdated value.
  current?: Partial<Item>;
};

/** The input of UpdateItem for an item of the entity. */
export function updateParams(
  entity: AnyEntity,
  key: object,
  change: Change<never>,
  options: UpdateOptions<never>,
  nowMs: number,
): Omit<UpdateInput, 'ReturnValues'> {
  const expression = createExpression();
  const clauses: Clauses = { set: '', remove: '', add: '', delete: '' };
  const set = checkValues(entity, change.set);
  writeAttributes(expression, clauses, entity, set, change);
  if (options.upsert) writeIdentity(expression, clauses, entity, key);
  const unchanged = writeIndexKeys(expression, clauses, entity, key, set, change, options);
  const text = clausesText(clauses);
  if (text === '') throw itemRefused(`an update of ${entity.name} changes nothing`);

  const guard = guardText(expression, entity, options.upsert ? 'own' : 'present', options, nowMs);
  const condition = guard !== undefined && unchanged ? `${guard} AND ${unchanged}` : (guard ?? unchanged);
  const request: Omit<UpdateInput, 'ReturnValues'> = {
    TableName: entity.table.name,
    Key: keyOf(entity, key),
    UpdateExpression: entity.version === undefined ? text : countVersion(expression, clauses, entity.version),
    ...conditional(condition),
  };
  return bindPlaceholders(request, expression);
}

// The text of each clause so far.
export type Clauses = { set: string; remove: string; add: string; delete: string };

export function addTo(clauses: Clauses, clause: keyof Clauses, text: string): void {
  clauses[clause] = clauses[clause] === '' ? text : `${clauses[clause]}, ${text}`;
}

function clausesText({ set, remove, add, delete: deleted }: Clauses): string {
  let text = set === '' ? '' : `SET ${set}`;
  if (remove !== '') text += `${text && ' '}REMOVE ${remove}`;
  if (add !== '') text += `${text && ' '}ADD ${add}`;
  if (deleted !== '') text += `${text && ' '}DELETE ${deleted}`;
  return text;
}

const untouched: Attributes = {};

// Validates each attribute against its own part of the schema; rules over several attributes are up to the caller.
function checkValues(entity: AnyEntity, values: object | undefined): Attributes {
  if (!values) return untouched;
  const checked: Attributes = {};
  for (const name of Object.keys(values)) {
    const value = (values as Attributes)[name];
    if (value !== undefined) checked[name] = name.includes('.') ? value : checkValue(entity, name, value);
  }
  return checked;
}

type Parsed = { success: boolean; data?: unknown; error?: { issues: object[] } };

function checkValue(entity: AnyEntity, name: string, value: unknown): unknown {
  const schema = entity.schema.shape[name] as { safeParse(value: unknown): Parsed } | undefined;
  if (!schema) throw itemRefused(`${name} of ${entity.name} does not exist`);
  const result = schema.safeParse(value);
  if (!result.success) throw itemRefused(`${name} of ${entity.name} is not valid`, result.error?.issues);
  return result.data;
}

function writeAttributes(
  expression: Expression,
  clauses: Clauses,
  entity: AnyEntity,
  set: Attributes,
  change: Change<never>,
): void {
  for (const name in set)
    addTo(clauses, 'set', `${target(expression, entity, name)} = ${valueIn(expression, set[name])}`);
  const once = checkValues(entity, change.setOnce);
  for (const name in once) {
    const path = target(expression, entity, name);
    addTo(clauses, 'set', `${path} = if_not_exists(${path}, ${valueIn(expression, once[name])})`);
  }
  for (const [name, list] of given(change.append)) {
    const path = target(expression, entity, name);
    const empty = valueIn(expression, []);
    addTo(
      clauses,
      'set',
      `${path} = list_append(if_not_exists(${path}, ${empty}), ${valueIn(expression, list)})`,
    );
  }
  for (const name of change.remove ?? []) addTo(clauses, 'remove', target(expression, entity, name));
  for (const [name, value] of given(change.add))
    addTo(clauses, 'add', `${target(expression, entity, name)} ${valueIn(expression, value)}`);
  for (const [name, value] of given(change.deleteFrom))
    addTo(clauses, 'delete', `${target(expression, entity, name)} ${valueIn(expression, value)}`);
}

const nothing: [string, unknown][] = [];

const given = (values: object | undefined): [string, unknown][] =>
  values ? Object.entries(values).filter(([, value]) => value !== undefined) : nothing;

function target(expression: Expression, entity: AnyEntity, name: string): string {
  if (entity.key.params.includes(name))
    throw itemRefused(`${name} is part of the key of ${entity.name}: it cannot change`);
  if (name === entity.version) throw itemRefused(`${name} of ${entity.name} is counted by every write`);
  return pathIn(expression, name);
}

// An item created by an update must be recognised and found like any other.
function writeIdentity(expression: Expression, clauses: Clauses, entity: AnyEntity, key: object): void {
  if (entity.kind !== undefined)
    addTo(clauses, 'set', `${nameIn(expression, 'kind')} = ${valueIn(expression, entity.kind)}`);
  for (const name of entity.key.params) {
    if (entity.inKeyOnly.includes(name)) continue;
    addTo(clauses, 'set', `${nameIn(expression, name)} = ${valueIn(expression, (key as Attributes)[name])}`);
  }
}

function countVersion(expression: Expression, clauses: Clauses, version: string): string {
  const name = nameIn(expression, version);
  addTo(
    clauses,
    'set',
    `${name} = if_not_exists(${name}, ${valueIn(expression, 0)}) + ${valueIn(expression, 1)}`,
  );
  return clausesText(clauses);
}
