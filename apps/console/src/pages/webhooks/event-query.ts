import { client } from '../../queries/api.ts';
import { type EventsSearch, spans } from './address.ts';
import { isCondition } from './event-filters.tsx';

const instantOf = (local: string | undefined): string | undefined =>
  local === undefined ? undefined : new Date(local).toISOString();

/** The API query for the filters of a list. */
export function eventQuery({ status, connection, type, where, q, last, from, to }: EventsSearch) {
  const query = {
    status,
    connectionId: connection,
    type,
    where: where !== undefined && isCondition(where) ? where : undefined,
    q: q !== undefined && q.length > 1 ? q : undefined,
    from: last === undefined ? instantOf(from) : new Date(Date.now() - spans[last]).toISOString(),
    to: last === undefined ? instantOf(to) : undefined,
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

export async function readPage(
  sourceId: string | undefined,
  search: EventsSearch,
  cursor: string | undefined,
  limit: number,
) {
  const page = { limit, ...eventQuery(search), ...(cursor !== undefined && { cursor }) };
  return sourceId === undefined
    ? (await client.webhooks.listAllEvents(page)).data
    : (await client.webhooks.listEvents({ sourceId, ...page })).data;
}
