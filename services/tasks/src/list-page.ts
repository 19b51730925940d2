import { cursorRefused, type Page } from '@stak/http';
import { todayIn } from './calendar.ts';
import { readTally } from './commit.ts';
import { refuseCursor, type Services } from './deps.ts';
import { type Filter, parseFilter } from './filter.ts';
import { completeList, type ListPosition, planList, readLegs, type Sort } from './list.ts';
import { type Summary, showSummary, showTask, type WireTask } from './schema.ts';

export type Listing = Pick<Services, 'store' | 'clock' | 'cursors'>;
export type ListQuery = {
  limit: number;
  cursor?: string;
  filter?: string;
  sort?: Sort;
  order?: 'asc' | 'desc';
  view?: 'summary' | 'full';
};

export async function listTasks(
  services: Listing,
  user_id: string,
  query: ListQuery,
): Promise<Page<WireTask | Summary>> {
  const { limit, sort, order = 'asc', view = 'summary' } = query;
  const context = { store: services.store, user_id };
  const filter = await filterOf(services, user_id, query.filter ?? '');
  const legs = planList(context, { filter, sort, newestFirst: order === 'desc' });
  const bound = ['start of a query', user_id, query.filter ?? '', sort ?? null, order];
  try {
    const start = query.cursor === undefined ? undefined : positionIn(services, query.cursor, legs, bound);
    const { items, next } = await readLegs(legs, limit, start);
    const data =
      view === 'full' ? (await completeList(context, items, filter)).map(showTask) : items.map(showSummary);
    return { data, next_cursor: next ? positionText(services, next, bound) : null };
  } catch (error) {
    return refuseCursor(error);
  }
}

// Which day it is depends on where the user is.
async function filterOf(services: Listing, user_id: string, text: string): Promise<Filter> {
  if (text === '') return [];
  const settings = await readTally(services, user_id, false);
  return parseFilter(text, todayIn(settings?.time_zone ?? 'UTC', services.clock.now()));
}

// Where a list goes on, as text. The cursor of a query is sealed already, for its user and for that query alone, so
// the number of the query stands before it in the open: under another number it does not open. Only the start of a
// query has nothing of its own, and is sealed here.
const withinQuery = /^(\d{1,3})\.(.+)$/;

const positionText = ({ cursors }: Listing, { leg, cursor }: ListPosition, bound: readonly unknown[]) =>
  cursor === undefined ? cursors.seal({ leg }, bound) : `${leg}.${cursor}`;

function positionIn(
  { cursors }: Listing,
  text: string,
  legs: readonly unknown[],
  bound: readonly unknown[],
): ListPosition {
  const [, leg, cursor] = withinQuery.exec(text) ?? [];
  if (cursor === undefined) return cursors.open(text, bound) as ListPosition;
  if (Number(leg) >= legs.length) throw cursorRefused();
  return { leg: Number(leg), cursor };
}
