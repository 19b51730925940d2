import type { Attributes, UpdateInput } from './client.ts';
import type { AnyEntity, IndexKeys } from './entity.ts';
import { itemRefused } from './errors.ts';
import { createExpression, type Expression } from './expression.ts';
import { conditional, type Guards, guardText } from './guard.ts';
import { indexKeysOf, keyOf } from './item.ts';
import { isMissing } from './key-template.ts';

type Settable<Item, Key> = Omit<Item, keyof Key | 'kind'>;
type Numbers<Item> = { [A in keyof Item as NonNullable<Item[A]> extends number ? A : never]?: number };
type Sets<Item> = {
  [A in keyof Item as NonNullable<Item[A]> extends Set<unknown> ? A : never]?: NonNullable<Item[A]>;
};
type Lists<Item> = {
  [A in keyof Item as NonNullable<Item[A]> extends readonly unknown[] ? A : never]?: NonNullable<Item[A]>;
};
type Nested = { readonly [path: `${string}.${string}`]: unknown };

// Clauses of an update; dotted names reach into maps. An attribute set to undefined is left as it is.
export type Change<Item, Key = unknown> = {
  set?: Partial<Settable<Item, Key>> & Nested;
  // Only where there is no value yet.
  setOnce?: Partial<Settable<Item, Key>> & Nested;
  add?: Numbers<Settable<Item, Key>> & Sets<Settable<Item, Key>> & Nested;
  append?: Lists<Settable<Item, Key>> & Nested;
  remove?: readonly ((keyof Settable<Item, Key> & string) | `${string}.${string}`)[];
  deleteFrom?: Sets<Settable<Item, Key>> & Nested;
};

export type UpdateOptions<Item> = Guards<Item> & {
  // Makes the item if there is none. Without this, updating what is not there is a failed condition.
  upsert?: boolean;
  // The item as last read, where moving an index key needs attributes that do not change. Those are then
  // part of the condition, so an index key is never built from an outdated value.
  current?: Partial<Item>;
};

export function updateParams(
  entity: AnyEntity,
  key: object,
  change: Change<never>,
  options: UpdateOptions<never>,
  nowMs: number,
): Omit<UpdateInput, 'ReturnValues'> {
  const expression = createExpression();
  const clauses = createClauses();
  const set = checkValues(entity, change.set);
  writeAttributes(expression, clauses, entity, { ...change, set });
  if (options.upsert) writeIdentity(expression, clauses, entity, key);
  const borrowed = writeIndexKeys(expression, clauses, entity, key, { ...change, set }, options);
  if (entity.version !== undefined) writeVersion(expression, clauses, entity.version);
  if (clauses.isEmpty()) throw itemRefused(`an update of ${entity.name} changes nothing`);

  const presence = options.upsert ? 'own' : 'present';
  const guards = [guardText(expression, entity, presence, options, nowMs), ...borrowed];
  const condition = guards.filter(text => text !== undefined).join(' AND ');
  return {
    TableName: entity.table.name,
    Key: keyOf(entity, key),
    UpdateExpression: clauses.text(),
    ...conditional(condition === '' ? undefined : condition),
    ...expression.placeholders(),
  };
}

type Clauses = ReturnType<typeof createClauses>;

function createClauses() {
  const set: string[] = [];
  const remove: string[] = [];
  const add: string[] = [];
  const deleted: string[] = [];
  const join = (word: string, clauses: string[]) =>
    clauses.length > 0 ? [`${word} ${clauses.join(', ')}`] : [];
  return {
    set,
    remove,
    add,
    deleted,
    isEmpty: () => set.length + remove.length + add.length + deleted.length === 0,
    text: () =>
      [...join('SET', set), ...join('REMOVE', remove), ...join('ADD', add), ...join('DELETE', deleted)].join(
        ' ',
      ),
  };
}

// Each attribute by its own part of the schema; rules over several attributes are the caller's.
function checkValues(entity: AnyEntity, values: object | undefined): Attributes | undefined {
  if (!values) return undefined;
  const checked: Attributes = {};
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    checked[name] = name.includes('.') ? value : checkValue(entity, name, value);
  }
  return checked;
}

function checkValue(entity: AnyEntity, name: string, value: unknown): unknown {
  const schema = entity.schema.shape[name] as
    | { safeParse(value: unknown): { success: boolean; data?: unknown; error?: { issues: object[] } } }
    | undefined;
  if (!schema || entity.key.params.includes(name))
    throw itemRefused(`${name} of ${entity.name} ${schema ? 'is part of its key' : 'does not exist'}`);
  const result = schema.safeParse(value);
  if (!result.success) throw itemRefused(`${name} of ${entity.name} is not valid`, result.error?.issues);
  return result.data;
}

