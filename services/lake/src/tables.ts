import { type AnyEntity, type AnyTable, type Attributes, hasKeyOf, type ItemOf } from '@stak/table';
import type { ZodObject } from 'zod';

// The owner of a row. An account sees its own rows and those of its tenants. An end user sees rows with both their
// tenant and their id. A row without an owner is stored, but no caller sees it.
export type Owner = { account_id?: string; tenant_id?: string; user_id?: string };

export type FollowedEntity<Item = Attributes> = {
  readonly entity: AnyEntity;
  // The name of its table in SQL. Without it, the entity cannot be queried.
  readonly view?: string;
  // The scope that is required to query it, if its service does not show it to all readers.
  readonly scope?: 'admin';
  readonly ownerOf?: (item: Item) => Owner | undefined;
  // The attribute that identifies an item in requests for its changes. Without it, changes cannot be requested.
  readonly idAttribute?: string;
  // What caused an item, as SQL over its attributes: the columns `cause_kind` and `cause_id` of its table. A root is the
  // cause itself, where that has none: the columns `root_kind` and `root_id`.
  readonly cause?: { readonly kind: string; readonly id: string; readonly isRoot: string };
  // Attributes that must not leave the table: hashes, sealed secrets.
  readonly omit?: readonly string[];
  // Texts that people said or sent. They are kept only for accounts that want it, for as long as it is in its table,
  // without history, and end users do not see it. `Texts` finds the owner, so there is no `ownerOf`.
  readonly text?: {
    readonly schema: ZodObject;
    readonly of: (item: Item) => Attributes | undefined; // by the schema; undefined for an item without a row
  };
};

// Finds the owners of texts, for the accounts that want theirs in the lake. Read once for each page of changes and not
// cached for longer: after an account has switched texts off, none may be written.
export type Texts = { read(): Promise<TextsNow> };
export type TextsNow = {
  readonly isAnyOn: boolean;
  // `off`: its account does not want it. `unknown`: its owner cannot be found any more, or it is too old.
  whose(entity: string, item: Attributes): Promise<Owner | 'off' | 'unknown'>;
};
export const noTexts: Texts = { read: async () => ({ isAnyOn: false, whose: async () => 'off' }) };

// A table that the lake follows. Entities that are not described here are followed too, without an owner; those in
// `ignore` are not.
export type FollowedTable = {
  readonly table: AnyTable;
  readonly entities?: readonly FollowedEntity[];
  readonly ignore?: readonly AnyEntity[];
};

// Infers the parameter types of `ownerOf`.
export function follow<E extends AnyEntity>(
  entity: E,
  options: Omit<FollowedEntity<ItemOf<E>>, 'entity'>,
): FollowedEntity {
  return { entity, ...options } as FollowedEntity;
}

// Everything that the lake needs to know about a table, by the names of its entities.
export type Plan = {
  readonly table: AnyTable;
  readonly entities: ReadonlyMap<string, FollowedEntity>;
  readonly ignored: ReadonlySet<string>;
  readonly texts: ReadonlySet<string>;
  // The entities that have keys of this form.
  readonly entitiesOf: (keys: Attributes) => readonly AnyEntity[];
};

export function planOf({ table, entities = [], ignore = [] }: FollowedTable): Plan {
  const ignored = new Set(ignore.map(({ name }) => name));
  const described = new Map(entities.map(entity => [entity.entity.name, entity]));
  const all = table.entities
    .filter(({ name }) => !ignored.has(name))
    .map(entity => [entity.name, described.get(entity.name) ?? { entity }] as const);
  const texts = new Set(entities.filter(({ text }) => text).map(({ entity }) => entity.name));
  return { table, entities: new Map(all), ignored, texts, entitiesOf: createKeyIndex(table) };
}

// A table has many entities, and a batch thousands of keys. Most entities are excluded by how the partition begins, up
// to its first `#`: if the text of a template goes that far, so do all its keys.
function createKeyIndex({ entities, keys }: AnyTable): (keys: Attributes) => readonly AnyEntity[] {
  const beginningOf = (text: string): string => text.slice(0, text.indexOf('#') + 1);
  const beginnings = new Map(
    entities.map(entity => [entity, beginningOf(entity.key.templates.partition.literals[0]!)]),
  );
  const among = (beginning: string) =>
    entities.filter(entity => ['', beginning].includes(beginnings.get(entity)!));
  const index = new Map([...beginnings.values()].map(beginning => [beginning, among(beginning)]));
  const others = among('');
  return stored => {
    const partition: unknown = stored[keys.partition];
    const possible = typeof partition === 'string' ? index.get(beginningOf(partition)) : undefined;
    return (possible ?? others).filter(entity => hasKeyOf(entity, stored));
  };
}
