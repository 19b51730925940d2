import { createShardCount, type ShardCount } from '@stak/kit';
import { is, or } from '@stak/table';
import type { WebhookDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { unlessLost } from '../lost-write.ts';
import { dueShardCount, dueShardOf } from '../tables.ts';

export type DueShards = Pick<ShardCount, 'refresh'> & {
  of(id: string): string; // where a write puts what becomes due
  all(): string[]; // what is read
};

// The shards of the queue. An item may be in another shard than its id would give it now, since there may have been fewer
// when it was written: only where to put it follows from its id, never where it is.
export function createDueShards(deps: Pick<WebhookDeps, 'store' | 'clock' | 'log' | 'dueShards'>): DueShards {
  const { store, clock, log, dueShards: wanted } = deps;
  const count = createShardCount({
    clock,
    log,
    least: limits.dueShards,
    wanted,
    read: async () => (await store.get(dueShardCount, {}, { consistent: true }))?.shards,
    raise: shards => {
      const isLess = or({ shards: is.absent }, { shards: is.below(shards) });
      return unlessLost(store.update(dueShardCount, {}, { set: { shards } }, { upsert: true, if: isLess }));
    },
  });
  return {
    of: id => dueShardOf(id, count.current()),
    all: () => Array.from({ length: count.current() }, (_, i) => `s${i}`),
    refresh: count.refresh,
  };
}