function writeAttributes(
  expression: Expression,
  clauses: Clauses,
  entity: AnyEntity,
  change: Change<never>,
): void {
  const { set = {}, setOnce, add = {}, append = {}, remove = [], deleteFrom = {} } = change;
  const path = (name: string) => {
    refuseKeyPart(entity, name);
    return expression.path(name);
  };
  for (const name in set) clauses.set.push(`${path(name)} = ${expression.value((set as Attributes)[name])}`);
  for (const [name, value] of Object.entries(checkValues(entity, setOnce) ?? {})) {
    const placeholder = path(name);
    clauses.set.push(`${placeholder} = if_not_exists(${placeholder}, ${expression.value(value)})`);
  }
  for (const [name, value] of Object.entries<unknown>(append)) {
    const placeholder = path(name);
    const empty = expression.value([]);
    clauses.set.push(
      `${placeholder} = list_append(if_not_exists(${placeholder}, ${empty}), ${expression.value(value)})`,
    );
  }
  for (const name of remove) clauses.remove.push(path(name));
  for (const [name, value] of Object.entries<unknown>(add))
    if (value !== undefined) clauses.add.push(`${path(name)} ${expression.value(value)}`);
  for (const [name, value] of Object.entries<unknown>(deleteFrom))
    if (value !== undefined) clauses.deleted.push(`${path(name)} ${expression.value(value)}`);
}

function refuseKeyPart(entity: AnyEntity, name: string): void {
  if (entity.key.params.includes(name))
    throw itemRefused(`${name} is part of the key of ${entity.name}: it cannot change`);
  if (name === entity.version) throw itemRefused(`${name} of ${entity.name} is counted by every write`);
}

// An item made by an update has to be recognised and found like any other.
function writeIdentity(expression: Expression, clauses: Clauses, entity: AnyEntity, key: object): void {
  const write = (name: string, value: unknown) =>
    clauses.set.push(`${expression.name(name)} = ${expression.value(value)}`);
  if (entity.kind !== undefined) write('kind', entity.kind);
  for (const name of entity.key.params)
    if (!entity.inKeyOnly.includes(name)) write(name, (key as Attributes)[name]);
}

function writeVersion(expression: Expression, clauses: Clauses, version: string): void {
  const name = expression.name(version);
  clauses.set.push(`${name} = if_not_exists(${name}, ${expression.value(0)}) + ${expression.value(1)}`);
}

// Moves the item in every index whose key is built from something that changes. Returns conditions on what was
// borrowed from `current`.
function writeIndexKeys(
  expression: Expression,
  clauses: Clauses,
  entity: AnyEntity,
  key: object,
  change: Change<never>,
  options: UpdateOptions<never>,
): string[] {
  const set: Attributes = change.set ?? {};
  const removed: readonly string[] = change.remove ?? [];
  const conditions = new Map<string, string>();
  for (const index of entity.indexes) {
    refuseUnknowable(entity, index, change);
    const changes = index.params.some(name => name in set || removed.includes(name));
    const isBorn = options.upsert && index.params.every(name => name in key || name in set);
    if (!changes && !isBorn) continue;

    const values: Attributes = {};
    const borrowed: string[] = [];
    for (const name of index.params) {
      if (removed.includes(name)) values[name] = undefined;
      else if (name in set) values[name] = set[name];
      else if (name in key) values[name] = (key as Attributes)[name];
      else borrowed.push(name);
    }
    // One source cleared takes the item out of the index, whatever the others are.
    const isCleared = index.params.some(name => name in values && isMissing(values[name]));
    if (!isCleared) {
      for (const name of borrowed) {
        values[name] = borrow(entity, index, name, options.current);
        conditions.set(name, unchangedText(expression, name, values[name]));
      }
    }
    const keys = isCleared ? undefined : indexKeysOf(index, values);
    for (const name of index.sort === undefined ? [index.partition] : [index.partition, index.sort]) {
      if (keys) clauses.set.push(`${expression.name(name)} = ${expression.value(keys[name])}`);
      else clauses.remove.push(expression.name(name));
    }
  }
  return [...conditions.values()];
}

function refuseUnknowable(entity: AnyEntity, index: IndexKeys, change: Change<never>): void {
  for (const clause of ['setOnce', 'add', 'append', 'deleteFrom'] as const) {
    const name = index.params.find(
      param => (change[clause] as Attributes | undefined)?.[param] !== undefined,
    );
    if (name)
      throw itemRefused(
        `${name} of ${entity.name} is part of the key of ${index.name}, which ${clause} cannot compute: use set`,
      );
  }
}

function borrow(entity: AnyEntity, index: IndexKeys, name: string, current: object | undefined): unknown {
  if (current === undefined)
    throw itemRefused(
      `this update of ${entity.name} moves it in ${index.name}, whose key also needs ${name}: ` +
        'set it as well, or pass the item as `current`',
    );
  return (current as Attributes)[name];
}

const unchangedText = (expression: Expression, name: string, value: unknown): string =>
  value === undefined
    ? `attribute_not_exists(${expression.name(name)})`
    : `${expression.name(name)} = ${expression.value(value)}`;
