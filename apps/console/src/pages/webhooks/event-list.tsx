import { Button, Card, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlayerPause, IconPlayerPlay, IconRefresh } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { complain } from '../../components/complaint.ts';
import { Confirm } from '../../components/confirm.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Failure } from '../../components/failure.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { TextLink } from '../../components/text-link.tsx';
import { client } from '../../queries/api.ts';
import { useLive } from '../../queries/live.ts';
import { useAddressText } from '../../text/address-text.ts';
import { formatAgo, formatBytes, formatDuration, formatTime } from '../../text/format.ts';
import { type EventStatus, eventStatuses, type SourceSearch } from './address.ts';

const route = getRouteApi('/inside/webhooks/$source');
const unsettled = new Set<EventStatus>(['received', 'processing', 'retrying']);

const instantOf = (local: string | undefined): string | undefined =>
  local === undefined ? undefined : new Date(local).toISOString();

// The newest first, and new ones as they arrive.
export function WebhookEvents({ sourceId }: { sourceId: string }) {
  const queries = useQueryClient();
  const { status, q = '', from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: SourceSearch) =>
    void navigate({ search: before => ({ ...before, ...part }), replace: true });
  const [text, setText] = useAddressText(q, next => change({ q: next }));
  const [isPaused, setIsPaused] = useState(false);
  const search = q.length > 1 ? q : undefined;
  const events = useInfiniteQuery({
    queryKey: ['events', sourceId, status, search, from, to],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }) => {
      const range = { from: instantOf(from), to: instantOf(to) };
      const filter = { status, q: search, cursor, ...range };
      const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
      return (await client.webhooks.listEvents({ sourceId, limit: 50, ...given })).data;
    },
    getNextPageParam: page => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // The stream announces arrivals, but not one before it was open; what becomes of them is asked for until it is
    // settled.
    refetchInterval: ({ state }) =>
      isPaused ? false : state.data?.pages[0]?.data.some(one => unsettled.has(one.status)) ? 2_000 : 10_000,
  });
  useLive(
    `tail ${sourceId}`,
    options => client.webhooks.tailEvents({ sourceId }, options),
    () => {
      if (!isPaused) void queries.invalidateQueries({ queryKey: ['events', sourceId] });
      void queries.invalidateQueries({ queryKey: ['webhook-analytics'] });
    },
  );
  const resume = () => {
    setIsPaused(!isPaused);
    if (isPaused) void events.refetch();
  };
  const rows = events.data?.pages.flatMap(page => page.data) ?? [];
  const isFiltered = status !== undefined || search !== undefined || from !== undefined || to !== undefined;
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="end">
        <Group align="end" gap="xs">
          <TextInput
            label="Search"
            placeholder="Text in headers or body"
            data-search
            value={text}
            onChange={event => setText(event.currentTarget.value)}
          />
          <Select
            label="Status"
            placeholder="Any"
            clearable
            clearButtonProps={{ 'aria-label': 'Any status' }}
            data={eventStatuses}
            value={status ?? null}
            onChange={value => change({ status: (value ?? undefined) as EventStatus | undefined })}
            w={140}
          />
          <TextInput
            label="From"
            type="datetime-local"
            value={from ?? ''}
            onChange={event => change({ from: event.currentTarget.value || undefined })}
          />
          <TextInput
            label="To"
            type="datetime-local"
            value={to ?? ''}
            onChange={event => change({ to: event.currentTarget.value || undefined })}
          />
        </Group>
        <Group gap="xs">
          <Button
            variant="default"
            leftSection={isPaused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
            onClick={resume}
          >
            {isPaused ? 'Resume updates' : 'Pause updates'}
          </Button>
          <ReplayFailed sourceId={sourceId} />
        </Group>
      </Group>
      {events.error && <Failure error={events.error} onRetry={() => events.refetch()} />}
      {!(events.error && rows.length === 0) && (
        <Card withBorder>
          {events.isPending ? (
            <Text c="dimmed">Loading…</Text>
          ) : (
            <DataTable
              label="Events"
              rows={rows}
              keyOf={row => row.eventId}
              minWidth={720}
              empty={
                isFiltered
                  ? 'No events match. Change or clear the filters.'
                  : 'No events yet. Send a test event: it shows up here at once.'
              }
              columns={[
                {
                  label: 'Received',
                  show: row => (
                    <span className="stak-nowrap" title={formatTime(row.receivedAt)}>
                      {formatAgo(row.receivedAt)}
                    </span>
                  ),
                },
                { label: 'Status', show: row => <StatusBadge status={row.status} /> },
                {
                  label: 'Event',
                  show: row => (
                    <TextLink
                      to="/webhooks/$source/events/$event"
                      params={{ source: sourceId, event: row.eventId }}
                      className="stak-mono stak-nowrap"
                    >
                      {row.eventId}
                    </TextLink>
                  ),
                },
                { label: 'Method', show: row => row.method },
                { label: 'Content type', show: row => row.contentType ?? '–' },
                { label: 'Size', show: row => formatBytes(row.size), isNumber: true },
                {
                  label: 'Delivered in',
                  show: row =>
                    row.deliveredAt === undefined ? '–' : formatDuration(row.deliveredAt - row.receivedAt),
                  isNumber: true,
                },
              ]}
            />
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
            Older events
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const jobPollMs = 1_000;

function ReplayFailed({ sourceId }: { sourceId: string }) {
  const queries = useQueryClient();
  const replay = useMutation({
    mutationFn: async () => {
      const { data } = await client.webhooks.createJob({
        sourceId,
        body: { action: 'replay', status: 'failed' },
      });
      for (let job = data; ; job = (await client.webhooks.readJob({ jobId: job.jobId })).data) {
        if (job.state !== 'running') return job;
        await new Promise(resolve => setTimeout(resolve, jobPollMs));
      }
    },
    onSuccess: ({ matched, deliveries, state }) => {
      notifications.show({
        color: state === 'done' ? undefined : 'red',
        message:
          matched === 0
            ? 'There are no failed events.'
            : `Replayed ${matched} failed ${matched === 1 ? 'event' : 'events'}: ${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'}.`,
      });
      return queries.invalidateQueries({ queryKey: ['events', sourceId] });
    },
    onError: complain,
  });
  return (
    <Confirm
      title="Replay all failed events?"
      text="Every failed event of this source is delivered again to all of its connections. Destinations may see some of them twice."
      button="Replay"
      onConfirm={() => replay.mutate()}
    >
      {ask => (
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} />}
          loading={replay.isPending}
          onClick={ask}
        >
          Replay all failed
        </Button>
      )}
    </Confirm>
  );
}
