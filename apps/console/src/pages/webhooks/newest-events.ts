import type { EventRow } from './queries.ts';

type EventPage = { data: EventRow[]; next_cursor: string | null };
export type EventPages = { pages: EventPage[]; pageParams: (string | undefined)[] };

/** The loaded pages with the newest events in front, and with the newest state of those that are in both. */
export function withNewest(loaded: EventPages, newest: EventPage): EventPages {
  const [first, ...others] = loaded.pages;
  const known = new Set(loaded.pages.flatMap(page => page.data.map(row => row.eventId)));
  const isFresh = !newest.data.some(row => known.has(row.eventId));
  // So many are new that there may be others in between: the list begins again.
  if (first === undefined || (isFresh && newest.next_cursor !== null))
    return { pages: [newest], pageParams: [undefined] };
  const changed = new Map(newest.data.map(row => [row.eventId, row]));
  const update = (page: EventPage): EventPage =>
    page.data.some(row => changed.has(row.eventId))
      ? { ...page, data: page.data.map(row => changed.get(row.eventId) ?? row) }
      : page;
  const added = newest.data.filter(row => !known.has(row.eventId));
  const updated = update(first);
  return { ...loaded, pages: [{ ...updated, data: [...added, ...updated.data] }, ...others.map(update)] };
}
