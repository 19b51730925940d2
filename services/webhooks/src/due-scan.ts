import type { Base } from './deps.ts';
import type { Dispatcher } from './dispatcher.ts';
import { dueShards } from './due.ts';
import { dueWork } from './events-table.ts';
import type { DeliveryRef } from './intake.ts';
import * as limits from './limits.ts';

export type ScanDeps = Base & {
  dispatcher: Pick<Dispatcher, 'offer' | 'isSlow'>;
  setAside(ref: DeliveryRef): Promise<void>;
  runLane(connectionId: string): void;
  runJob(ref: { userId: string; jobId: string }): void;
};

// Looks at everything that is due, in all shards. True if there is more than could be taken.
export async function scanDue(deps: ScanDeps): Promise<boolean> {
  const hasMore = await Promise.all(dueShards.map(shard => scanShard(deps, shard)));
  return hasMore.includes(true);
}

async function scanShard(deps: ScanDeps, dueIn: string): Promise<boolean> {
  const nowMs = deps.clock.now();
  const to = { dueAt: nowMs };
  let cursor: string | undefined;
  for (let page = 0; page < limits.scanPages; page++) {
    const found = await deps.store.query(dueWork, { dueIn }, { to, limit: limits.scanItems, cursor });
    let taken = 0;
    const aside: DeliveryRef[] = [];
    for (const one of found.items) {
      if (one.entity === 'lane') deps.runLane(one.item.connectionId);
      else if (one.entity === 'job') deps.runJob(one.item);
      else {
        const offered = deps.dispatcher.offer(one.item);
        if (offered === 'taken') taken += 1;
        // A quick connection will get to it soon. Of a slow one, and of one that has not got to it, what is in
        // memory is enough: the rest makes way for others.
        else if (offered === 'full') {
          const { connectionId, dueAt = nowMs } = one.item;
          if (deps.dispatcher.isSlow(connectionId) || dueAt < nowMs - limits.soonMs) aside.push(one.item);
        }
      }
    }
    await Promise.all(aside.map(deps.setAside));
    cursor = found.cursor;
    if (cursor === undefined) return false;
    if (taken > 0) return true;
    // All of it is known or has to wait: what is behind may not.
  }
  return true;
}
