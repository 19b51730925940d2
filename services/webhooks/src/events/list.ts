import { yieldIfBusy } from '@stak/kit';
import type { Store } from '@stak/table';
import { readRequest } from '../delivery/payload.ts';
import type { HookRequest } from '../filters/request-view.ts';
import { holdsValue, type Where } from '../filters/where.ts';
import * as limits from '../limits.ts';
import { type Event, type EventStatus, eventsOfShard } from '../tables.ts';

export type EventCursor = { receivedAt: number; eventId: string };
export type EventFilter = {
  status?: EventStatus;
  fromMs?: number;
  toMs?: number;
  text?: string;
  type?: string;
  connectionId?: string;
  where?: Where;
};
export type EventPage = { events: Event[]; next?: EventCursor };

const shards = Array.from({ length: limits.eventShards }, (_, shard) => shard);
export type Walk = {
  fromMs?: number;
  toMs?: number; // up to, not including
  after?: EventCursor; // in the direction of the walk
  oldestFirst?: boolean;
  pageItems: number;
};

const compare = (a: EventCursor, b: EventCursor): number =>
  a.receivedAt - b.receivedAt || (a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : 0);

// The events of one or several sources, newest first by default, merged from all of their shards. One cursor is enough to
// resume in each shard, because all of them have the same order.
export async function* walkEvents(
  store: Store,
  sourceIds: string | readonly string[],
  walk: Walk,
): AsyncGenerator<Event> {
  const direction = walk.oldestFirst ? -1 : 1;
  const heads = await Promise.all(
    [sourceIds].flat().flatMap(sourceId =>
      shards.map(async shard => {
        const events = walkShard(store, sourceId, shard, walk);
        return { events, next: await events.next() };
      }),
    ),
  );
  for (;;) {
    let first: { head: (typeof heads)[number]; event: Event } | undefined;
    for (const head of heads) {
      if (head.next.done) continue;
      const one = head.next.value;
      if (!first || compare(one, first.event) * direction > 0) first = { head, event: one };
    }
    if (!first) return;
    yield first.event;
    first.head.next = await first.head.events.next();
  }
}

async function* walkShard(
  store: Store,
  sourceId: string,
  shard: number,
  { fromMs, toMs, after, oldestFirst = false, pageItems }: Walk,
): AsyncGenerator<Event, undefined> {
  const start = fromMs === undefined ? {} : { from: { receivedAt: keyTime(fromMs) } };
  const end = toMs === undefined ? {} : { before: { receivedAt: keyTime(toMs) } };
  let last = after;
  for (;;) {
    const range =
      last === undefined
        ? { ...start, ...end }
        : oldestFirst
          ? { after: last, ...end }
          : { ...start, before: last };
    const options = { ...range, newestFirst: !oldestFirst, limit: pageItems };
    const { items, cursor } = await store.query(eventsOfShard, { sourceId, shard }, options);
    yield* items;
    const lastRead = items.at(-1);
    if (cursor === undefined || lastRead === undefined) return undefined;
    last = { receivedAt: lastRead.receivedAt, eventId: lastRead.eventId };
  }
}

// Clamped to what a key can hold: from 1970 to 2286.
const keyTime = (ms: number): number => Math.min(Math.max(0, ms), 9_999_999_999_999);

// A page ends when it is full, when there are no more events, or when the search has read enough. The cursor resumes
// after the last event that was read.
export async function listEvents(
  store: Store,
  sourceIds: string | readonly string[],
  filter: EventFilter,
  { limit, after }: { limit: number; after?: EventCursor },
): Promise<EventPage> {
  const { status, text, type, connectionId, where } = filter;
  const isFiltering = [status, text, type, connectionId, where].some(one => one !== undefined);
  const pageItems = isFiltering ? 100 : Math.min(100, limit + 1);
  const events: Event[] = [];
  let last: EventCursor | undefined;
  let searched = 0;
  let bytes = 0;
  for await (const one of walkEvents(store, sourceIds, { ...filter, after, pageItems })) {
    if (events.length === limit) return { events, next: last };
    if (searched >= limits.searchEvents || bytes >= limits.searchBytes) return { events, next: last };
    if (isFiltering) searched += 1;
    last = { receivedAt: one.receivedAt, eventId: one.eventId };
    if (!passesItself(one, filter)) continue;
    if (readsBodies(filter)) bytes += one.size;
    if (await passesWithBody(store, one, filter)) events.push(one);
  }
  return { events };
}

/** Whether an event passes a filter; its time is left to the walk. */
export const passes = async (store: Store, one: Event, filter: EventFilter): Promise<boolean> =>
  passesItself(one, filter) && (await passesWithBody(store, one, filter));

const passesItself = (one: Event, { status, type, connectionId }: EventFilter): boolean =>
  (status === undefined || one.status === status) &&
  (type === undefined || one.eventType === type) &&
  (connectionId === undefined || connectionId in one.deliveries);

export const readsBodies = ({ text, where }: EventFilter): boolean =>
  text !== undefined || where !== undefined;

// Lets other work run between large bodies, which are parsed on the thread that serves all requests.
async function passesWithBody(store: Store, { eventId }: Event, filter: EventFilter): Promise<boolean> {
  if (!readsBodies(filter)) return true;
  await yieldIfBusy();
  const { text, where } = filter;
  const request = await readRequest(store, eventId);
  if (!request) return false;
  if (text !== undefined && !holdsText(request, text)) return false;
  return where === undefined || holdsValue(request, where);
}

// Ignores case. Bytes that are not UTF-8 are replaced before the comparison.
function holdsText(request: HookRequest, text: string): boolean {
  const wanted = text.toLowerCase();
  if (request.headers.some(pair => pair.join(': ').toLowerCase().includes(wanted))) return true;
  return Buffer.from(request.body).toString('utf8').toLowerCase().includes(wanted);
}
