import type { Attributes } from '../client/client.ts';
import { itemRefused } from '../errors.ts';
import type { AnyEntity, IndexKeys, ItemOf, NameOf } from './entity.ts';
import { buildKey, isMissing, matchesTemplate, parseKey } from './key-template.ts';
import type { AnyTable } from './table.ts';

// Conversion between an entity's values and the stored item.

/** The stored key of an item, from the attributes that it contains. */
export function keyOf(entity: AnyEntity, key: object): Attributes {
  const { partition, sort, templates } = entity.key;
  const built: Attributes = {};
  built[partition] = buildKey(templates.partition, key);
  if (sort !== undefined) built[sort] = buildKey(templates.sort!, key);
  return built;
}

// Both keys of an index, or undefined if the item is not in it.
export function indexKeysOf(index: IndexKeys, values: object): Attributes | undefined {
  if (!isIn(index, values)) return undefined;
  const built: Attributes = {};
  built[index.partition] = buildKey(index.templates.partition, values);
  if (index.sort !== undefined) built[index.sort] = buildKey(index.templates.sort!, values);
  return built;
}

// An item that lacks one of the attributes is not in the index.
function isIn({ params }: IndexKeys, values: object): boolean {
  for (const name of params) if (isMissing((values as Attributes)[name])) return false;
  return true;
}

// Returns a new object. The builder of the entity has made most items before this.
export function parseInput(entity: AnyEntity, input: object): Attributes {
  const result = entity.schema.safeParse(input);
  if (result.success) return result.data as Attributes;
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const summary = issues.map(({ path, message }) => `${path || 'item'}: ${message}`).join('; ');
  throw itemRefused(`this is no ${entity.name}: ${summary}`, issues);
}

// `parsed` becomes the item.
export function toStored(entity: AnyEntity, parsed: Attributes): Attributes {
  const stored = parsed;
  const { key } = entity;
  const partition = buildKey(key.templates.partition, parsed);
  const sort = key.sort === undefined ? undefined : buildKey(key.templates.sort!, parsed);
  for (const index of entity.indexes) {
    if (!isIn(index, parsed)) continue;
    stored[index.partition] = buildKey(index.templates.partition, parsed);
    if (index.sort !== undefined) stored[index.sort] = buildKey(index.templates.sort!, parsed);
  }
  if (entity.kind !== undefined) stored.kind = entity.kind;
  stored[key.partition] = partition;
  if (key.sort !== undefined) stored[key.sort] = sort;
  for (const name of entity.inKeyOnly) delete stored[name];
  return stored;
}

// `fromKey` names the attributes that are read from the key because they are not stored otherwise.
export function fromStored(
  entity: AnyEntity,
  stored: Attributes,
  fromKey: readonly string[] = entity.inKeyOnly,
): Attributes {
  const { keyNames } = entity.table;
  const item: Attributes = {};
  for (const name in stored) {
    const value: unknown = stored[name];
    if (value !== undefined && !keyNames.has(name) && name !== '__proto__') item[name] = value;
  }
  if (fromKey.length > 0) restoreFromKey(entity, stored, item, fromKey);
  return item;
}

function restoreFromKey(
  entity: AnyEntity,
  stored: Attributes,
  item: Attributes,
  names: readonly string[],
): void {
  const { key } = entity;
  const parts = {
    ...parseKey(key.templates.partition, stored[key.partition]),
    ...(key.sort !== undefined && parseKey(key.templates.sort!, stored[key.sort])),
  };
  for (const name of names) {
    const part = parts[name];
    if (part !== undefined) item[name] = entity.numbers.has(name) ? Number(part) : part;
  }
}

/** Whether an item has expired. DynamoDB removes it within days; until then it counts as absent. */
export function isExpired(entity: AnyEntity, stored: Attributes, nowMs: number): boolean {
  if (!entity.hasTtl) return false;
  const ttl: unknown = stored[entity.table.ttl!];
  return typeof ttl === 'number' && ttl * 1000 <= nowMs;
}

// Whether the stored item is not of another kind. A schema may have a `kind` of its own, with another meaning.
export const hasKindOf = (entity: AnyEntity, stored: Attributes): boolean =>
  entity.kind === undefined
    ? 'kind' in entity.schema.shape || stored.kind === undefined
    : stored.kind === entity.kind;

const isEntity = (entity: AnyEntity, stored: Attributes): boolean =>
  hasKindOf(entity, stored) && hasKeyOf(entity, stored);

/** Whether a stored key has the form of the entity's keys. */
export function hasKeyOf({ key }: AnyEntity, stored: Attributes): boolean {
  return (
    matchesTemplate(key.templates.partition, stored[key.partition]) &&
    (key.sort === undefined || matchesTemplate(key.templates.sort!, stored[key.sort]))
  );
}

/** An item and the name of the entity that it belongs to. */
export type Recognised<E extends AnyEntity> = E extends AnyEntity
  ? { entity: NameOf<E>; item: ItemOf<E> }
  : never;

/** The entity of a stored item; undefined if it is none of them. */
export const findEntity = <E extends AnyEntity>(entities: readonly E[], stored: Attributes): E | undefined =>
  entities.find(entity => isEntity(entity, stored));

/** Finds the entity of an item, and the item; undefined if it is none of them. */
export function recognise<E extends AnyEntity>(
  entities: readonly E[],
  stored: Attributes,
): Recognised<E> | undefined {
  const entity = findEntity(entities, stored);
  return entity && ({ entity: entity.name, item: fromStored(entity, stored) } as unknown as Recognised<E>);
}

/**
 * The entity of a stored item. An item read from an index can only belong to an entity of that index, and may lack its
 * kind: it is then identified by its key, if only one entity fits.
 */
export function entityOf(table: AnyTable, stored: Attributes, index?: string): AnyEntity | undefined {
  if (index === undefined) return findEntity(table.entities, stored);
  const inIndex = (entity: AnyEntity) => entity.indexes.some(one => one.name === index);
  const possible = table.entities.filter(entity => inIndex(entity) && hasKeyOf(entity, stored));
  return (
    possible.find(entity => hasKindOf(entity, stored)) ?? (possible.length === 1 ? possible[0] : undefined)
  );
}
