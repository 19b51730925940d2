import { is } from '@stak/table';
import type { BaseDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { unlessLost } from '../lost-write.ts';
import {
  attempt,
  attemptsOfEvent,
  type Delivery,
  deliveriesOfEvent,
  delivery,
  event,
  eventKey,
  inSeconds,
  isFinished,
  orderEntry,
  payload,
} from '../tables.ts';

// A plan says how long an event is kept. An unfinished delivery is kept until it finishes, together with everything that
// belongs to its event: without a payload there is nothing to attempt.

type Unfinished = Pick<Delivery, 'eventId' | 'sourceId' | 'receivedAt' | 'connectionId' | 'queueId'>;

const payloadParts = Array.from(
  { length: Math.ceil(limits.bodyBytes / limits.bodyPartBytes) },
  (_, part) => part,
);

// The expiry of a delivery that is due at a time, or held for its connection since a time. Half of the extension may pass
// before it is extended again: most deliveries finish long before that.
export const extendForAttempt = (dueMs: number, expiresAt: number): number =>
  extended(inSeconds(dueMs), expiresAt, limits.attemptSpareS);
export const extendWhileHeld = (sinceMs: number, expiresAt: number): number =>
  extended(inSeconds(sinceMs), expiresAt, limits.heldS);

const extended = (fromS: number, expiresAt: number, spareS: number): number =>
  expiresAt - fromS >= spareS / 2 ? expiresAt : fromS + spareS;

// All items of the event but the event itself, its unfinished deliveries and their order entries. Callers write those
// afterwards, by their versions, so that a delivery never outlives what it needs.
export async function extendEventItems(
  { store }: BaseDeps,
  { eventId }: Pick<Unfinished, 'eventId'>,
  untilS: number,
): Promise<void> {
  const { change, guard } = longer(untilS);
  for (const part of payloadParts) await unlessLost(store.update(payload, { eventId, part }, change, guard));
  for await (const { run, attemptNumber, connectionId: to } of store.all(attemptsOfEvent, { eventId })) {
    const key = { eventId, connectionId: to, run, attemptNumber };
    await unlessLost(store.update(attempt, key, change, guard));
  }
  for await (const { run, state, connectionId: to } of store.all(deliveriesOfEvent, { eventId }))
    if (isFinished(state))
      await unlessLost(store.update(delivery, { eventId, connectionId: to, run }, change, guard));
}

// Without its order entry, others would overtake a delivery of an ordered connection.
export async function extendOrderEntry(
  { store }: BaseDeps,
  { connectionId, queueId }: Unfinished,
  untilS: number,
): Promise<void> {
  const { change, guard } = longer(untilS);
  if (queueId !== undefined)
    await unlessLost(store.update(orderEntry, { connectionId, queueId }, change, guard));
}

const longer = (untilS: number) => ({
  change: { set: { expiresAt: untilS } },
  guard: { if: { expiresAt: is.below(untilS) }, pattern: 'extend retention' },
});

async function extendEvent(deps: BaseDeps, of: Unfinished, untilS: number): Promise<void> {
  const { store } = deps;
  for (let round = 0; round <= limits.connectionsPerSource; round++) {
    const found = await store.get(event, eventKey(of), { consistent: true });
    if (!found || found.expiresAt >= untilS) return;
    await extendEventItems(deps, of, untilS);
    const guard = { ifVersion: found.version, pattern: 'extend retention' };
    // Another delivery that finished meanwhile has changed the event, and has to be extended too.
    if (await unlessLost(store.update(event, eventKey(of), { set: { expiresAt: untilS } }, guard))) return;
  }
}

// Called before a delivery is written with a later expiry: extends its event and its order entry.
export async function extendRetention(
  deps: BaseDeps,
  of: Unfinished & Pick<Delivery, 'expiresAt'>,
  untilS: number,
): Promise<number> {
  if (untilS <= of.expiresAt) return of.expiresAt;
  await extendEvent(deps, of, untilS);
  await extendOrderEntry(deps, of, untilS);
  return untilS;
}

export const extendHeld = (deps: BaseDeps, of: Unfinished & Pick<Delivery, 'expiresAt'>): Promise<number> =>
  extendRetention(deps, of, extendWhileHeld(deps.clock.now(), of.expiresAt));
