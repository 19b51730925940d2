import { is, tableErrors } from '@stak/table';
import type { Config } from './config.ts';
import { holdDelivery, releaseDelivery } from './deliveries.ts';
import { type Base, isoTime } from './deps.ts';
import { dueShardOf } from './due.ts';
import { backlogOfConnection, type Lane, lane } from './events-table.ts';
import type { DeliveryRef, Intake, Keeper } from './intake.ts';
import { armLane } from './lane-arming.ts';
import * as limits from './limits.ts';
import { type Connection, connection, connectionPointer } from './main-table.ts';

export type LaneDeps = Base & { config: Config; intake: Pick<Intake, 'offer' | 'waiting'> };

export type Lanes = {
  // A backlog that is about to get something has somebody who will release it.
  ensureArmed(of: Keeper): Promise<void>;
  // Into the backlog: there is too much of this connection in memory.
  setAside(ref: DeliveryRef): Promise<void>;
  run(connectionId: string, owner: string): Promise<void>;
};

// Looks after the backlogs of connections: what could not be tried when it was due because the connection was
// paused, its breaker open, or too much waiting for it already.
export function createLanes(deps: LaneDeps): Lanes {
  const { store, clock, config, intake } = deps;
  const armed = new Map<string, number>(); // until when this process trusts that somebody looks after it

  const ensureArmed = async (of: Keeper): Promise<void> => {
    const nowMs = clock.now();
    if ((armed.get(of.connectionId) ?? 0) > nowMs) return;
    // One that is there keeps its time, which may be that of a probe; it only learns that it is needed.
    const { connectionId } = of;
    const touched = await store.update(lane, { connectionId }, { remove: ['emptyAt'] }).catch(ignoreLost);
    if (!touched) await store.transact({ lane: armLane(of, nowMs + limits.lanePauseMs) }, { pattern: 'arm lane' });
    armed.set(of.connectionId, nowMs + limits.laneArmedMs);
    if (armed.size > limits.trackedConnections) armed.delete(armed.keys().next().value!);
  };

  const claim = async (connectionId: string, owner: string): Promise<Lane | undefined> => {
    const nowMs = clock.now();
    try {
      return await store.update(
        lane,
        { connectionId },
        { set: { owner, dueIn: dueShardOf(connectionId), dueAt: nowMs + limits.leaseMs } },
        { if: { dueAt: is.atMost(nowMs) }, pattern: 'claim lane' },
      );
    } catch (error) {
      return ignoreLost(error);
    }
  };

  const again = (claimed: Lane, dueAt: number, emptyAt?: number) =>
    store
      .update(
        lane,
        { connectionId: claimed.connectionId },
        {
          set: { dueIn: dueShardOf(claimed.connectionId), dueAt, ...(emptyAt !== undefined && { emptyAt }) },
          remove: emptyAt === undefined ? ['owner', 'emptyAt'] : ['owner'],
        },
        { if: { owner: claimed.owner! }, pattern: 'postpone lane' },
      )
      .catch(ignoreLost);
  // Unless somebody has put something into the backlog since it was claimed.
  const end = async (claimed: Lane) => {
    const { connectionId, version } = claimed;
    const ended = await store.delete(lane, { connectionId }, { ifVersion: version }).catch(ignoreLost);
    if (!ended) await again(claimed, clock.now() + limits.lanePauseMs);
  };

  // Releases up to `most` of the backlog. True if there was nothing in it.
  const release = async (connectionId: string, most: number): Promise<boolean> => {
    const { items } = await store.query(backlogOfConnection, { dueIn: connectionId }, { limit: most });
    const released = await Promise.all(items.map(one => releaseDelivery(store, one, clock.now())));
    for (const one of released) if (one) intake.offer(one);
    return items.length === 0;
  };

  // Lets one delivery through to see how the destination is; what comes of it closes or opens the breaker.
  const probe = async ({ sourceId, connectionId, breaker }: Connection): Promise<void> => {
    if (breaker === 'open') {
      const set = { breaker: 'half' as const, breakerAt: isoTime(clock.now()) };
      await store
        .update(connection, { sourceId, connectionId }, { set }, { if: { breaker: 'open' } })
        .catch(ignoreLost);
      config.forget(sourceId);
    }
    await release(connectionId, 1);
  };

  const run = async (connectionId: string, owner: string): Promise<void> => {
    const claimed = await claim(connectionId, owner);
    if (!claimed) return;
    const known = await config.fresh(claimed.sourceId);
    const of = known?.connections.find(one => one.connectionId === connectionId);
    const nowMs = clock.now();
    if (of && (of.status !== 'active' || known!.source.status !== 'active')) {
      await end(claimed); // whoever resumes it arms the lane again
    } else if (of && of.breaker !== 'closed') {
      await probe(of);
      await again(claimed, clock.now() + limits.breakerFirstMs);
    } else {
      // Of a connection that is gone, too: what is due and has no connection is cancelled.
      const room = Math.max(1, Math.min(limits.laneBatch, limits.readyPerConnection / 2 - intake.waiting(connectionId)));
      const isEmpty = await release(connectionId, room);
      if (!isEmpty) await again(claimed, clock.now() + (room === limits.laneBatch ? 0 : limits.lanePauseMs));
      else if (claimed.emptyAt === undefined) await again(claimed, nowMs + limits.laneIdleMs, nowMs);
      else if (claimed.emptyAt + limits.laneIdleMs <= nowMs) await end(claimed);
      else await again(claimed, claimed.emptyAt + limits.laneIdleMs, claimed.emptyAt);
    }
  };

  return {
    ensureArmed,
    run,
    async setAside(ref) {
      const { connectionId } = ref;
      if ((armed.get(connectionId) ?? 0) <= clock.now()) {
        const of = await store.get(connectionPointer, { connectionId });
        if (!of) return; // deleted: it is cancelled when its turn comes
        await ensureArmed(of);
      }
      await holdDelivery(store, ref, clock.now());
    },
  };
}

function ignoreLost(error: unknown): undefined {
  if (tableErrors.includes(error) && error.code === 'table.condition_failed') return undefined;
  throw error;
}
