import type { Owners } from '@stak/kit';
import { keyOf } from './deliveries.ts';
import type { Base } from './deps.ts';
import { dueShardOf, dueShards } from './due.ts';
import { delivery, dueWork, job, lane } from './events-table.ts';
import type { DeliveryRef } from './intake.ts';
import * as limits from './limits.ts';
import { unlessLost } from './lost-write.ts';

type Leased = { owner?: string };
type DueWork =
  | { entity: 'delivery'; item: DeliveryRef }
  | { entity: 'lane'; item: { connectionId: string } }
  | { entity: 'job'; item: { userId: string; jobId: string } };

export type TakeoverDeps = Pick<Base, 'store' | 'clock'> & { owners: Owners };

// Makes due now what a dead process has leased, instead of when its leases end. The index does not say who holds
// what, so everything that becomes due within a lease is looked at: that is done when a process starts, and when
// another one has died. Gives how many there were.
export async function releaseGone(deps: TakeoverDeps): Promise<number> {
  const released = await Promise.all(dueShards.map(shard => releaseShard(deps, shard)));
  return released.reduce((sum, count) => sum + count, 0);
}

async function releaseShard(deps: TakeoverDeps, dueIn: string): Promise<number> {
  const nowMs = deps.clock.now();
  const range = { after: { dueAt: nowMs }, to: { dueAt: nowMs + limits.leaseMs } };
  let cursor: string | undefined;
  let released = 0;
  for (let page = 0; page < limits.takeoverPages; page++) {
    const found = await deps.store.query(dueWork, { dueIn }, { ...range, limit: limits.scanItems, cursor });
    const done = await Promise.all(found.items.map(one => releaseOne(deps, one, nowMs)));
    released += done.filter(isReleased => isReleased).length;
    cursor = found.cursor;
    if (cursor === undefined) break;
  }
  return released;
}

// On the condition that the dead one still has it: other processes are doing the same.
async function releaseOne({ store, owners }: TakeoverDeps, found: DueWork, dueAt: number): Promise<boolean> {
  const take = async (held: Leased | undefined, write: (owner: string) => Promise<unknown>) => {
    if (held?.owner === undefined || !(await owners.isGone(held.owner))) return false;
    return (await unlessLost(write(held.owner))) !== undefined;
  };
  const change = (id: string) => ({ set: { dueIn: dueShardOf(id), dueAt }, remove: ['owner'] as const });
  const read = { consistent: true, pattern: 'work to take over' };
  const pattern = 'take over work';
  if (found.entity === 'delivery') {
    const key = keyOf(found.item);
    return take(await store.get(delivery, key, read), owner =>
      store.update(delivery, key, change(key.eventId), { if: { owner }, pattern }),
    );
  }
  if (found.entity === 'lane') {
    const { connectionId } = found.item;
    return take(await store.get(lane, { connectionId }, read), owner =>
      store.update(lane, { connectionId }, change(connectionId), { if: { owner }, pattern }),
    );
  }
  const { userId, jobId } = found.item;
  return take(await store.get(job, { userId, jobId }, read), owner =>
    store.update(job, { userId, jobId }, change(jobId), { if: { owner }, pattern }),
  );
}
