import type { Store } from '@stak/table';
import { readRequest } from '../delivery/payload.ts';
import { notFound } from '../errors.ts';
import type { HeaderPair, HookRequest } from '../filters/request-view.ts';
import { type Receipt, type WriteDeps, writeEvent } from '../ingest/write-event.ts';
import type { SourceCache } from '../sources/source-cache.ts';
import {
  type Attempt,
  attempt,
  attemptsOfEvent,
  type Delivery,
  deliveriesOfEvent,
  type Event,
  type EventStatus,
  event,
  eventById,
  eventKey,
  payload,
} from '../tables.ts';
import { type EventCursor, type EventFilter, type EventPage, listEvents } from './list.ts';

type EventInput = {
  sourceId: string;
  method?: string;
  headers?: readonly HeaderPair[];
  query?: string;
  body: Uint8Array;
  sourceIp?: string;
  retentionSeconds: number;
};

export type EventDetail = {
  event: Event;
  headers: readonly HeaderPair[];
  deliveries: Delivery[];
  attempts: Attempt[];
};

export type Events = {
  // Stores an event as ingest does, without checking a signature or a plan.
  create(input: EventInput): Promise<Receipt>;
  getById(eventId: string): Promise<Event | null>;
  listBySource(
    sourceId: string | readonly string[],
    options: EventFilter & { limit: number; after?: EventCursor },
  ): Promise<EventPage>;
  // For repairs only: the status follows from the deliveries.
  updateStatus(eventId: string, status: EventStatus): Promise<void>;
  request(eventId: string): Promise<HookRequest | undefined>;
  detail(found: Event): Promise<EventDetail>;
  owned(eventId: string, userId: string): Promise<Event>;
};

export function createEvents(deps: WriteDeps & { sourceCache: SourceCache }): Events {
  const { store, sourceCache } = deps;

  const getById = async (eventId: string): Promise<Event | null> => {
    const { items } = await store.query(eventById, { eventId }, { limit: 1 });
    // The index may not have a new event yet. Its payload is stored under its id.
    const key = items[0] ?? (await store.get(payload, { eventId, part: 0 }, { consistent: true }));
    if (!key) return null;
    const { sourceId, receivedAt } = key;
    return (
      (await store.get(event, eventKey({ sourceId, receivedAt, eventId }), { consistent: true })) ?? null
    );
  };

  return {
    getById,
    async create({ sourceId, retentionSeconds, sourceIp, ...given }) {
      const found = await sourceCache.get(sourceId);
      const known = found && (await sourceCache.renew(found));
      if (!known) throw notFound('source');
      const request = { method: 'POST', headers: [], query: '', sourceIp, ...given };
      return writeEvent(deps, { request, source: known.source, retentionSeconds }, known.connections);
    },
    listBySource: (sourceId, { limit, after, ...filter }) =>
      listEvents(store, sourceId, filter, { limit, after }),
    async updateStatus(eventId, status) {
      const found = await getById(eventId);
      if (!found) throw notFound('event');
      await store.update(event, eventKey(found), { set: { status } });
    },
    request: eventId => readRequest(store, eventId),
    async owned(eventId, userId) {
      const found = await getById(eventId);
      if (found?.userId !== userId) throw notFound('event');
      return found;
    },
    async detail(found) {
      const { eventId } = found;
      const [request, deliveries, attempts] = await Promise.all([
        readRequest(store, eventId),
        listAll(store.all(deliveriesOfEvent, { eventId })),
        listAll(store.all(attemptsOfEvent, { eventId })),
      ]);
      return { event: found, headers: request?.headers ?? [], deliveries, attempts };
    },
  };
}

type NewAttempt = Omit<Attempt, 'eventId' | 'attemptNumber' | 'expiresAt' | 'run'> & { run?: number };

export type Attempts = {
  // Refused if the attempt exists: attempts are never overwritten.
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

// For lists that are known to be short.
async function listAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
