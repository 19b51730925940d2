import { is } from '@stak/table';
import type { Config } from './config.ts';
import { holdDelivery, keyOf, releaseDelivery } from './deliveries.ts';
import { type Base, isoTime } from './deps.ts';
import { dueShardOf } from './due.ts';
import { backlogOfConnection, delivery, type Lane, lane } from './events-table.ts';
import type { DeliveryRef, Intake, Keeper } from './intake.ts';
import { armLane } from './lane-arming.ts';
import * as limits from './limits.ts';
import { readLine } from './line.ts';
import { unlessLost } from './lost-write.ts';
import { type Connection, connection, connectionPointer } from './main-table.ts';
import { keepHeld } from './retention.ts';

export type LaneDeps = Base & { config: Config; intake: Pick<Intake, 'offer' | 'waiting' | 'isSlow'> };

export type Lanes = {
  // A backlog that is about to get something has somebody who will release it.
  ensureArmed(of: Keeper): Promise<void>;
  // Into the backlog: there is too much of this connection in memory.
  setAside(ref: DeliveryRef): Promise<void>;
  run(connectionId: string, owner: string, signal: AbortSignal): Promise<void>;
};

// Looks after the backlogs of connections: what could not be tried when it was due because the connection was
// paused, its breaker open, or too much waiting for it already.
export function createLanes(deps: LaneDeps): Lanes {
  const { store, clock, config, intake } = deps;
  // Until when this process trusts that somebody looks after it; many ask at the same moment.
  const armed = new Map<string, { arming: Promise<boolean>; untilMs: number }>();

  const once = (connectionId: string, arm: () => Promise<boolean>): Promise<boolean> => {
    const known = armed.get(connectionId);
    if (known && known.untilMs > clock.now()) return known.arming;
    const arming = arm();
    armed.delete(connectionId);
    armed.set(connectionId, { arming, untilMs: clock.now() + limits.laneArmedMs });
    if (armed.size > limits.trackedConnections) armed.delete(armed.keys().next().value!);
    arming.catch(() => armed.delete(connectionId));
    return arming;
  };

  // A lane that is there keeps its time, which may be that of a probe; it only learns that it is needed.
  const arm = async (of: Keeper): Promise<true> => {
    const { connectionId } = of;
    const touched = await unlessLost(store.update(lane, { connectionId }, { remove: ['emptyAt'] }));
    if (touched) return true;
    const step = armLane(of, clock.now() + limits.lanePauseMs);
    await store.transact({ lane: step }, { pattern: 'arm lane' });
    return true;
  };

  const claim = (connectionId: string, owner: string): Promise<Lane | undefined> => {
    const nowMs = clock.now();
    const set = { owner, dueIn: dueShardOf(connectionId), dueAt: nowMs + limits.leaseMs };
    const options = { if: { dueAt: is.atMost(nowMs) }, pattern: 'claim lane' };
    return unlessLost(store.update(lane, { connectionId }, { set }, options));
  };

  // By its owner, not by its version: others may have told it that it is needed.
  const again = ({ connectionId, owner }: Lane, dueAt: number, emptyAt?: number) => {
    const set = { dueIn: dueShardOf(connectionId), dueAt, ...(emptyAt !== undefined && { emptyAt }) };
    const remove = emptyAt === undefined ? (['owner', 'emptyAt'] as const) : (['owner'] as const);
    const options = { if: { owner: owner! }, pattern: 'postpone lane' };
    return unlessLost(store.update(lane, { connectionId }, { set, remove }, options));
  };
  // Unless somebody has put something into the backlog since it was claimed.
  const end = async (claimed: Lane) => {
    const { connectionId, version } = claimed;
    const ended = await unlessLost(store.delete(lane, { connectionId }, { ifVersion: version }));
    if (!ended) await again(claimed, clock.now() + limits.lanePauseMs);
  };

  // Releases up to `most` of the backlog. Gives how many there were.
  const release = async (connectionId: string, most: number): Promise<number> => {
    const { items } = await store.query(backlogOfConnection, { dueIn: connectionId }, { limit: most });
    await Promise.all(items.map(releaseOne));
    return items.length;
  };
  const releaseOne = async (ref: DeliveryRef): Promise<boolean> => {
    const released = await releaseDelivery(store, ref, clock.now());
    if (released) intake.offer(released);
    return released !== undefined;
  };

  // Lets one delivery through to see how the destination is; what comes of it closes or opens the breaker.
  const probe = async ({ sourceId, connectionId, breaker, ordered }: Connection): Promise<void> => {
    if (breaker === 'open') {
      const set = { breaker: 'half' as const, breakerAt: isoTime(clock.now()) };
      const options = { if: { breaker: 'open' as const } };
      await unlessLost(store.update(connection, { sourceId, connectionId }, { set }, options));
      config.forget(sourceId);
    }
    // Of an ordered one nothing but the first in line would be tried.
    const [first] = ordered ? await readLine(store, connectionId, 1) : [];
    if (!first || !(await releaseOne(first))) await release(connectionId, 1);
  };

  // Releases what the connection can take, as fast as it takes it, until there is no more or it is time to look at
  // the connection again.
  const releaseAll = async (connectionId: string, signal: AbortSignal) => {
    const untilMs = clock.now() + limits.leaseMs / 2;
    let released = 0;
    while (!signal.aborted && clock.now() < untilMs) {
      const room = limits.readyPerConnection - intake.waiting(connectionId);
      const found = room > 0 ? await release(connectionId, Math.min(room, limits.laneBatch)) : undefined;
      if (found === 0) return { isEmpty: true, released };
      released += found ?? 0;
      if (intake.isSlow(connectionId)) break;
      await clock.sleep(limits.laneStepMs, signal).catch(() => {});
    }
    return { isEmpty: false, released };
  };

  const run = async (connectionId: string, owner: string, signal: AbortSignal): Promise<void> => {
    const claimed = await claim(connectionId, owner);
    if (!claimed) return;
    const known = await config.fresh(claimed.sourceId, claimed.userId);
    const of = known?.connections.find(one => one.connectionId === connectionId);
    if (of && (of.status !== 'active' || known!.source.status !== 'active')) {
      await end(claimed); // whoever resumes it arms the lane again
    } else if (of && of.breaker !== 'closed') {
      await probe(of);
      await again(claimed, clock.now() + limits.breakerFirstMs);
    } else {
      // Of a connection that is gone, too: what is due and has no connection is cancelled.
      const { isEmpty, released } = await releaseAll(connectionId, signal);
      const nowMs = clock.now();
      const { emptyAt = nowMs } = released > 0 ? {} : claimed;
      if (!isEmpty) await again(claimed, nowMs + limits.lanePauseMs);
      else if (emptyAt + limits.laneIdleMs <= nowMs) await end(claimed);
      else await again(claimed, emptyAt + limits.laneIdleMs, emptyAt);
    }
  };

  return {
    async ensureArmed(of) {
      await once(of.connectionId, () => arm(of));
    },
    run,
    async setAside(ref) {
      const { connectionId } = ref;
      const isArmed = await once(connectionId, async () => {
        const of = await store.get(connectionPointer, { connectionId });
        return of !== undefined && arm(of);
      });
      // Without a connection it stays where it is, and is cancelled when its turn comes.
      const found = isArmed && (await store.get(delivery, keyOf(ref), { consistent: true }));
      if (!found) return;
      // A slow destination may take days for its backlog.
      await holdDelivery(store, ref, clock.now(), { expiresAt: await keepHeld(deps, found) });
    },
  };
}
