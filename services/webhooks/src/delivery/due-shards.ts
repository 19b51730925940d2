import { createDueShards, type DueShards } from '@stak/table';
import type { WebhookDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { dueShardCount, dueShardName, idHash } from '../tables.ts';

// The shards of the queue.
export const createQueueShards = ({
  store,
  clock,
  log,
  dueShards: wanted,
}: Pick<WebhookDeps, 'store' | 'clock' | 'log' | 'dueShards'>): DueShards =>
  createDueShards({
    store,
    clock,
    log,
    count: dueShardCount,
    least: limits.dueShards,
    wanted,
    hash: idHash,
    name: dueShardName,
  });
