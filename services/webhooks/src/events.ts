import type { Config } from './config.ts';
import { readRequest } from './deliveries.ts';
import type { Base } from './deps.ts';
import { eventKey } from './due.ts';
import { notFound } from './errors.ts';
import { type EventFilter, type EventPage, listEvents, type Position } from './event-list.ts';
import { type Receipt, writeEvent } from './event-writing.ts';
import {
  type Attempt,
  attemptsOfEvent,
  type Delivery,
  deliveriesOfEvent,
  type Event,
  type EventStatus,
  event,
  eventById,
  payload,
} from './events-table.ts';
import type { HeaderPair, HookRequest } from './filters/request-view.ts';
import type { Intake } from './intake.ts';
import { listAll } from './listing.ts';

export type NewEvent = {
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
  // As ingest does, without a signature or a plan to ask.
  create(input: NewEvent): Promise<Receipt>;
  getById(eventId: string): Promise<Event | null>;
  listBySource(
    sourceId: string,
    options: EventFilter & { limit: number; after?: Position },
  ): Promise<EventPage>;
  // For repairs: a status follows from the deliveries.
  updateStatus(eventId: string, status: EventStatus): Promise<void>;
  request(eventId: string): Promise<HookRequest | undefined>;
  detail(found: Event): Promise<EventDetail>;
  owned(eventId: string, userId: string): Promise<Event>;
};

export function createEvents(deps: Base & { config: Config; intake: Intake }): Events {
  const { store, config } = deps;

  const getById = async (eventId: string): Promise<Event | null> => {
    const { items } = await store.query(eventById, { eventId }, { limit: 1 });
    // The index may not know a new event yet; its payload lies under its id.
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
      const known = await config.of(sourceId);
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
