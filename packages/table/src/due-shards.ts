import { type Clock, createShardCount, type Logger, type ShardCount } from '@stak/kit';
import { is } from './comparison.ts';
import { or } from './condition.ts';
import { ignoreConflict } from './conflict.ts';
import type { Entity, Templates } from './entity.ts';
import type { Store } from './store.ts';

/** The shards of an index of what is due. */
export type DueShards<Id = string> = Pick<ShardCount, 'refresh'> & {
  of(id: Id): string; // where a write puts what becomes due
  all(): string[]; // what is read
};

type Stored = { shards: number };
type CountTypes = {
  item: Stored;
  input: Stored;
  key: Record<never, never>;
  templates: { readonly [index: string]: Templates };
};

/** Options of `createDueShards`. */
export type DueShardsOptions<Id> = {
  store: Store;
  clock: Clock;
  log: Logger;
  count: Entity<string, CountTypes>; // the item that holds the number of shards
  least: number; // every store has these
  wanted: number | undefined;
  hash(id: Id): number;
  name(shard: number): string;
};

/**
 * Spreads what is due over shards whose number may be raised. An item may be in another shard than its id would give it
 * now, since there may have been fewer when it was written: only where to put it follows from its id, never where it is.
 *
 *     const shards = createDueShards({ store, clock, log, count, least: 4, wanted: 8, hash, name: String });
 *     await store.put(job, { ...draft, dueIn: shards.of(draft.id) });
 */
export function createDueShards<Id>(options: DueShardsOptions<Id>): DueShards<Id> {
  const { store, clock, log, count: entity, least, wanted, hash, name } = options;
  const count = createShardCount({
    clock,
    log,
    least,
    ...(wanted !== undefined && { wanted }),
    read: async () => (await store.get(entity, {}, { consistent: true }))?.shards,
    raise: shards => {
      const isLess = or({ shards: is.absent }, { shards: is.below(shards) });
      return store
        .update(entity, {}, { set: { shards } }, { upsert: true, if: isLess })
        .catch(ignoreConflict);
    },
  });
  return {
    of: id => name(hash(id) % count.current()),
    all: () => Array.from({ length: count.current() }, (_, shard) => name(shard)),
    refresh: count.refresh,
  };
}
