import { type Clock, createShardCount, type Logger, type ShardCount } from '@stak/kit';
import { is } from '../conditions/comparison.ts';
import { or } from '../conditions/condition.ts';
import type { Entity, Templates } from '../design/entity.ts';
import { ignoreConflict } from '../writes/conflict.ts';
import type { Store } from './store.ts';

/** The shards of an index of due items. */
export type DueShards<Id = string> = Pick<ShardCount, 'refresh'> & {
  of(id: Id): string; // the shard that a new item is written to
  all(): string[]; // the shards to read
};

type StoredShardCount = { shards: number };
type CountTypes = {
  item: StoredShardCount;
  input: StoredShardCount;
  key: Record<never, never>;
  templates: { readonly [index: string]: Templates };
};

/** Options of `createDueShards`. */
export type DueShardsOptions<Id> = {
  store: Store;
  clock: Clock;
  log: Logger;
  count: Entity<string, CountTypes>; // the item that holds the number of shards
  least: number; // the number in every store
  wanted: number | undefined;
  hash(id: Id): number;
  name(shard: number): string;
};

/**
 * Spreads due items over shards whose number can be raised. An item may be in a different shard than its id would give
 * now, because there were fewer shards when it was written: use the id to choose a shard for a write, never to find an
 * item.
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
