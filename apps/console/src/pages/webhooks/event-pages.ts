import {
  keepPreviousData,
  type Query,
  type QueryClient,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { client } from '../../queries/api.ts';
import { useLive } from '../../queries/live.ts';
import { idleMs, paced } from '../../queries/pace.ts';
import type { EventStatus, EventsSearch } from './address.ts';
import { readPage } from './event-query.ts';
import { type EventPages, withNewest } from './newest-events.ts';

export const unsettled = new Set<EventStatus>(['received', 'processing', 'retrying']);
const pageRows = 100;
const pollMs = 2_000; // while deliveries are on their way
const quietPollMs = 10_000;
const watchedPollMs = 30_000; // of a page that nobody touches, but may watch: several sources have no stream
const refreshedPages = 4; // read again as a whole while they have deliveries on their way

/** Reads a list again, unless it has become so long that only its newest events are. */
export async function refreshEvents(queries: QueryClient, sourceId: string): Promise<void> {
  const isShort = ({ state }: Query) => ((state.data as EventPages)?.pages.length ?? 0) <= refreshedPages;
  await queries.invalidateQueries({ queryKey: ['event-pages', sourceId], predicate: isShort });
  await queries.invalidateQueries({ queryKey: ['events', sourceId] });
}

/**
 * The newest events, kept up to date unless the list is paused. Only the newest page is read again and again, however
 * long the list has become.
 */
export function useEvents(sourceId: string | undefined, filters: EventsSearch) {
  const queries = useQueryClient();
  const [isPaused, setIsPaused] = useState(false);
  const of = sourceId ?? 'all';
  const pagesKey = ['event-pages', of, filters];
  const newestKey = ['events', of, filters];
  const events = useInfiniteQuery({
    queryKey: pagesKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => readPage(sourceId, filters, pageParam, pageRows),
    getNextPageParam: page => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => {
      const { pages = [] } = state.data ?? {};
      const isOlderOpen = pages.slice(1).some(page => page.data.some(row => unsettled.has(row.status)));
      return !isPaused && isOlderOpen && pages.length <= refreshedPages && paced(quietPollMs)();
    },
  });
  const newest = useQuery({
    queryKey: newestKey,
    queryFn: () => readPage(sourceId, filters, undefined, pageRows),
    // While paused, a focus or a replay reloads nothing either. Other filters still load another list.
    enabled: !isPaused && events.data !== undefined && !events.isPlaceholderData,
    refetchInterval: ({ state }) => {
      const isOpen = state.data?.data.some(row => unsettled.has(row.status)) ?? false;
      return paced(isOpen ? pollMs : quietPollMs, sourceId === undefined ? watchedPollMs : idleMs)();
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key changes with the answer that it belongs to
  useEffect(() => {
    if (newest.data !== undefined)
      queries.setQueryData<EventPages>(pagesKey, before => before && withNewest(before, newest.data));
  }, [newest.data, queries]);
  useLive(
    sourceId === undefined ? undefined : `tail ${sourceId}`,
    options => client.webhooks.tailEvents({ sourceId: sourceId! }, options),
    () => {
      void queries.invalidateQueries({ queryKey: ['events', of] });
      void queries.invalidateQueries({ queryKey: ['webhook-analytics'] });
    },
  );
  const togglePause = () => {
    setIsPaused(!isPaused);
    if (isPaused) void newest.refetch();
  };
  const rows = useMemo(() => events.data?.pages.flatMap(page => page.data) ?? [], [events.data]);
  return { events, rows, isPaused, togglePause };
}
