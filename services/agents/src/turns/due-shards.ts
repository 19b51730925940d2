import { createHash } from 'node:crypto';
import { createShardCount, type ShardCount } from '@stak/kit';
import { is, isRefused, or } from '@stak/table';
import type { AgentsDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { dueShardCount } from '../table.ts';
import type { ConversationKey } from './lease.ts';

export type DueShards = Pick<ShardCount, 'refresh'> & {
  of(key: ConversationKey): string; // where a write puts what becomes due
  all(): string[]; // what is read
};

// The shards of what is due, turns and summaries alike. A conversation may be in another one than its id would give it
// now, since there may have been fewer when it was written.
export function createDueShards(deps: Pick<AgentsDeps, 'store' | 'clock' | 'log' | 'dueShards'>): DueShards {
  const { store, clock, log, dueShards: wanted } = deps;
  const count = createShardCount({
    clock,
    log,
    least: limits.dueShards,
    wanted,
    read: async () => (await store.get(dueShardCount, {}, { consistent: true }))?.shards,
    raise: async shards => {
      const isLess = or({ shards: is.absent }, { shards: is.below(shards) });
      await store
        .update(dueShardCount, {}, { set: { shards } }, { upsert: true, if: isLess })
        .catch(error => {
          if (!isRefused(error)) throw error;
        });
    },
  });
  return {
    of: ({ tenant_id, conversation_id }) => {
      const hash = createHash('sha256').update(`${tenant_id}#${conversation_id}`).digest().readUInt32LE();
      return String(hash % count.current());
    },
    all: () => Array.from({ length: count.current() }, (_, i) => String(i)),
    refresh: count.refresh,
  };
}
