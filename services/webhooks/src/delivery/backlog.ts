import { createRecentMap } from '@stak/kit';
import { is, type WriteStep, write } from '@stak/table';
import type { BaseDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { unlessLost } from '../lost-write.ts';
import { type Connection, connection, connectionPointer } from '../main-table.ts';
import type { SourceCache } from '../sources/source-cache.ts';
import { type Backlog, backlog, backlogOfConnection, delivery, isoTime } from '../tables.ts';
import type { Dispatcher } from './dispatcher.ts';
import { readOrder } from './order.ts';
import { type DeliveryRef, holdDelivery, keyOf, releaseDelivery } from './queue.ts';
import { extendHeld } from './retention.ts';

// The backlog of a connection holds deliveries that could not be attempted when they were due: the connection was
// paused, its circuit breaker was open, or too many of its deliveries were in memory already.

type Of = Pick<Connection, 'connectionId' | 'sourceId' | 'userId'>;

// Schedules the release of a connection's backlog. Part of the transaction that makes it necessary, if there is one: a
// backlog that no worker looks at would wait forever.
export const scheduleBacklog = (
  { dueShards }: Pick<BaseDeps, 'dueShards'>,
  { connectionId, sourceId, userId }: Of,
  dueAt: number,
): WriteStep =>
  write.update(
    backlog,
    { connectionId },
    {
      set: { sourceId, userId, dueIn: dueShards.of(connectionId), dueAt },
      remove: ['emptyAt', 'owner'],
    },
    { upsert: true },
  );

export type Backlogs = {
  // Called before a delivery is put into the backlog.
  ensureScheduled(of: Of): Promise<void>;
  // Moves a delivery from memory into the backlog.
  hold(ref: DeliveryRef): Promise<void>;
};

export function createBacklogs(deps: BaseDeps): Backlogs {
  const { store, clock } = deps;
  // Many callers check at the same moment, so the result is cached for a few seconds.
  const scheduled = createRecentMap<string, { scheduling: Promise<boolean>; untilMs: number }>(
    limits.trackedConnections,
  );

  const once = (connectionId: string, schedule: () => Promise<boolean>): Promise<boolean> => {
    const known = scheduled.get(connectionId);
    if (known && known.untilMs > clock.now()) return known.scheduling;
    const scheduling = schedule();
    scheduled.set(connectionId, { scheduling, untilMs: clock.now() + limits.backlogScheduledMs });
    scheduling.catch(() => scheduled.delete(connectionId));
    return scheduling;
  };

  // A scheduled backlog keeps its time, which may be that of a probe. It is only marked as not empty.
  const schedule = async (of: Of): Promise<true> => {
    const { connectionId } = of;
    const touched = await unlessLost(store.update(backlog, { connectionId }, { remove: ['emptyAt'] }));
    if (touched) return true;
    const step = scheduleBacklog(deps, of, clock.now() + limits.backlogPauseMs);
    await store.transact({ backlog: step }, { pattern: 'schedule backlog' });
    return true;
  };

  return {
    async ensureScheduled(of) {
      await once(of.connectionId, () => schedule(of));
    },
    async hold(ref) {
      const { connectionId } = ref;
      const isScheduled = await once(connectionId, async () => {
        const of = await store.get(connectionPointer, { connectionId });
        return of !== undefined && schedule(of);
      });
      // Without a connection it stays where it is, and is cancelled when it is attempted.
      const found = isScheduled && (await store.get(delivery, keyOf(ref), { consistent: true }));
      if (!found) return;
      // A slow destination may take days for its backlog.
      await holdDelivery(store, ref, clock.now(), { expiresAt: await extendHeld(deps, found) });
    },
  };
}

export type ReleaseDeps = BaseDeps & {
  sourceCache: SourceCache;
  dispatcher: Pick<Dispatcher, 'offer' | 'waiting' | 'isSlow'>;
};

// Claims a backlog that is due and releases what its connection can take, or one delivery as a probe.
export async function runBacklog(
  deps: ReleaseDeps,
  connectionId: string,
  owner: string,
  signal: AbortSignal,
): Promise<void> {
  const { clock, sourceCache } = deps;
  const claimed = await claimBacklog(deps, connectionId, owner);
  if (!claimed) return;
  const known = await sourceCache.getFresh(claimed.sourceId, claimed.userId);
  const of = known?.connections.find(connection => connection.connectionId === connectionId);
  if (of && (of.status !== 'active' || known!.source.status !== 'active')) {
    await endBacklog(deps, claimed); // resuming the connection schedules it again
  } else if (of && of.breaker !== 'closed') {
    await probe(deps, of);
    await rescheduleBacklog(deps, claimed, clock.now() + limits.breakerFirstMs);
  } else {
    // Also for a deleted connection: a released delivery without a connection is cancelled.
    const lookedMs = clock.now();
    const { isEmpty, released } = await releaseAll(deps, connectionId, signal);
    const nowMs = clock.now();
    const { emptyAt = nowMs } = released > 0 ? {} : claimed;
    if (!isEmpty) await rescheduleBacklog(deps, claimed, nowMs + limits.backlogPauseMs);
    // A process that still takes the connection for paused may be about to put a delivery into it.
    else if (emptyAt + limits.settledMs <= lookedMs) await endBacklog(deps, claimed);
    else await lookAgain(deps, claimed, emptyAt);
  }
}

function claimBacklog({ store, clock, dueShards }: BaseDeps, connectionId: string, owner: string) {
  const nowMs = clock.now();
  const set = { owner, dueIn: dueShards.of(connectionId), dueAt: nowMs + limits.leaseMs };
  const options = { if: { dueAt: is.atMost(nowMs) }, pattern: 'claim backlog' };
  return unlessLost(store.update(backlog, { connectionId }, { set }, options));
}

// On the condition of its owner, not of its version: others may have marked it as not empty meanwhile.
function rescheduleBacklog({ store, dueShards }: BaseDeps, { connectionId, owner }: Backlog, dueAt: number) {
  const change = { set: { dueIn: dueShards.of(connectionId), dueAt }, remove: ['owner', 'emptyAt'] as const };
  const options = { if: { owner: owner! }, pattern: 'postpone backlog' };
  return unlessLost(store.update(backlog, { connectionId }, change, options));
}

async function lookAgain(deps: BaseDeps, claimed: Backlog, emptyAt: number): Promise<void> {
  const { store, clock, dueShards } = deps;
  const { connectionId, version } = claimed;
  const dueAt = Math.min(emptyAt + limits.settledMs, clock.now() + limits.backlogIdleMs);
  const change = { set: { dueIn: dueShards.of(connectionId), dueAt, emptyAt }, remove: ['owner'] as const };
  const options = { ifVersion: version, pattern: 'postpone backlog' };
  await unlessMarked(deps, claimed, store.update(backlog, { connectionId }, change, options));
}

const endBacklog = (deps: BaseDeps, claimed: Backlog): Promise<void> => {
  const { connectionId, version } = claimed;
  return unlessMarked(deps, claimed, deps.store.delete(backlog, { connectionId }, { ifVersion: version }));
};

// A backlog that was marked as not empty since it was claimed is not given up: it is looked at again soon.
async function unlessMarked(deps: BaseDeps, claimed: Backlog, writing: Promise<unknown>): Promise<void> {
  if (!(await unlessLost(writing)))
    await rescheduleBacklog(deps, claimed, deps.clock.now() + limits.backlogPauseMs);
}

// Releases one delivery to test the destination. Its result closes or opens the circuit breaker.
async function probe(deps: ReleaseDeps, { sourceId, connectionId, breaker, ordered }: Connection) {
  const { store, clock, sourceCache } = deps;
  if (breaker === 'open') {
    const set = { breaker: 'half' as const, breakerAt: isoTime(clock.now()) };
    const options = { if: { breaker: 'open' as const } };
    await unlessLost(store.update(connection, { sourceId, connectionId }, { set }, options));
    sourceCache.invalidate(sourceId);
  }
  // Only the first delivery of an ordered connection would be attempted.
  const [first] = ordered ? await readOrder(store, connectionId, 1) : [];
  if (!first || !(await releaseOne(deps, first))) await releaseSome(deps, connectionId, 1);
}

// Releases deliveries as fast as the connection takes them, until there are no more or it is time to look at the
// connection again.
async function releaseAll(deps: ReleaseDeps, connectionId: string, signal: AbortSignal) {
  const { clock, dispatcher } = deps;
  const untilMs = clock.now() + limits.leaseMs / 2;
  let released = 0;
  while (!signal.aborted && clock.now() < untilMs) {
    const room = limits.readyPerConnection - dispatcher.waiting(connectionId);
    const most = Math.min(room, limits.backlogBatch);
    const found = room > 0 ? await releaseSome(deps, connectionId, most) : undefined;
    if (found === 0) return { isEmpty: true, released };
    released += found ?? 0;
    if (dispatcher.isSlow(connectionId)) break;
    await clock.sleep(limits.backlogStepMs, signal).catch(() => {});
  }
  return { isEmpty: false, released };
}

// Releases up to `most` deliveries. Returns how many there were.
async function releaseSome(deps: ReleaseDeps, connectionId: string, most: number): Promise<number> {
  const { items } = await deps.store.query(backlogOfConnection, { dueIn: connectionId }, { limit: most });
  await Promise.all(items.map(item => releaseOne(deps, item)));
  return items.length;
}

async function releaseOne(deps: ReleaseDeps, ref: DeliveryRef): Promise<boolean> {
  const released = await releaseDelivery(deps, ref, deps.clock.now());
  if (released) deps.dispatcher.offer(released);
  return released !== undefined;
}
