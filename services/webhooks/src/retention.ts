import { is } from '@stak/table';
import { type Base, inSeconds } from './deps.ts';
import { eventKey } from './due.ts';
import { isFinished } from './event-status.ts';
import {
  attempt,
  attemptsOfEvent,
  type Delivery,
  deliveriesOfEvent,
  delivery,
  event,
  payload,
  place,
} from './events-table.ts';
import * as limits from './limits.ts';
import { unlessLost } from './lost-write.ts';

// A plan says how long an event is kept. What is still owed is kept until it is settled, and everything that belongs
// to the event stays with it: an attempt without a payload would be none.

type Owed = Pick<Delivery, 'eventId' | 'sourceId' | 'receivedAt' | 'connectionId' | 'queueId'>;

const payloadParts = Array.from(
  { length: Math.ceil(limits.bodyBytes / limits.bodyPartBytes) },
  (_, part) => part,
);

// Until when something is kept that is due at a time, or that waits for its connection from a time on. Half of what is
// given may pass before it is given again: most deliveries are over long before that.
export const keptForAttempt = (dueMs: number, expiresAt: number): number =>
  extended(inSeconds(dueMs), expiresAt, limits.owedSpareS);
export const keptWhileHeld = (sinceMs: number, expiresAt: number): number =>
  extended(inSeconds(sinceMs), expiresAt, limits.heldS);

const extended = (fromS: number, expiresAt: number, spareS: number): number =>
  expiresAt - fromS >= spareS / 2 ? expiresAt : fromS + spareS;

// Everything but the event, its open deliveries and their places in line, which are written by those who know their versions: afterwards,
// so that they never outlive what they need.
export async function keepBesides(
  { store }: Base,
  { eventId }: Pick<Owed, 'eventId'>,
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

// In line, if its connection is ordered: without its place others would overtake it.
export async function keepPlace(
  { store }: Base,
  { connectionId, queueId }: Owed,
  untilS: number,
): Promise<void> {
  const { change, guard } = longer(untilS);
  if (queueId !== undefined) await unlessLost(store.update(place, { connectionId, queueId }, change, guard));
}

const longer = (untilS: number) => ({
  change: { set: { expiresAt: untilS } },
  guard: { if: { expiresAt: is.below(untilS) }, pattern: 'keep event' },
});

async function keepEvent(deps: Base, owed: Owed, untilS: number): Promise<void> {
  const { store } = deps;
  for (let round = 0; round <= limits.connectionsPerSource; round++) {
    const found = await store.get(event, eventKey(owed), { consistent: true });
    if (!found || found.expiresAt >= untilS) return;
    await keepBesides(deps, owed, untilS);
    const guard = { ifVersion: found.version, pattern: 'keep event' };
    // A sibling that ended meanwhile has changed the event, and needs to be kept, too.
    if (await unlessLost(store.update(event, eventKey(owed), { set: { expiresAt: untilS } }, guard))) return;
  }
}

// Before a delivery is written with a later end: its event, and its place in line.
export async function keepOwed(
  deps: Base,
  owed: Owed & Pick<Delivery, 'expiresAt'>,
  untilS: number,
): Promise<number> {
  if (untilS <= owed.expiresAt) return owed.expiresAt;
  await keepEvent(deps, owed, untilS);
  await keepPlace(deps, owed, untilS);
  return untilS;
}

export const keepHeld = (deps: Base, owed: Owed & Pick<Delivery, 'expiresAt'>): Promise<number> =>
  keepOwed(deps, owed, keptWhileHeld(deps.clock.now(), owed.expiresAt));
