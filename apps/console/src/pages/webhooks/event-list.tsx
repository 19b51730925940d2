import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { useHotkeys, useMediaQuery } from '@mantine/hooks';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, type RefObject, useCallback, useRef, useState } from 'react';
import type { LongTableHandle } from '../../components/display/long-table.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loading } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { useMay } from '../../queries/permissions.ts';
import type { EventsSearch } from './address.ts';
import { EventDetail } from './event-detail.tsx';
import { EventExport } from './event-export.tsx';
import { EventFilters, isFiltered, noFilters, SavedViews } from './event-filters.tsx';
import { EventHistogram } from './event-histogram.tsx';
import { useEvents } from './event-pages.ts';
import { ReplayMany, useReplayEvent } from './event-replay.tsx';
import { EventSelection } from './event-selection.tsx';
import { type Chosen, EventTable } from './event-table.tsx';
import type { EventRow } from './queries.ts';

type Props = {
  title?: ReactNode; // beside the buttons, if the list is the whole page
  sourceId?: string; // none for all sources
  search: EventsSearch;
  change: (part: Partial<EventsSearch>) => void;
};

function useChosen(rows: readonly EventRow[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const chosen: Chosen = {
    ids,
    toggle: eventId =>
      setIds(before => {
        const after = new Set(before);
        if (!after.delete(eventId)) after.add(eventId);
        return after;
      }),
    toggleAll: () => setIds(ids.size === rows.length ? new Set() : new Set(rows.map(row => row.eventId))),
  };
  return { chosen, clear: () => setIds(new Set()) };
}

type KeyDeps = {
  rows: readonly EventRow[];
  openId: string | undefined;
  table: RefObject<LongTableHandle | null>;
  onOpen: (row: EventRow) => void;
  onClose: () => void;
  onToggle: (eventId: string) => void;
};

/** j and k move between events, Enter opens one, x chooses it, r replays it, Escape returns to the list. */
function useEventKeys({ rows, openId, table, onOpen, onClose, onToggle }: KeyDeps): string | undefined {
  const [markedId, setMarkedId] = useState<string>();
  const replay = useReplayEvent();
  const at = rows.findIndex(row => row.eventId === (openId ?? markedId));
  const step = (by: number) => {
    const row = rows[at === -1 ? 0 : at + by];
    if (row === undefined) return;
    setMarkedId(row.eventId);
    table.current?.show(rows.indexOf(row));
    if (openId !== undefined) onOpen(row);
  };
  const act = (what: (row: EventRow) => void) => {
    const row = rows[at];
    if (row !== undefined) what(row);
  };
  useHotkeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
    ['Enter', event => !isControl(event.target) && act(onOpen), { preventDefault: false }],
    ['x', () => act(row => onToggle(row.eventId))],
    ['r', () => act(row => replay.mutate(row.eventId))],
    ['Escape', () => openId !== undefined && onClose()],
  ]);
  return markedId;
}

// It has its own meaning of Enter.
const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, input, [role=dialog]') !== null;

/** The newest events first, and new ones as they arrive. On a wide screen, one of them is shown beside the list. */
export function EventList({ title, sourceId: ofPage, search, change }: Props) {
  const sourceId = ofPage ?? search.source;
  const { event: openId, view, ...filters } = search;
  const { events, rows, isPaused, togglePause } = useEvents(sourceId, filters);
  const { chosen, clear } = useChosen(rows);
  const may = useMay();
  const navigate = useNavigate();
  const table = useRef<LongTableHandle>(null);
  const isWide = useMediaQuery('(min-width: 75em)', true, { getInitialValueInEffect: false });
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const close = () => change({ event: undefined, view: undefined });
  const open = (row: EventRow) =>
    isWide
      ? change({ event: row.eventId, view: undefined })
      : void navigate({
          to: '/webhooks/$source/events/$event',
          params: { source: row.sourceId, event: row.eventId },
        });
  const keys = { rows, openId, table, onOpen: open, onClose: close, onToggle: chosen.toggle };
  const markedId = useEventKeys(keys);
  const opened = openId === undefined ? undefined : rows.find(row => row.eventId === openId);
  const hasPane = isWide && openId !== undefined;
  const isAlone = !isWide && openId !== undefined; // a link copied from a wide screen, opened on a phone
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = events;
  // A search may have to read very many events for one that matches, so it goes on only when it is asked to.
  const loadsMore = hasNextPage && !isFetchingNextPage && !isFiltered(filters);
  const loadMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        {title}
        <Group gap="xs" ml="auto" display={isAlone ? 'none' : undefined}>
          <SavedViews search={search} change={change} />
          <Button
            variant="default"
            leftSection={isPaused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
            onClick={togglePause}
          >
            {isPaused ? 'Resume updates' : 'Pause updates'}
          </Button>
          <EventExport sourceId={sourceId} search={filters} />
          {sourceId !== undefined && (
            <Permitted to="webhooks.createJob">
              <ReplayMany sourceId={sourceId} rows={rows} search={filters} />
            </Permitted>
          )}
        </Group>
      </Group>
      {!isAlone && <EventFilters sourceId={ofPage} search={search} change={change} />}
      {events.error && <Failure error={events.error} onRetry={() => events.refetch()} />}
      <div className={hasPane ? 'stak-beside' : undefined}>
        <Stack gap="sm" miw={0} display={isAlone ? 'none' : undefined}>
          {!(events.error && rows.length === 0) && (
            <Card withBorder>
              {events.isPending ? (
                <Loading />
              ) : rows.length === 0 ? (
                <Text size="sm" c="dimmed">
                  {isFiltered(filters)
                    ? 'No events match.'
                    : 'No events yet. Send a test event: it appears here immediately.'}
                </Text>
              ) : (
                <>
                  <EventHistogram rows={rows} onRange={change} />
                  <EventSelection rows={rows.filter(row => chosen.ids.has(row.eventId))} onClear={clear} />
                  <EventTable
                    rows={rows}
                    isNarrow={hasPane || isPhone}
                    hasSource={sourceId === undefined}
                    openId={hasPane ? openId : undefined}
                    markedId={markedId}
                    chosen={may('webhooks.createJob') && !isPhone ? chosen : undefined}
                    onOpen={open}
                    opensBeside={isWide}
                    onEnd={loadsMore ? loadMore : undefined}
                    handle={table}
                  />
                </>
              )}
              {rows.length === 0 && isFiltered(filters) && !events.isPending && (
                <Group mt="sm">
                  <Button variant="default" size="xs" onClick={() => change(noFilters)}>
                    Clear the filters
                  </Button>
                </Group>
              )}
            </Card>
          )}
          {hasNextPage && (
            <Group justify="center">
              <Button variant="default" loading={isFetchingNextPage} onClick={loadMore}>
                {rows.length === 0 ? 'Search older events' : 'Older events'}
              </Button>
            </Group>
          )}
        </Stack>
        {(hasPane || isAlone) && (
          <Card withBorder component="aside" aria-label="Event" className={hasPane ? 'stak-pane' : undefined}>
            <EventDetail
              key={openId}
              sourceId={opened?.sourceId ?? sourceId}
              eventId={openId}
              view={view}
              onView={next => change({ view: next })}
              onClose={close}
            />
          </Card>
        )}
      </div>
    </Stack>
  );
}
