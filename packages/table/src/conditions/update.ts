import type { Attributes, UpdateInput } from '../client/client.ts';
import {
  type PreparedChange,
  type PreparedTest,
  type PreparedWrite,
  preparedPath,
  unprepared,
} from '../client/prepared.ts';
import type { AnyEntity } from '../design/entity.ts';
import { keyOf } from '../design/item.ts';
import { itemRefused } from '../errors.ts';
import {
  bindPlaceholders,
  createExpression,
  type Expression,
  nameIn,
  pathIn,
  valueIn,
} from './expression.ts';
import { allOf, conditional, type Guards, guardTest, guardText, type Presence } from './guard.ts';
import { moveIndexKeys } from './index-update.ts';

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
  const { changes, borrowed } = changesOf(entity, key, change, options);
  for (const change of changes) writeChange(expression, clauses, change);
  const text = clausesText(clauses);
  if (text === '') throw itemRefused(`an update of ${entity.name} changes nothing`);

  const unchanged = borrowed.map(({ name, value }) => unchangedText(expression, name, value)).join(' AND ');
  const guard = guardText(expression, entity, presenceOf(options), options, nowMs);
  const condition = guard !== undefined && unchanged ? `${guard} AND ${unchanged}` : guard || unchanged;
  const request: Omit<UpdateInput, 'ReturnValues'> = {
    TableName: entity.table.name,
    Key: keyOf(entity, key),
    UpdateExpression: entity.version === undefined ? text : countVersion(expression, clauses, entity.version),
    ...conditional(condition || undefined),
  };
  return bindPlaceholders(request, expression);
}

/** The same as data. */
export function prepareUpdate(
  entity: AnyEntity,
  key: object,
  change: Change<never>,
  options: UpdateOptions<never>,
  nowMs: number,
): PreparedWrite {
  const { changes, borrowed } = changesOf(entity, key, change, options);
  if (changes.length === 0) throw unprepared;
  const prepared = changes.map(preparedChange);
  if (entity.version !== undefined) prepared.push({ op: 'add', path: entity.version, value: 1 });
  const guard = guardTest(entity, presenceOf(options), options, nowMs);
  const unchanged = borrowed.map(
    ({ name, value }): PreparedTest =>
      value === undefined ? { op: 'attribute_not_exists', path: name } : { op: '=', path: name, value },
  );
  return {
    kind: 'update',
    table: entity.table.name,
    key: keyOf(entity, key),
    changes: prepared,
    condition: guard && unchanged.length > 0 ? allOf([guard, ...unchanged]) : (guard ?? allOf(unchanged)),
  };
}

const presenceOf = ({ upsert }: UpdateOptions<never>): Presence => (upsert ? 'own' : 'present');

// The changes of an update, in the order of its text. `once` sets an attribute that has no value; `isKey` marks the
// keys of indexes.
type AttributeChange = {
  readonly op: 'set' | 'once' | 'append' | 'remove' | 'add' | 'delete';
  readonly name: string;
  readonly value?: unknown;
  readonly isKey?: boolean;
};

// The version is counted by each form in its own way.
function changesOf(entity: AnyEntity, key: object, change: Change<never>, options: UpdateOptions<never>) {
  const changes: AttributeChange[] = [];
  const set = checkValues(entity, change.set);
  addChanges(changes, entity, set, change);
  if (options.upsert) addIdentity(changes, entity, key);
  const { moved, borrowed } = moveIndexKeys(entity, key, set, change, options);
  for (const { name, value } of moved)
    changes.push({ op: value === undefined ? 'remove' : 'set', name, value, isKey: true });
  return { changes, borrowed };
}

function preparedChange({ op, name, value, isKey }: AttributeChange): PreparedChange {
  switch (op) {
    case 'delete':
      throw unprepared;
    case 'once':
      return { op: 'set_if_absent', path: preparedPath(name), value };
    default:
      return { op, path: isKey ? name : preparedPath(name), value };
  }
}

// The text of each clause so far.
type Clauses = { set: string; remove: string; add: string; delete: string };

