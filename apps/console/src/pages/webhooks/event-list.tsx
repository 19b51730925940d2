import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { useHotkeys, useMediaQuery } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { csvLine } from '@stak/kit/csv';
import { IconDownload, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { Loading } from '../../components/feedback/loaded.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { saveFile } from '../../components/fields/saved-file.ts';
import { useAction } from '../../queries/actions.ts';
import { client } from '../../queries/api.ts';
import { useLive } from '../../queries/live.ts';
import { formatAgo, formatDuration, formatNumber, formatTime } from '../../text/format.ts';
import type { EventStatus, EventsSearch } from './address.ts';
import { EventDetail } from './event-detail.tsx';
import { EventFilters, isFiltered, noFilters, SavedViews } from './event-filters.tsx';
import { readPage } from './event-query.ts';
import { ReplayMany } from './event-replay.tsx';
import { EventStatusBadge } from './event-status.tsx';
import { type EventRow, useSources } from './queries.ts';

const unsettled = new Set<EventStatus>(['received', 'processing', 'retrying']);
const exportedMost = 5_000; // rows of a file that is assembled in the browser

type Props = {
  title?: ReactNode; // beside the buttons, if the list is the whole page
  sourceId?: string; // none for all sources
  search: EventsSearch;
  change: (part: Partial<EventsSearch>) => void;
};

// The newest events, kept up to date unless the list is paused.
function useEvents(sourceId: string | undefined, filters: EventsSearch) {
  const queries = useQueryClient();
  const [isPaused, setIsPaused] = useState(false);
  const key = ['events', sourceId ?? 'all'];
  const events = useInfiniteQuery({
    queryKey: [...key, filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => readPage(sourceId, filters, pageParam, 50),
    getNextPageParam: page => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // While paused, a focus or a replay reloads nothing either. Other filters still load another list.
    enabled: ({ state }) => !isPaused || state.data === undefined,
    // The stream announces new events, but none from before it opened. The list polls until their deliveries are
    // settled.
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.data.some(one => unsettled.has(one.status)) ? 2_000 : 10_000,
  });
  useLive(
    sourceId === undefined ? undefined : `tail ${sourceId}`,
    options => client.webhooks.tailEvents({ sourceId: sourceId! }, options),
    () => {
      void queries.invalidateQueries({ queryKey: key });
      void queries.invalidateQueries({ queryKey: ['webhook-analytics'] });
    },
  );
  const togglePause = () => {
    setIsPaused(!isPaused);
    if (isPaused) void events.refetch();
  };
  return { events, rows: events.data?.pages.flatMap(page => page.data) ?? [], isPaused, togglePause };
}

// j and k move between events, Escape returns to the list.
function useEventKeys(rows: readonly EventRow[], openId: string | undefined, change: Props['change']): void {
  const step = (by: number) => {
    const at = rows.findIndex(row => row.eventId === openId);
    const next = rows[at === -1 ? 0 : at + by];
    if (next) change({ event: next.eventId });
  };
  useHotkeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
    ['Escape', () => openId !== undefined && change({ event: undefined, view: undefined })],
  ]);
}

/** The newest events first, and new ones as they arrive. On a wide screen, one of them is shown beside the list. */
export function EventList({ title, sourceId: ofPage, search, change }: Props) {
  const sourceId = ofPage ?? search.source;
  const { event: openId, view, ...filters } = search;
  const { events, rows, isPaused, togglePause } = useEvents(sourceId, filters);
  useEventKeys(rows, openId, change);
  const isWide = useMediaQuery('(min-width: 75em)', true, { getInitialValueInEffect: false });
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const opened = openId === undefined ? undefined : rows.find(row => row.eventId === openId);
  const hasPane = isWide && openId !== undefined;
  const isAlone = !isWide && openId !== undefined; // a link copied from a wide screen, opened on a phone
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
          <Export sourceId={sourceId} search={filters} />
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
              ) : (
                <EventTable
                  rows={rows}
                  isNarrow={hasPane || isPhone}
                  hasSource={sourceId === undefined}
                  openId={hasPane ? openId : undefined}
                  onOpen={isWide ? event => change({ event, view: undefined }) : undefined}
                  empty={
                    isFiltered(filters)
                      ? 'No events match.'
                      : 'No events yet. Send a test event: it appears here immediately.'
                  }
                />
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
          {events.hasNextPage && (
            <Group justify="center">
              <Button
                variant="default"
                loading={events.isFetchingNextPage}
                onClick={() => events.fetchNextPage()}
              >
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
              onClose={() => change({ event: undefined, view: undefined })}
            />
          </Card>
        )}
      </div>
    </Stack>
  );
}

