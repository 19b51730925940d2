// What the pages of a source show, in their address: back, reload and a second window keep it.

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

export type SourceSearch = {
  tab?: SourceTab;
  status?: EventStatus;
  q?: string;
  from?: string; // moments, as the browser writes them: 2026-11-15T09:30
  to?: string;
  connection?: string; // the one that is edited, or `new`
  days?: number;
};

// A router reads numbers where somebody searched for digits.
const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;
const momentOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text !== undefined && !Number.isNaN(Date.parse(text)) ? text : undefined;
};

const daysOf = (value: unknown): number | undefined => [7, 14, 30, 90].find(count => count === Number(value));

export function readSourceSearch(search: Record<string, unknown>): SourceSearch {
  const read: SourceSearch = {
    tab: sourceTabs.find(one => one === search.tab),
    status: eventStatuses.find(one => one === search.status),
    q: textOf(search.q),
    from: momentOf(search.from),
    to: momentOf(search.to),
    connection: textOf(search.connection),
    days: daysOf(search.days),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

export type EventSearch = { tab?: 'headers' | 'sent' };
export const readEventSearch = ({ tab }: Record<string, unknown>): EventSearch =>
  tab === 'headers' || tab === 'sent' ? { tab } : {};

export type DaysSearch = { days?: number };
export function readDaysSearch(search: Record<string, unknown>): DaysSearch {
  const days = daysOf(search.days);
  return days === undefined ? {} : { days };
}
