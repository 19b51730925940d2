import { failedStep, type WriteStep, write } from '@stak/table';
import type { BaseDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { unlessLost } from '../lost-write.ts';
import {
  type Attempt,
  attempt,
  type Delivery,
  type DeliverySummary,
  delivery,
  dueShardOf,
  type Event,
  type EventStatus,
  event,
  eventKey,
  isFinished,
  statusOf,
} from '../tables.ts';
import { alertStep } from './alerts.ts';
import { leaveOrder } from './order.ts';
import type { DeliveryRef } from './queue.ts';
import { extendEventItems, extendForAttempt, extendOrderEntry } from './retention.ts';

export type Result = {
  state: Delivery['state'];
  attempt?: Omit<Attempt, 'eventId' | 'connectionId' | 'run' | 'attemptNumber' | 'expiresAt'>;
  error?: string;
  nextAt?: number; // when the next attempt is due
};

export type Written = {
  next?: DeliveryRef; // the delivery that is first in order now
};

// All deliveries of an event may finish at the same moment. Each round one of them succeeds, so the last one needs as
// many rounds as there are deliveries; replays may use up some of them.
const tries = 2 * limits.connectionsPerSource;

// Writes the delivery, its attempt and the event's status in one transaction. Undefined when the delivery was changed
// since it was claimed: then another worker decides.
export async function writeResult(
  deps: BaseDeps,
  claimed: Delivery,
  result: Result,
): Promise<Written | undefined> {
  const { store } = deps;
  for (let round = 0; ; round++) {
    const known = await knownEvent(deps, claimed, round);
    if (!known) {
      // The event is gone, and its deliveries with it.
      await unlessLost(store.delete(delivery, claimed, { ifVersion: claimed.version }));
      return undefined;
    }
    const expiresAt = expiryOf(claimed, known, result);
    if (expiresAt > known.expiresAt) await extendEventItems(deps, claimed, expiresAt);
    if (expiresAt > claimed.expiresAt) await extendOrderEntry(deps, claimed, expiresAt);
    const { steps, ...written } = await planResult(deps, claimed, result, known, expiresAt);
    try {
      await store.transact(steps, { pattern: 'result of a delivery' });
      return written;
    } catch (error) {
      const failure = failedStep(error);
      if (!failure) throw error;
      if (failure.step === 'delivery') return undefined;
      if (round === tries) throw error;
    }
  }
}

type Known = Pick<Event, 'version' | 'deliveries' | 'status' | 'expiresAt'>;

// That of its event, which may be kept longer for another delivery.
function expiryOf(claimed: Delivery, known: Known, { nextAt }: Result): number {
  const expiresAt = Math.max(claimed.expiresAt, known.expiresAt);
  return nextAt === undefined ? expiresAt : extendForAttempt(nextAt, expiresAt);
}

// An event with a single delivery need not be read, unless it was replayed meanwhile: then its version is another one,
// and the next round reads it.
async function knownEvent({ store }: BaseDeps, claimed: Delivery, round: number): Promise<Known | undefined> {
  const { eventVersion, connectionId, run, state, expiresAt } = claimed;
  if (eventVersion !== undefined && round === 0) {
    const deliveries = { [connectionId]: { state, run } };
    return { version: eventVersion, deliveries, status: statusOf(deliveries), expiresAt };
  }
  return store.get(event, eventKey(claimed), { consistent: true });
}

async function planResult(
  deps: BaseDeps,
  claimed: Delivery,
  result: Result,
  known: Known,
  expiresAt: number,
): Promise<Written & { steps: (readonly [string, WriteStep])[] }> {
  const { eventId, connectionId, run } = claimed;
  const nowMs = deps.clock.now();
  const isEnded = isFinished(result.state);
  const attempts = claimed.attempts + (result.attempt ? 1 : 0);
  const steps: (readonly [string, WriteStep])[] = [
    ['delivery', deliveryStep(claimed, result, attempts, { version: known.version, expiresAt }, nowMs)],
  ];
  if (result.attempt) {
    const made = { eventId, connectionId, run, attemptNumber: attempts, expiresAt, ...result.attempt };
    steps.push(['attempt', write.put(attempt, made, { ifAbsent: true })]);
  }

  const latest = known.deliveries[connectionId];
  const isLatest = !latest || latest.run <= run;
  const summary: DeliverySummary = { state: result.state, run };
  if (latest?.jobId !== undefined) summary.jobId = latest.jobId;
  const to = isLatest ? statusAfter(known.deliveries, connectionId, summary) : known.status;
  const { version } = known;
  const change = { version, expiresAt, summary: isLatest ? summary : undefined, status: to, nowMs };
  steps.push(['event', eventStep(claimed, change)]);
  if (result.state === 'failed')
    steps.push([
      'alert',
      alertStep(claimed, 'delivery_failed', nowMs, result.error ?? 'The delivery failed'),
    ]);
  const left = isEnded && claimed.queueId !== undefined ? await leaveOrder(deps, claimed) : undefined;
  if (left) steps.push(...left.steps);
  return { steps, next: left?.next };
}

function deliveryStep(
  claimed: Delivery,
  { state, attempt: made, error, nextAt }: Result,
  attempts: number,
  { version, expiresAt }: Pick<Known, 'version' | 'expiresAt'>,
  nowMs: number,
): WriteStep {
  const { eventId, connectionId, run } = claimed;
  const isEnded = isFinished(state);
  const isOnly = version === claimed.eventVersion;
  const set = {
    state,
    attempts,
    expiresAt,
    ...(made && { statusCode: made.statusCode }),
    ...(error !== undefined && { error }),
    ...(isOnly && { eventVersion: claimed.eventVersion! + 1 }),
    ...(isEnded ? { finishedAt: nowMs } : { dueIn: dueShardOf(eventId), dueAt: nextAt ?? nowMs }),
  };
  const remove: ('owner' | 'dueIn' | 'dueAt' | 'eventVersion' | 'error')[] = ['owner'];
  // The error is that of the last result: a delivery that succeeded in the end has none.
  if (error === undefined) remove.push('error');
  if (isEnded) remove.push('dueIn', 'dueAt');
  if (!isOnly) remove.push('eventVersion');
  return write.update(
    delivery,
    { eventId, connectionId, run },
    { set, remove },
    { ifVersion: claimed.version },
  );
}

function statusAfter(
  deliveries: Known['deliveries'],
  connectionId: string,
  summary: DeliverySummary,
): EventStatus {
  const after = Object.assign({}, deliveries);
  after[connectionId] = summary;
  return statusOf(after);
}

type EventChange = {
  version: number;
  expiresAt: number;
  summary?: DeliverySummary;
  status: EventStatus;
  nowMs: number;
};

function eventStep(
  claimed: Delivery,
  { version, expiresAt, summary, status, nowMs }: EventChange,
): WriteStep {
  const set = {
    status,
    expiresAt,
    processedAt: nowMs,
    ...(status === 'delivered' && { deliveredAt: nowMs }),
    ...(summary && { [`deliveries.${claimed.connectionId}`]: summary }),
  };
  return write.update(event, eventKey(claimed), { set }, { ifVersion: version });
}
