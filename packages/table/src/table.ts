import { type AnyEntity, checkPair } from './entity.ts';
import { DesignError } from './errors.ts';
import type { AnyQuery } from './query.ts';

type StreamView = 'NEW_AND_OLD_IMAGES' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'KEYS_ONLY';
export type KeyNames = { readonly partition: string; readonly sort?: string };
export type IndexDefinition = KeyNames & {
  // A list names the attributes that are copied besides the keys. All of them by default.
  readonly project?: 'ALL' | 'KEYS_ONLY' | readonly string[];
};
/** What `defineTable` takes: name, keys, indexes, expiry and stream. */
export type TableDefinition = {
  readonly name: string;
  readonly description?: string;
  readonly keys: KeyNames;
  readonly indexes?: { readonly [name: string]: IndexDefinition };
  // The attribute that holds the second after which an item is gone.
  readonly ttl?: string;
  readonly stream?: StreamView;
};

/** The keys and indexes of a table, without what is stored in it. Entities are written against these. */
export type TableKeys<Indexes = TableDefinition['indexes']> = {
  readonly name: string;
  readonly description?: string;
  readonly keys: KeyNames;
  readonly indexes: { readonly [Name in keyof Indexes & string]: IndexDefinition };
  readonly ttl?: string;
  readonly stream?: StreamView;
  // Attributes the layer writes and removes itself: they are not part of an entity.
  readonly keyNames: ReadonlySet<string>;
  // Nothing at run time: what each index copies is known to the compiler.
  readonly types?: Indexes;
};
/** The keys of a table of any type. */
export type AnyTableKeys = TableKeys<AnyIndexes>;

/** A table with its keys, indexes, entities and queries. Made with `defineTable`. */
export type Table<Indexes = TableDefinition['indexes']> = TableKeys<Indexes> & {
  readonly entities: readonly AnyEntity[];
  readonly queries: readonly AnyQuery[];
  // Entities and queries add themselves as they are defined.
  readonly isOpen?: true;
};
/** A table of any type. */
export type AnyTable = Table<AnyIndexes>;

type AnyIndexes = { readonly [name: string]: IndexDefinition };
type IndexesOf<Definition extends TableDefinition> = Definition['indexes'] extends object
  ? Definition['indexes']
  : Record<never, never>;

/**
 * The keys of a table, for its entities:
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
 * A table: its keys, and an explicit list of what is stored in it and how it is queried.
 *
 * Called with a definition alone it makes an open table, to which entities and queries add themselves as they are
 * defined. It depends on what was imported, so it is meant for tests and small programs.
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
    const missing = query.entities.find(one => !listed.has(one));
    if (missing)
      throw new DesignError(`${given.name}: "${query.name}" reads ${missing.name}, which is not listed`);
  }
  return { ...(given as AnyTableKeys), entities, queries };
}

/**
 * A table of another package, with entities and queries of one's own beside those it lists.
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
