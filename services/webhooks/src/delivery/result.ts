import { failedStep, type NamedStep, type WriteStep, write } from '@stak/table';
import type { BaseDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { unlessLost } from '../lost-write.ts';
import {
  type Attempt,
  attempt,
  type Delivery,
  type DeliverySummary,
  delivery,
  type Event,
  type EventStatus,
  event,
  eventKey,
  isFinished,
  statusOf,
} from '../tables.ts';
import { alertStep } from './alerts.ts';
import { leaveOrder } from './order.ts';
import { type DeliveryRef, keyOf } from './queue.ts';
import { extendEventItems, extendForAttempt, extendOrderEntry } from './retention.ts';

export type Result = {
  state: Delivery['state'];
  attempt?: Omit<Attempt, 'eventId' | 'connectionId' | 'run' | 'attemptNumber' | 'expiresAt'>;
  error?: string;
  nextAt?: number; // when the next attempt is due
  rulesVersion?: number; // version of the connection that filtered it
};

export type Written = {
  next?: DeliveryRef; // the delivery that is first in order now
};

// All deliveries of an event may finish at the same moment. Each round one of them succeeds, so the last one needs as
// many rounds as there are deliveries; replays may use up some of them.
const tries = 2 * limits.connectionsPerSource;

// Writes the attempt, the event's status and the delivery. Undefined when the delivery was changed since it was claimed:
// then another worker decides.
export async function writeResult(
  deps: BaseDeps,
  claimed: Delivery,
  result: Result,
): Promise<Written | undefined> {
  const { store } = deps;
  let isRecorded = false; // an attempt with this number may exist
  for (let round = 0; ; round++) {
    const known = await knownEvent(deps, claimed, round);
    if (!known) {
      // The event is gone, and its deliveries with it.
      await unlessLost(store.delete(delivery, claimed, { ifVersion: claimed.version }));
      return undefined;
    }
    const isDone = isDelivered(known, claimed);
    if (isDone && !result.attempt) return undefined; // it is too late to cancel it
    const outcome = isDone ? { state: 'delivered' as const, attempt: result.attempt } : result;
    const expiresAt = expiryOf(claimed, known, outcome);
    if (expiresAt > known.expiresAt) await extendEventItems(deps, claimed, expiresAt);
    if (expiresAt > claimed.expiresAt) await extendOrderEntry(deps, claimed, expiresAt);
    const { groups, ...written } = await planResult(deps, claimed, outcome, known, { expiresAt, isRecorded });
    try {
      // The next in an ordered connection waits for this one.
      const mayWait = claimed.queueId === undefined;
      await store.writeInOrder(groups, { pattern: 'result of a delivery', mayWait });
      return written;
    } catch (error) {
      if (!failedStep(error)) throw error;
      if (await isLost(deps, claimed)) return undefined;
      if (round === tries) throw error;
      isRecorded = true; // by the round before, or by a worker that died after it
    }
  }
}

const isLost = async ({ store }: BaseDeps, claimed: Delivery): Promise<boolean> =>
  (await store.get(delivery, keyOf(claimed), { consistent: true }))?.version !== claimed.version;

// Whether the event says so already: a worker wrote its status, and died before it wrote the delivery.
export function isDelivered({ deliveries }: Pick<Event, 'deliveries'>, of: DeliveryRef): boolean {
  const latest = deliveries[of.connectionId];
  return latest?.run === of.run && latest.state === 'delivered';
}

// Writes the delivery as its event and its last attempt say.
export async function finishAsDelivered(deps: BaseDeps, claimed: Delivery): Promise<void> {
  const { store, clock } = deps;
  const attempts = claimed.attempts + 1;
  const made = await store.get(attempt, { ...keyOf(claimed), attemptNumber: attempts }, { consistent: true });
  const set = {
    state: 'delivered' as const,
    finishedAt: clock.now(),
    ...(made && { attempts, statusCode: made.statusCode }),
  };
  const remove = ['owner', 'dueIn', 'dueAt', 'eventVersion', 'error'] as const;
  const guard = { ifVersion: claimed.version, pattern: 'finish delivery' };
  await unlessLost(store.update(delivery, keyOf(claimed), { set, remove }, guard));
}

type EventState = Pick<Event, 'version' | 'deliveries' | 'status' | 'expiresAt'>;

// The delivery expires with its event, which may be kept longer for another delivery.
function expiryOf(claimed: Delivery, known: EventState, { nextAt }: Result): number {
  const expiresAt = Math.max(claimed.expiresAt, known.expiresAt);
  return nextAt === undefined ? expiresAt : extendForAttempt(nextAt, expiresAt);
}

// An event with a single delivery need not be read, unless it was replayed meanwhile: then its version is another one,
// and the next round reads it.
async function knownEvent(
  { store }: BaseDeps,
  claimed: Delivery,
  round: number,
): Promise<EventState | undefined> {
  const { eventVersion, connectionId, run, state, expiresAt } = claimed;
  if (eventVersion !== undefined && round === 0) {
    const deliveries = { [connectionId]: { state, run } };
    return { version: eventVersion, deliveries, status: statusOf(deliveries), expiresAt };
  }
  return store.get(event, eventKey(claimed), { consistent: true });
}

// A success is written in this order: attempt, event, delivery. A worker that finds an unfinished delivery whose event
// says it was delivered finishes it, so no transaction is needed. Any other result is one transaction, written after
// the attempt: if only the attempt was written, another one with the same number replaces it.
async function planResult(
  deps: BaseDeps,
  claimed: Delivery,
  result: Result,
  known: EventState,
  { expiresAt, isRecorded }: { expiresAt: number; isRecorded: boolean },
): Promise<Written & { groups: (readonly NamedStep[])[] }> {
  const { connectionId, run } = claimed;
  const nowMs = deps.clock.now();
  const attempts = claimed.attempts + (result.attempt ? 1 : 0);
  const own: NamedStep = [
    'delivery',
    deliveryStep(deps, claimed, result, attempts, { version: known.version, expiresAt }),
  ];
  const recorded = result.attempt
    ? [attemptStep(claimed, result.attempt, { attemptNumber: attempts, expiresAt, isRecorded })]
    : [];

  const latest = known.deliveries[connectionId];
  const isLatest = !latest || latest.run <= run;
  const { state, rulesVersion } = result;
  const summary: DeliverySummary = { state, run, attempts };
  if (rulesVersion !== undefined) summary.rulesVersion = rulesVersion;
  if (latest?.jobId !== undefined) summary.jobId = latest.jobId;
  const to = isLatest ? statusAfter(known.deliveries, connectionId, summary) : known.status;
  const { version } = known;
  const change = { version, expiresAt, summary: isLatest ? summary : undefined, status: to, nowMs };
  const ofEvent: NamedStep = ['event', eventStep(claimed, change)];
  const inLine = claimed.queueId !== undefined;
  if (result.state === 'delivered' && isLatest && !inLine) return { groups: [recorded, [ofEvent], [own]] };

  const steps = [own, ofEvent];
  if (result.state === 'failed')
    steps.push([
      'alert',
      alertStep(claimed, 'delivery_failed', nowMs, result.error ?? 'The delivery failed'),
    ]);
  const left = isFinished(result.state) && inLine ? await leaveOrder(deps, claimed) : undefined;
  if (left) steps.push(...left.steps);
  return { groups: [recorded, steps], next: left?.next };
}

function attemptStep(
  { eventId, connectionId, run }: Delivery,
  made: NonNullable<Result['attempt']>,
  { attemptNumber, expiresAt, isRecorded }: { attemptNumber: number; expiresAt: number; isRecorded: boolean },
): NamedStep {
  const item = { eventId, connectionId, run, attemptNumber, expiresAt, ...made };
  return ['attempt', write.put(attempt, item, isRecorded ? {} : { ifAbsent: true })];
}

function deliveryStep(
  { clock, dueShards }: BaseDeps,
  claimed: Delivery,
  { state, attempt: made, error, nextAt }: Result,
  attempts: number,
  { version, expiresAt }: Pick<EventState, 'version' | 'expiresAt'>,
): WriteStep {
  const { eventId, connectionId, run } = claimed;
  const nowMs = clock.now();
  const isEnded = isFinished(state);
  const isOnly = version === claimed.eventVersion;
  // Attributes that are undefined stay as they are.
  const set = {
    state,
    attempts,
    expiresAt,
    statusCode: made?.statusCode,
    error,
    eventVersion: isOnly ? version + 1 : undefined,
    finishedAt: isEnded ? nowMs : undefined,
    dueIn: isEnded ? undefined : dueShards.of(eventId),
    dueAt: isEnded ? undefined : (nextAt ?? nowMs),
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
  deliveries: EventState['deliveries'],
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
    deliveredAt: status === 'delivered' ? nowMs : undefined,
    [`deliveries.${claimed.connectionId}`]: summary,
  };
  return write.update(event, eventKey(claimed), { set }, { ifVersion: version });
}