type TableProps = {
  rows: readonly EventRow[];
  isNarrow: boolean;
  hasSource: boolean;
  openId: string | undefined;
  onOpen: ((eventId: string) => void) | undefined; // undefined if an event opens as its own page
  empty: string;
};

// Only of attempted deliveries: the time until a filter rejected an event means nothing.
const durationOf = ({ status, attempts, receivedAt, deliveredAt, processedAt }: EventRow): string => {
  if (attempts === 0) return '–';
  const endedAt = deliveredAt ?? (unsettled.has(status) ? undefined : processedAt);
  return endedAt === undefined ? '–' : formatDuration(endedAt - receivedAt);
};

function EventTable({ rows, isNarrow, hasSource, openId, onOpen, empty }: TableProps) {
  const { data: sources = [] } = useSources();
  const navigate = useNavigate();
  const nameOf = (sourceId: string) => sources.find(source => source.sourceId === sourceId)?.name ?? sourceId;
  const time = {
    label: 'Time',
    show: (row: EventRow) => (
      <span className="stak-nowrap" title={formatTime(row.receivedAt)}>
        {formatAgo(row.receivedAt)}
      </span>
    ),
  };
  const source = { label: 'Source', show: (row: EventRow) => nameOf(row.sourceId) };
  const type = {
    label: 'Type',
    show: (row: EventRow) => <span className="stak-mono">{row.eventType ?? '–'}</span>,
  };
  const id = {
    label: 'Event',
    show: (row: EventRow) => (
      <TextLink
        to="/webhooks/$source/events/$event"
        params={{ source: row.sourceId, event: row.eventId }}
        className="stak-mono stak-nowrap"
        aria-current={row.eventId === openId ? 'true' : undefined}
        fw={row.eventId === openId ? 700 : undefined}
        onClick={click => {
          // Opening in a new tab uses the event's own page.
          if (!onOpen || click.ctrlKey || click.metaKey || click.shiftKey) return;
          click.preventDefault();
          onOpen(row.eventId);
        }}
      >
        {row.eventId}
      </TextLink>
    ),
  };
  // Beside an open event and on a phone, only one column of names fits.
  const named = {
    label: 'Event',
    show: (row: EventRow) => (
      <>
        <Text size="sm" fw={600} truncate>
          {row.eventType ?? 'No type'}
        </Text>
        {id.show(row)}
      </>
    ),
    isTitle: true,
  };
  const status = { label: 'Status', show: (row: EventRow) => <EventStatusBadge event={row} /> };
  const figures = [
    { label: 'Attempts', show: (row: EventRow) => row.attempts, isNumber: true },
    { label: 'Duration', show: durationOf, isNumber: true },
  ];
  return (
    <DataTable
      label="Events"
      rows={rows}
      keyOf={row => row.eventId}
      isCurrent={row => row.eventId === openId}
      onRow={row =>
        onOpen
          ? onOpen(row.eventId)
          : void navigate({
              to: '/webhooks/$source/events/$event',
              params: { source: row.sourceId, event: row.eventId },
            })
      }
      minWidth={isNarrow ? 300 : 720}
      empty={empty}
      columns={
        isNarrow
          ? [time, named, status]
          : [time, ...(hasSource ? [source] : []), type, id, status, ...figures]
      }
    />
  );
}

// The filtered events, up to the limit of an export.
function Export({ sourceId, search }: { sourceId: string | undefined; search: EventsSearch }) {
  const save = useAction(
    async () => {
      const rows: EventRow[] = [];
      let isCut = true;
      for (let cursor: string | undefined; rows.length < exportedMost; ) {
        const page = await readPage(sourceId, search, cursor, 100);
        rows.push(...page.data);
        isCut = page.next_cursor !== null;
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
      const columns = ['received_at', 'event_id', 'source_id', 'type', 'status', 'attempts', 'bytes'];
      const cells = rows.map(row => [
        new Date(row.receivedAt).toISOString(),
        row.eventId,
        row.sourceId,
        row.eventType,
        row.status,
        row.attempts,
        row.size,
      ]);
      return { text: [columns, ...cells].map(csvLine).join(''), count: rows.length, isCut };
    },
    {
      onSuccess: ({ text, count, isCut }) => {
        saveFile('events.csv', text);
        if (isCut)
          notifications.show({
            color: 'yellow',
            title: `The file holds the newest ${formatNumber(count)} events`,
            message: 'There are more. Narrow the time to export the others.',
          });
      },
    },
  );
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      loading={save.isPending}
      onClick={() => save.mutate()}
    >
      Export CSV
    </Button>
  );
}
