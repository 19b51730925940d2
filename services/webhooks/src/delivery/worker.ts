import { yieldIfBusy } from '@stak/kit';
import type { HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import { unlessLost } from '../lost-write.ts';
import type { SourceCache } from '../sources/source-cache.ts';
import { type Delivery, delivery, event, eventKey } from '../tables.ts';
import {
  type AttemptDeps,
  type AttemptRun,
  attemptDelivery,
  finishDelivery,
  type Report,
} from './attempt.ts';
import type { Backlogs } from './backlog.ts';
import { isFirstInOrder } from './order.ts';
import { readRequest } from './payload.ts';
import {
  claimDelivery,
  type DueDelivery,
  holdDelivery,
  keyOf,
  postponeDelivery,
  renewLease,
} from './queue.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { finishAsDelivered, isDelivered } from './result.ts';
import { extendForAttempt, extendHeld, extendRetention } from './retention.ts';

export type WorkerDeps = AttemptDeps & {
  sourceCache: SourceCache;
  rateLimiter: RateLimiter;
  backlogs: Pick<Backlogs, 'ensureScheduled'>;
};

// Claims a delivery that is due, and attempts it if its connection is active, it is first in order, and the rate allows.
export async function claimAndAttempt(
  deps: WorkerDeps,
  ref: DueDelivery,
  owner: string,
  run: AttemptRun,
  onClaimed: () => void,
): Promise<Report> {
  const { store, clock } = deps;
  const due = await claimDelivery(deps, ref, owner, clock.now());
  const claimed = due && (await extendClaimed(deps, due));
  if (!claimed || !(await isOwed(deps, claimed))) return {};
  if (claimed.queueId !== undefined && !(await isFirstInOrder(deps, claimed))) return {};
  return attemptClaimed(deps, claimed, run, async () => {
    // Retries of one event are due together, and each of them reads it.
    await yieldIfBusy();
    const request = await readRequest(store, claimed.eventId);
    onClaimed();
    return request;
  });
}

// Attempts a delivery that was leased to this process when it was written, and has waited in memory since.
export async function attemptLeased(
  deps: WorkerDeps,
  leased: Delivery,
  request: HookRequest,
  run: AttemptRun,
): Promise<Report> {
  const nowMs = deps.clock.now();
  const isLong = (leased.dueAt ?? 0) - nowMs > limits.leaseSpareMs + limits.timeoutMs;
  const claimed = isLong ? leased : await renewLease(deps.store, leased, nowMs);
  return claimed ? attemptClaimed(deps, claimed, run, async () => request) : {};
}

// The connection may have changed while the delivery waited.
async function attemptClaimed(
  deps: WorkerDeps,
  claimed: Delivery,
  run: AttemptRun,
  readRequest: () => Promise<HookRequest | undefined>,
): Promise<Report> {
  const { store, clock } = deps;
  const found = await findConnection(deps, claimed);
  if (!found)
    return finishDelivery(deps, claimed, { state: 'cancelled', error: 'The connection was deleted' });
  const { source, connection } = found;
  if (source.status !== 'active' || connection.status !== 'active' || connection.breaker === 'open') {
    if (connection.breaker === 'open') await deps.backlogs.ensureScheduled(connection);
    const { version } = claimed;
    await holdDelivery(store, claimed, clock.now(), { expiresAt: await extendHeld(deps, claimed), version });
    return {};
  }
  if (connection.ratePerSecond !== undefined) {
    const waitMs = await deps.rateLimiter.take(connection.connectionId, connection.ratePerSecond);
    if (waitMs > 0) {
      await postponeDelivery(deps, claimed, clock.now() + waitMs);
      return { waitMs };
    }
  }
  const request = await readRequest();
  if (request) return attemptDelivery(deps, claimed, connection, request, run);
  await unlessLost(store.delete(delivery, claimed, { ifVersion: claimed.version })); // its event is gone
  return {};
}

// A worker that died may have written the delivery and not its event, or the result to the event alone. An event that
// is written after its delivery is not missing: a process may be slow, or suspended, between the two.
async function isOwed(deps: WorkerDeps, claimed: Delivery): Promise<boolean> {
  const { store, clock } = deps;
  const of = await store.get(event, eventKey(claimed), { consistent: true, pattern: 'event of a delivery' });
  if (of && !isDelivered(of, claimed)) return true;
  const nowMs = clock.now();
  const ageMs = nowMs - claimed.receivedAt;
  if (of) await finishAsDelivered(deps, claimed);
  else if (ageMs < limits.unwrittenMostMs)
    await postponeDelivery(deps, claimed, nowMs + Math.max(limits.unwrittenMs, Math.round(ageMs / 4)));
  else await unlessLost(store.delete(delivery, claimed, { ifVersion: claimed.version }));
  return false;
}

// However long it has waited: it must not expire while it is attempted, or before it is due again.
async function extendClaimed(deps: WorkerDeps, claimed: Delivery): Promise<Delivery | undefined> {
  const untilS = extendForAttempt(deps.clock.now(), claimed.expiresAt);
  const expiresAt = await extendRetention(deps, claimed, untilS);
  if (expiresAt === claimed.expiresAt) return claimed;
  const guard = { ifVersion: claimed.version };
  return unlessLost(deps.store.update(delivery, keyOf(claimed), { set: { expiresAt } }, guard));
}

// The cache may be older than the delivery, so the connection is read again before its deliveries are cancelled.
async function findConnection({ sourceCache }: WorkerDeps, { sourceId, userId, connectionId }: Delivery) {
  for (const read of [sourceCache.get, sourceCache.getFresh]) {
    const known = await read(sourceId, userId);
    const connection = known?.connections.find(one => one.connectionId === connectionId);
    if (connection) return { source: known!.source, connection };
  }
  return undefined;
}
