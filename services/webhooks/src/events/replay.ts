import { failedStep, type WriteStep, write } from '@stak/table';
import type { Dispatcher } from '../delivery/dispatcher.ts';
import { keyOf } from '../delivery/queue.ts';
import { type Written, writeResult } from '../delivery/result.ts';
import { extendEventItems, extendForAttempt } from '../delivery/retention.ts';
import type { BaseDeps } from '../deps.ts';
import { deliverySteps } from '../ingest/write-event.ts';
import type { Connection } from '../main-table.ts';
import { makeOnce } from '../once.ts';
import type { SourceCache } from '../sources/source-cache.ts';
import {
  type Delivery,
  type DeliverySummary,
  deliveriesOfEvent,
  delivery,
  type Event,
  event,
  eventKey,
  isFinished,
  statusOf,
} from '../tables.ts';

export type ReplayDeps = BaseDeps & { sourceCache: SourceCache; dispatcher: Pick<Dispatcher, 'offer'> };

// Its id, if it is made once, and what started it.
export type Replay = { jobId: string | undefined; cause: string };

const tries = 10;

// A replay that is made once for each id, if it has one. Its deliveries are written together: if there is one, it was made.
export const replayOnce = (
  deps: ReplayDeps,
  found: Event,
  choose: () => Promise<readonly Connection[]>,
  { replayId, isRepeated, cause }: { replayId: string | undefined; isRepeated?: boolean; cause: string },
): Promise<number> =>
  makeOnce(
    { isRepeated },
    () => countReplayed(deps, found, replayId),
    async () => replayEvent(deps, found, await choose(), { jobId: replayId, cause }),
  );

async function countReplayed({ store }: ReplayDeps, { eventId }: Event, replayId: string | undefined) {
  let count = 0;
  for await (const one of store.all(deliveriesOfEvent, { eventId })) if (one.jobId === replayId) count += 1;
  return count === 0 ? undefined : count;
}

// Starts a new run for each connection; the history of earlier runs stays. A run that is not finished is attempted at
// once instead, so that a replay never turns one delivery into two. Returns the number of deliveries that it made due; a
// job that repeats a replay gets the same number again.
export async function replayEvent(
  deps: ReplayDeps,
  found: Event,
  connections: readonly Connection[],
  replay: Replay,
  isMeant: (event: Event, connectionId: string) => boolean = () => true,
): Promise<number> {
  const { store } = deps;
  let current: Event | undefined = found;
  for (let round = 0; current; round++) {
    const latest: Event = current;
    const meant = connections.filter(({ connectionId }) => isMeant(latest, connectionId));
    const plan = await planReplay(deps, latest, meant, replay);
    if (plan.steps.length === 0) return plan.repeated;
    try {
      await store.transact(plan.steps, { pattern: 'replay event' });
      for (const ref of plan.refs) deps.dispatcher.offer(ref);
      return plan.refs.length + plan.repeated;
    } catch (error) {
      if (!failedStep(error) || round === tries) throw error;
      current = await store.get(event, eventKey(found), { consistent: true });
    }
  }
  return 0;
}

async function planReplay(
  deps: ReplayDeps,
  found: Event,
  connections: readonly Connection[],
  { jobId, cause }: Replay,
) {
  const { clock, ids } = deps;
  const nowMs = clock.now();
  const expiresAt = extendForAttempt(nowMs, found.expiresAt);
  const steps: (readonly [string, WriteStep])[] = [];
  const refs: Delivery[] = [];
  const changed: Record<string, DeliverySummary> = {};
  let repeated = 0;
  for (const { connectionId, ordered } of connections) {
    const latest = found.deliveries[connectionId];
    if (jobId !== undefined && latest?.jobId === jobId) {
      repeated += 1; // the same job did it before it was interrupted
      continue;
    }
    if (latest && !isFinished(latest.state)) {
      const sooner = await makeDueStep(deps, found, { connectionId, run: latest.run, jobId }, nowMs);
      if (sooner) {
        steps.push([`delivery to ${connectionId}`, sooner.step]);
        refs.push(sooner.delivery);
        if (jobId !== undefined) changed[connectionId] = { ...latest, jobId };
      }
      continue;
    }
    const made: Delivery = {
      eventId: found.eventId,
      connectionId,
      run: latest ? latest.run + 1 : 0,
      sourceId: found.sourceId,
      userId: found.userId,
      receivedAt: found.receivedAt,
      state: 'pending',
      attempts: 0,
      dueIn: deps.dueShards.of(found.eventId),
      dueAt: nowMs,
      version: 1,
      expiresAt,
      cause,
      ...(ordered && { queueId: ids.next() }),
      ...(jobId !== undefined && { jobId }),
    };
    changed[connectionId] = { state: 'pending', run: made.run, ...(jobId !== undefined && { jobId }) };
    steps.push(...deliverySteps(made, { ifAbsent: true }));
    refs.push(made);
  }
  if (Object.keys(changed).length > 0) {
    const status = statusOf({ ...found.deliveries, ...changed });
    const summaries = Object.fromEntries(
      Object.entries(changed).map(([id, one]) => [`deliveries.${id}`, one]),
    );
    if (expiresAt > found.expiresAt) await extendEventItems(deps, found, expiresAt);
    const change = { set: { status, expiresAt, ...summaries } };
    steps.push(['event', write.update(event, eventKey(found), change, { ifVersion: found.version })]);
  }
  return { steps, refs, repeated };
}

// Due now instead of later. Undefined for a delivery that is leased, held in a backlog, or due already.
async function makeDueStep(
  { store, dueShards }: BaseDeps,
  { eventId }: Event,
  { connectionId, run, jobId }: { connectionId: string; run: number; jobId: string | undefined },
  nowMs: number,
): Promise<{ step: WriteStep; delivery: Delivery } | undefined> {
  const key = { eventId, connectionId, run };
  const waiting = await store.get(delivery, key, { consistent: true });
  if (!waiting || waiting.owner || waiting.dueIn === connectionId || waiting.dueAt! <= nowMs)
    return undefined;
  const change = { set: { dueIn: dueShards.of(eventId), dueAt: nowMs, jobId } };
  return { step: write.update(delivery, key, change, { ifVersion: waiting.version }), delivery: waiting };
}

// Cancels unfinished deliveries. An attempt in flight may still reach its destination, but its result is not written.
export async function cancelEvent(
  deps: ReplayDeps,
  { eventId }: Event,
  connectionIds?: readonly string[],
): Promise<number> {
  let cancelled = 0;
  for await (const one of deps.store.all(deliveriesOfEvent, { eventId })) {
    if (isFinished(one.state) || (connectionIds && !connectionIds.includes(one.connectionId))) continue;
    const written = await cancelDelivery(deps, one);
    if (!written) continue;
    cancelled += 1;
    if (written.next) deps.dispatcher.offer(written.next);
  }
  return cancelled;
}

// A worker may claim or postpone it meanwhile. It is cancelled all the same, unless it has finished.
async function cancelDelivery(deps: ReplayDeps, found: Delivery): Promise<Written | undefined> {
  let current: Delivery | undefined = found;
  for (let round = 0; current && !isFinished(current.state) && round <= tries; round++) {
    const written = await writeResult(deps, current, { state: 'cancelled', error: 'Cancelled' });
    if (written) return written;
    current = await deps.store.get(delivery, keyOf(found), { consistent: true });
  }
  return undefined;
}
