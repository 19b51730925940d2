import { describe, expect, it } from 'vitest';
import { withNewest } from './newest-events.ts';
import type { EventRow } from './queries.ts';

const row = (eventId: string, status = 'delivered') => ({ eventId, status }) as EventRow;
const page = (rows: EventRow[], next_cursor: string | null = 'more') => ({ data: rows, next_cursor });
const loaded = {
  pages: [page([row('e4'), row('e3', 'retrying')]), page([row('e2'), row('e1')], null)],
  pageParams: [undefined, 'more'],
};
const idsOf = ({ pages }: { pages: { data: EventRow[] }[] }) =>
  pages.map(({ data }) => data.map(({ eventId }) => eventId));

describe('the newest events', () => {
  it('come in front of those that are loaded, which get their newest state', () => {
    const merged = withNewest(loaded, page([row('e5'), row('e4'), row('e3')]));
    expect(idsOf(merged)).toEqual([
      ['e5', 'e4', 'e3'],
      ['e2', 'e1'],
    ]);
    expect(merged.pages[0]!.data.at(-1)!.status).toBe('delivered');
    expect(merged.pages[1]).toBe(loaded.pages[1]); // what has not changed stays the same
    expect(merged.pageParams).toEqual(loaded.pageParams);
  });

  it('begin the list again if there may be others in between', () => {
    expect(idsOf(withNewest(loaded, page([row('e9'), row('e8')])))).toEqual([['e9', 'e8']]);
    const whole = withNewest({ pages: [page([], null)], pageParams: [undefined] }, page([row('e1')], null));
    expect(idsOf(whole)).toEqual([['e1']]);
  });
});
