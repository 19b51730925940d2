import type { AnyEntity } from './entity.ts';
import { DesignError } from './errors.ts';
import type { AnyQuery } from './query.ts';

export type StreamView = 'NEW_AND_OLD_IMAGES' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'KEYS_ONLY';
export type KeyNames = { readonly partition: string; readonly sort?: string };
export type IndexDefinition = KeyNames & {
  // A list names the attributes that are copied besides the keys. All of them by default.
  readonly project?: 'ALL' | 'KEYS_ONLY' | readonly string[];
};
export type TableDefinition = {
  readonly name: string;
  readonly description?: string;
  readonly keys: KeyNames;
  readonly indexes?: { readonly [name: string]: IndexDefinition };
  // The attribute that holds the second after which an item is gone.
  readonly ttl?: string;
  readonly stream?: StreamView;
};

export type Table<Indexes = TableDefinition['indexes']> = {
  readonly name: string;
  readonly description?: string;
  readonly keys: KeyNames;
  readonly indexes: { readonly [Name in keyof Indexes & string]: IndexDefinition };
  readonly ttl?: string;
  readonly stream?: StreamView;
  // Entities and queries add themselves when they are defined, also those of other rooms.
  readonly entities: AnyEntity[];
  readonly queries: AnyQuery[];
  // Attributes the layer writes and removes by itself: they are no part of an entity.
  readonly keyNames: ReadonlySet<string>;
};
export type AnyTable = Table<{ readonly [name: string]: IndexDefinition }>;

export function defineTable<const Definition extends TableDefinition>(
  definition: Definition,
): Table<Definition['indexes'] extends object ? Definition['indexes'] : Record<never, never>> {
  const { indexes = {}, ...rest } = definition;
  const named = [definition.keys, ...Object.values(indexes)].flatMap(({ partition, sort }) =>
    sort === undefined ? [partition] : [partition, sort],
  );
  for (const [name, { partition, sort }] of Object.entries<KeyNames>({ table: definition.keys, ...indexes }))
    if (partition === sort) throw new DesignError(`${definition.name}: both keys of ${name} are ${sort}`);
  return { ...rest, indexes, entities: [], queries: [], keyNames: new Set(named) } as never;
}