function addTo(clauses: Clauses, clause: keyof Clauses, text: string): void {
  clauses[clause] = clauses[clause] === '' ? text : `${clauses[clause]}, ${text}`;
}

function clausesText({ set, remove, add, delete: deleted }: Clauses): string {
  let text = set === '' ? '' : `SET ${set}`;
  if (remove !== '') text += `${text && ' '}REMOVE ${remove}`;
  if (add !== '') text += `${text && ' '}ADD ${add}`;
  if (deleted !== '') text += `${text && ' '}DELETE ${deleted}`;
  return text;
}

function writeChange(expression: Expression, clauses: Clauses, { op, name, value, isKey }: AttributeChange) {
  const path = isKey ? nameIn(expression, name) : pathIn(expression, name);
  switch (op) {
    case 'set':
      return addTo(clauses, 'set', `${path} = ${valueIn(expression, value)}`);
    case 'once':
      return addTo(clauses, 'set', `${path} = if_not_exists(${path}, ${valueIn(expression, value)})`);
    case 'append': {
      const old = `if_not_exists(${path}, ${valueIn(expression, [])})`;
      return addTo(clauses, 'set', `${path} = list_append(${old}, ${valueIn(expression, value)})`);
    }
    case 'remove':
      return addTo(clauses, 'remove', path);
    default:
      return addTo(clauses, op, `${path} ${valueIn(expression, value)}`);
  }
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

type ParseResult = { success: boolean; data?: unknown; error?: { issues: object[] } };

function checkValue(entity: AnyEntity, name: string, value: unknown): unknown {
  if (entity.checks.attributes.get(name)?.(value)) return value;
  const schema = entity.schema.shape[name] as { safeParse(value: unknown): ParseResult } | undefined;
  if (!schema) throw itemRefused(`${name} of ${entity.name} does not exist`);
  const result = schema.safeParse(value);
  if (!result.success) throw itemRefused(`${name} of ${entity.name} is not valid`, result.error?.issues);
  return result.data;
}

function addChanges(
  changes: AttributeChange[],
  entity: AnyEntity,
  set: Attributes,
  change: Change<never>,
): void {
  const add = (op: AttributeChange['op'], name: string, value?: unknown) => {
    checkTarget(entity, name);
    changes.push({ op, name, value });
  };
  for (const name in set) add('set', name, set[name]);
  const once = checkValues(entity, change.setOnce);
  for (const name in once) add('once', name, once[name]);
  for (const [name, list] of given(change.append)) add('append', name, list);
  for (const name of change.remove ?? []) add('remove', name);
  for (const [name, value] of given(change.add)) add('add', name, value);
  for (const [name, value] of given(change.deleteFrom)) add('delete', name, value);
}

const nothing: [string, unknown][] = [];

const given = (values: object | undefined): [string, unknown][] =>
  values ? Object.entries(values).filter(([, value]) => value !== undefined) : nothing;

function checkTarget(entity: AnyEntity, name: string): void {
  if (entity.key.params.includes(name))
    throw itemRefused(`${name} is part of the key of ${entity.name}: it cannot change`);
  if (name === entity.version) throw itemRefused(`${name} of ${entity.name} is counted by every write`);
}

// An item created by an update must be recognised and found like any other.
function addIdentity(changes: AttributeChange[], entity: AnyEntity, key: object): void {
  if (entity.kind !== undefined) changes.push({ op: 'set', name: 'kind', value: entity.kind });
  for (const name of entity.key.params) {
    if (entity.inKeyOnly.includes(name)) continue;
    changes.push({ op: 'set', name, value: (key as Attributes)[name] });
  }
}

const unchangedText = (expression: Expression, name: string, value: unknown): string =>
  value === undefined
    ? `attribute_not_exists(${nameIn(expression, name)})`
    : `${nameIn(expression, name)} = ${valueIn(expression, value)}`;

function countVersion(expression: Expression, clauses: Clauses, version: string): string {
  const name = nameIn(expression, version);
  addTo(
    clauses,
    'set',
    `${name} = if_not_exists(${name}, ${valueIn(expression, 0)}) + ${valueIn(expression, 1)}`,
  );
  return clausesText(clauses);
}
