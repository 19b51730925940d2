import type { Clock } from '@stak/kit';
import { systemClock } from '@stak/kit';
import { type Store, tableErrors, type WriteStep, write } from '@stak/table';
import { markerMs } from './limits.ts';
import { marker } from './state-table.ts';
import type { HandlerContext } from './subscription.ts';

export type EffectSteps = Readonly<Record<string, WriteStep>>;
type Settings = { store: Store; clock?: Clock };

const markerStep = 'once per event';

// A handler whose effect on tables happens once, however often its record is delivered: the writes it answers
// with and a marker of the event are made in one transaction. Undefined or no steps means nothing to do.
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
    const nowMs = clock.now();
    const mark = write.put(
      marker,
      {
        consumer: context.consumer,
        event_id: change.eventId,
        done_at: nowMs,
        expires_at: Math.ceil((nowMs + markerMs) / 1000),
      },
      { ifAbsent: true },
    );
    try {
      await store.transact(
        { ...steps, [markerStep]: mark },
        { pattern: `${context.consumer}, once per event` },
      );
    } catch (error) {
      if (!isRepeated(error)) throw error;
    }
  };
}

type Failures = { failures?: { step: string; reason: string }[] };

// The marker is there: the effect was made before, whatever else the transaction complains about now.
const isRepeated = (error: unknown): boolean =>
  tableErrors.includes(error) &&
  error.code === 'table.transaction_failed' &&
  ((error.details as Failures | undefined)?.failures ?? []).some(
    ({ step, reason }) => step === markerStep && reason === 'condition_failed',
  );
