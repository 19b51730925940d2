import { DesignError } from '../errors.ts';
import type { AnyQuery } from '../store/query.ts';
import { type AnyEntity, checkPair } from './entity.ts';

type StreamView = 'NEW_AND_OLD_IMAGES' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'KEYS_ONLY';
export type KeyNames = { readonly partition: string; readonly sort?: string };
export type IndexDefinition = KeyNames & {
  // A list names the attributes that are copied in addition to the keys. Default: all.
  readonly project?: 'ALL' | 'KEYS_ONLY' | readonly string[];
};
/** The input of `defineTable`: name, keys, indexes, expiry and stream. */
export type TableDefinition = {
  readonly name: string;
  readonly description?: string;
  readonly keys: KeyNames;
  readonly indexes?: { readonly [name: string]: IndexDefinition };
  // The attribute with the time, in seconds, at which an item expires.
  readonly ttl?: string;
  readonly stream?: StreamView;
};

/** The keys and indexes of a table, without its contents. Entities are defined on these. */
export type TableKeys<Indexes = TableDefinition['indexes']> = {
  readonly name: string;
  readonly description?: string;
  readonly keys: KeyNames;
  readonly indexes: { readonly [Name in keyof Indexes & string]: IndexDefinition };
  readonly ttl?: string;
  readonly stream?: StreamView;
  // Attributes that this layer writes and removes itself: they are not part of an entity.
  readonly keyNames: ReadonlySet<string>;
  // For the compiler only: what each index copies.
  readonly types?: Indexes;
};
/** The keys of a table of any type. */
export type AnyTableKeys = TableKeys<AnyIndexes>;

/** A table with its keys, indexes, entities and queries. Created with `defineTable`. */
export type Table<Indexes = TableDefinition['indexes']> = TableKeys<Indexes> & {
  readonly entities: readonly AnyEntity[];
  readonly queries: readonly AnyQuery[];
  // Entities and queries are added as they are defined.
  readonly isOpen?: true;
};
/** A table of any type. */
export type AnyTable = Table<AnyIndexes>;

type AnyIndexes = { readonly [name: string]: IndexDefinition };
type IndexesOf<Definition extends TableDefinition> = Definition['indexes'] extends object
  ? Definition['indexes']
  : Record<never, never>;

/**
 * Defines the keys of a table, for its entities:
 *
 *     const keys = defineKeys({ name: 'app', keys: { partition: 'pk', sort: 'sk' } });
 *     const user = entity(keys, { … });
 *     export const app = defineTable(keys, { entities: [user], queries: [] });
 */
export function defineKeys<const Definition extends TableDefinition>(
  definition: Definition,
): TableKeys<IndexesOf<Definition>> {
  const { indexes = {}, ...rest } = definition;
  const named = [definition.keys, ...Object.values(indexes)].flatMap(({ partition, sort }) =>
    sort === undefined ? [partition] : [partition, sort],
  );
  for (const [name, { partition, sort }] of Object.entries<KeyNames>({ table: definition.keys, ...indexes }))
    if (partition === sort) throw new DesignError(`${definition.name}: both keys of ${name} are ${sort}`);
  return { ...rest, indexes, keyNames: new Set(named) } as never;
}

type Contents = { entities: readonly AnyEntity[]; queries: readonly AnyQuery[] };

/**
 * Defines a table: its keys, and explicit lists of its entities and queries.
 *
 * With a definition alone it creates an open table, to which entities and queries are added as they are defined. Its
 * contents depend on what was imported, so use it for tests and small programs only.
 */
export function defineTable<Indexes>(keys: TableKeys<Indexes>, contents: Contents): Table<Indexes>;
export function defineTable<const Definition extends TableDefinition>(
  definition: Definition,
): Table<IndexesOf<Definition>>;
export function defineTable(given: TableDefinition | AnyTableKeys, contents?: Contents): AnyTable {
  if (!contents) return { ...(defineKeys(given) as AnyTableKeys), entities: [], queries: [], isOpen: true };
  const { entities, queries } = contents;
  for (const [i, one] of entities.entries())
    for (const other of entities.slice(0, i)) {
      if (!checkPair(given.name, other, one) || (one.sharesKeys && other.sharesKeys)) continue;
      throw new DesignError(
        `${given.name}: ${one.name} and ${other.name} can have the same key, so both need \`sharesKeys\``,
      );
    }
  const listed = new Set(entities);
  for (const [i, query] of queries.entries()) {
    if (queries.findIndex(other => other.name === query.name) < i)
      throw new DesignError(`${given.name} has two queries "${query.name}"`);
    const missing = query.entities.find(entity => !listed.has(entity));
    if (missing)
      throw new DesignError(`${given.name}: "${query.name}" reads ${missing.name}, which is not listed`);
  }
  return { ...(given as AnyTableKeys), entities, queries };
}

/**
 * A table of another package, with additional entities and queries.
 *
 *     export const app = extendTable(usersTable, { entities: [order], queries: [ordersOfUser] });
 */
export const extendTable = <Indexes>(
  { entities, queries, isOpen: _, ...keys }: Table<Indexes>,
  more: Contents,
): Table<Indexes> =>
  defineTable(keys as TableKeys<Indexes>, {
    entities: [...entities, ...more.entities],
    queries: [...queries, ...more.queries],
  });
