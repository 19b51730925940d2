import type { AnyEntity, AnyTable, Attributes, ItemOf } from '@stak/table';

// The owner of a row. An account sees its own rows and those of its tenants. An end user sees rows with both their
// tenant and their id. A row without an owner is stored, but no caller sees it.
export type Owner = { account_id?: string; tenant_id?: string; user_id?: string };

export type FollowedEntity<Item = Attributes> = {
  readonly entity: AnyEntity;
  // The name of its table in SQL. Without one it cannot be asked about.
  readonly view?: string;
  // Who may ask about it, where its service does not show it to everybody who may read.
  readonly scope?: 'admin';
  readonly ownerOf?: (item: Item) => Owner | undefined;
  // Attributes that must not leave the table: hashes, sealed secrets.
  readonly omit?: readonly string[];
};

// A table that the lake follows. Entities that are not described here are followed too, without an owner; those in
// `ignore` are not.
export type FollowedTable = {
  readonly table: AnyTable;
  readonly entities?: readonly FollowedEntity[];
  readonly ignore?: readonly AnyEntity[];
};

// Infers what `ownerOf` is given.
export function follow<E extends AnyEntity>(
  entity: E,
  options: Omit<FollowedEntity<ItemOf<E>>, 'entity'>,
): FollowedEntity {
  return { entity, ...options } as FollowedEntity;
}

// Everything the lake has to know of a table, by the names of its entities.
export type Plan = {
  readonly table: AnyTable;
  readonly entities: ReadonlyMap<string, FollowedEntity>;
  readonly ignored: ReadonlySet<string>;
};

export function planOf({ table, entities = [], ignore = [] }: FollowedTable): Plan {
  const ignored = new Set(ignore.map(({ name }) => name));
  const described = new Map(entities.map(one => [one.entity.name, one]));
  const all = table.entities
    .filter(({ name }) => !ignored.has(name))
    .map(entity => [entity.name, described.get(entity.name) ?? { entity }] as const);
  return { table, entities: new Map(all), ignored };
}
