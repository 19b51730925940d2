import type { Clock } from '@stak/kit';
import { systemClock } from '@stak/kit';
import { failedCondition, type Store, type WriteStep, write } from '@stak/table';
import { markerMs } from '../limits.ts';
import { marker } from '../work/state-table.ts';
import type { HandlerContext } from '../work/subscription.ts';

/** The writes of an effect, under names of your choice. */
export type EffectSteps = Readonly<Record<string, WriteStep>>;
type Settings = { store: Store; clock?: Clock };

const markerStep = 'once per event';
const stepOf = (eventId: string): string => `${markerStep} ${eventId}`;

/**
 * A handler whose effect on tables happens once, however often its record is delivered: the writes it returns are made
 * in one transaction with a marker of the event. Undefined or no steps means nothing to do.
 *
 *     handle: oncePerEvent({ store }, change => ({ count: write.update(counter, key, { add: { notes: 1 } }) })),
 */
export function oncePerEvent<Event extends { eventId: string }>(
  { store, clock = systemClock }: Settings,
  effect: (
    change: Event,
    context: HandlerContext,
  ) => EffectSteps | undefined | Promise<EffectSteps | undefined>,
): (change: Event, context: HandlerContext) => Promise<void> {
  return async (change, context) => {
    const steps = await effect(change, context);
    if (!steps || Object.keys(steps).length === 0) return;
    await writeOnce({ store, clock }, context.consumer, [change.eventId], steps);
  };
}

/**
 * Writes an effect of several events in one transaction, with a marker for each, so that an item they all change is
 * written once. If some of the events already had their effect, nothing is written and those events are returned: leave
 * them out and call it again.
 */
export async function writeOnce(
  { store, clock = systemClock }: Settings,
  consumer: string,
  eventIds: readonly string[],
  steps: EffectSteps,
): Promise<ReadonlySet<string>> {
  const nowMs = clock.now();
  const times = { done_at: nowMs, expires_at: Math.ceil((nowMs + markerMs) / 1000) };
  const marks = eventIds.map(
    event_id =>
      [stepOf(event_id), write.put(marker, { consumer, event_id, ...times }, { ifAbsent: true })] as const,
  );
  try {
    const pattern = `${consumer}, once per event`;
    await store.transact([...Object.entries(steps), ...marks], { pattern });
    return new Set();
  } catch (error) {
    const repeated = eventIds.filter(eventId => failedCondition(error, stepOf(eventId)));
    if (repeated.length === 0) throw error;
    return new Set(repeated);
  }
}
