// The state of the webhook pages is in their URLs, so that back, reload and a second window keep it.

const sourceTabs = ['events', 'connections', 'analytics', 'settings'] as const;
export type SourceTab = (typeof sourceTabs)[number];

export const eventStatuses = [
  'received',
  'processing',
  'retrying',
  'delivered',
  'partial',
  'failed',
  'filtered',
  'rejected',
] as const;
export type EventStatus = (typeof eventStatuses)[number];

export const spans = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
export type Span = keyof typeof spans;

export const eventTabs = ['received', 'headers', 'sent', 'changes'] as const;
export type EventTab = (typeof eventTabs)[number];

/** The filters of a list of events, and the event open beside it. */
export type EventsSearch = {
  source?: string;
  status?: EventStatus;
  connection?: string;
  type?: string;
  where?: string; // body.path = value
  q?: string;
  last?: Span;
  from?: string; // local times, such as 2026-11-15T09:30
  to?: string;
  event?: string;
  view?: EventTab;
};

export type SourceSearch = Omit<EventsSearch, 'source'> & {
  tab?: SourceTab;
  days?: number;
};

// The router parses a search for digits as a number.
const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;
const momentOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text !== undefined && !Number.isNaN(Date.parse(text)) ? text : undefined;
};
const daysOf = (value: unknown): number | undefined => [7, 14, 30, 90].find(count => count === Number(value));
const known = <T extends object>(read: T): T =>
  Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as T;

export const readEventsSearch = (search: Record<string, unknown>): EventsSearch =>
  known({
    source: textOf(search.source),
    status: eventStatuses.find(eventStatus => eventStatus === search.status),
    connection: textOf(search.connection),
    type: textOf(search.type),
    where: textOf(search.where),
    q: textOf(search.q),
    last: (Object.keys(spans) as Span[]).find(one => one === search.last),
    from: momentOf(search.from),
    to: momentOf(search.to),
    event: textOf(search.event),
    view: eventTabs.find(eventTab => eventTab === search.view),
  });

export const readSourceSearch = (search: Record<string, unknown>): SourceSearch => {
  const { source: _, ...events } = readEventsSearch(search);
  return known({
    ...events,
    tab: sourceTabs.find(sourceTab => sourceTab === search.tab),
    days: daysOf(search.days),
  });
};

export type EventSearch = { view?: EventTab };
export const readEventSearch = ({ view }: Record<string, unknown>): EventSearch =>
  known({ view: eventTabs.find(eventTab => eventTab === view) });

export type DaysSearch = { days?: number };
export const readDaysSearch = (search: Record<string, unknown>): DaysSearch =>
  known({ days: daysOf(search.days) });

export type SourcesSearch = { create?: true };
export const readSourcesSearch = (search: Record<string, unknown>): SourcesSearch =>
  search.create === true ? { create: true } : {};

export type ConnectionsSearch = { source?: string; status?: string };
export const readConnectionsSearch = (search: Record<string, unknown>): ConnectionsSearch =>
  known({ source: textOf(search.source), status: textOf(search.status) });
