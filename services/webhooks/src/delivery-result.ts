import { failedStep, type WriteStep, write } from '@stak/table';
import { alertStep } from './alerts.ts';
import type { Base } from './deps.ts';
import { dueShardOf, eventKey } from './due.ts';
import { isFinished, statusOf } from './event-status.ts';
import {
  type Attempt,
  attempt,
  type Delivery,
  type DeliverySummary,
  delivery,
  type Event,
  type EventStatus,
  event,
} from './events-table.ts';
import type { DeliveryRef } from './intake.ts';
import * as limits from './limits.ts';
import { leaveLine } from './line.ts';
import { unlessLost } from './lost-write.ts';
import { keepBesides, keepPlace, keptForAttempt } from './retention.ts';

export type Result = {
  state: Delivery['state'];
  attempt?: Omit<Attempt, 'eventId' | 'connectionId' | 'run' | 'attemptNumber' | 'expiresAt'>;
  error?: string;
  nextAt?: number; // of another attempt
};

export type Written = {
  next?: DeliveryRef; // who is first in line now
};

// Siblings may all finish at the same moment. Each round one of them gets through, so the last one needs as many
// rounds as there are; replays may take some of them.
const tries = 2 * limits.connectionsPerSource;

// The delivery, its attempt and the event's status change together, or not at all. Undefined when the delivery is
// no longer the one that was claimed: then somebody else's word counts.
export async function writeResult(
  deps: Base,
  claimed: Delivery,
  result: Result,
): Promise<Written | undefined> {
  const { store } = deps;
  for (let round = 0; ; round++) {
    const known = await knownEvent(deps, claimed, round);
    if (!known) {
      // The event is gone, and with it whatever it owed.
      await unlessLost(store.delete(delivery, claimed, { ifVersion: claimed.version }));
      return undefined;
    }
    const expiresAt = keptUntil(claimed, known, result);
    if (expiresAt > known.expiresAt) await keepBesides(deps, claimed, expiresAt);
    if (expiresAt > claimed.expiresAt) await keepPlace(deps, claimed, expiresAt);
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

// With its event, which may be kept longer for the sake of another one.
function keptUntil(claimed: Delivery, known: Known, { nextAt }: Result): number {
  const expiresAt = Math.max(claimed.expiresAt, known.expiresAt);
  return nextAt === undefined ? expiresAt : keptForAttempt(nextAt, expiresAt);
}

// An event that owes one delivery is known without reading it, unless somebody has replayed it meanwhile: then its
// version is another one, and it is read from then on.
async function knownEvent({ store }: Base, claimed: Delivery, round: number): Promise<Known | undefined> {
  const { eventVersion, connectionId, run, state, expiresAt } = claimed;
  if (eventVersion !== undefined && round === 0) {
    const deliveries = { [connectionId]: { state, run } };
    return { version: eventVersion, deliveries, status: statusOf(deliveries), expiresAt };
  }
  return store.get(event, eventKey(claimed), { consistent: true });
}

async function planResult(
  deps: Base,
  claimed: Delivery,
  result: Result,
  known: Known,
  expiresAt: number,
): Promise<Written & { steps: (readonly [string, WriteStep])[] }> {
  const { eventId, connectionId, run } = claimed;
  const nowMs = deps.clock.now();
  const isOver = isFinished(result.state);
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
  const left = isOver && claimed.queueId !== undefined ? await leaveLine(deps, claimed) : undefined;
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
  const isOver = isFinished(state);
  const isAlone = version === claimed.eventVersion;
  const set = {
    state,
    attempts,
    expiresAt,
    ...(made && { statusCode: made.statusCode }),
    ...(error !== undefined && { error }),
    ...(isAlone && { eventVersion: claimed.eventVersion! + 1 }),
    ...(isOver ? { finishedAt: nowMs } : { dueIn: dueShardOf(eventId), dueAt: nextAt ?? nowMs }),
  };
  const remove: ('owner' | 'dueIn' | 'dueAt' | 'eventVersion' | 'error')[] = ['owner'];
  // The error is that of the last result: what was delivered in the end has none.
  if (error === undefined) remove.push('error');
  if (isOver) remove.push('dueIn', 'dueAt');
  if (!isAlone) remove.push('eventVersion');
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
