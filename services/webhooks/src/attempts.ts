import type { Store } from '@stak/table';
import { notFound } from './errors.ts';
import { type Attempt, attempt, attemptsOfEvent, type Event } from './events-table.ts';
import { listAll } from './listing.ts';

export type NewAttempt = Omit<Attempt, 'eventId' | 'attemptNumber' | 'expiresAt' | 'run'> & { run?: number };

export type Attempts = {
  // Refused if there is one already: an attempt that was made is a fact.
  create(eventId: string, attemptNum: number, input: NewAttempt): Promise<Attempt>;
  listByEvent(eventId: string): Promise<Attempt[]>;
};

export function createAttempts({
  store,
  getEvent,
}: {
  store: Store;
  getEvent(eventId: string): Promise<Event | null>;
}): Attempts {
  return {
    async create(eventId, attemptNumber, input) {
      const found = await getEvent(eventId);
      if (!found) throw notFound('event');
      const item = { run: 0, ...input, eventId, attemptNumber, expiresAt: found.expiresAt };
      return store.put(attempt, item, { ifAbsent: true });
    },
    listByEvent: eventId => listAll(store.all(attemptsOfEvent, { eventId })),
  };
}
