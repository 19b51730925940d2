import { createHash } from 'node:crypto';
import { createDueShards, type DueShards } from '@stak/table';
import type { AgentsDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { dueShardCount } from '../main-table.ts';
import type { ConversationKey } from './lease.ts';

// The shards of due work, for turns and summaries alike.
export const createConversationShards = ({
  store,
  clock,
  log,
  dueShards: wanted,
}: Pick<AgentsDeps, 'store' | 'clock' | 'log' | 'dueShards'>): DueShards<ConversationKey> =>
  createDueShards({
    store,
    clock,
    log,
    count: dueShardCount,
    least: limits.dueShards,
    wanted,
    hash: ({ tenant_id, conversation_id }) =>
      createHash('sha256').update(`${tenant_id}#${conversation_id}`).digest().readUInt32LE(),
    name: String,
  });
