import { Button, Card, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconRefresh } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api.ts';
import { complain } from '../complaint.ts';
import { DataTable } from '../data-table.tsx';
import { Failure } from '../failure.tsx';
import { formatAgo, formatBytes, formatTime } from '../format.ts';
import { useLive } from '../live.ts';
import { StatusBadge } from '../status-badge.tsx';
import { TextLink } from '../text-link.tsx';

const statuses = [
  'received',
  'processing',
  'retrying',
  'delivered',
  'partial',
  'failed',
  'filtered',
  'rejected',
] as const;
type Status = (typeof statuses)[number];
const unsettled = new Set<Status>(['received', 'processing', 'retrying']);

// The newest first, and new ones as they come.
export function WebhookEvents({ sourceId }: { sourceId: string }) {
  const queries = useQueryClient();
  const [status, setStatus] = useState<Status | null>(null);
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim(), 300);
  const events = useInfiniteQuery({
    queryKey: ['events', sourceId, status, q],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }) => {
      const filter = { ...(status && { status }), ...(q.length > 1 && { q }), ...(cursor && { cursor }) };
      return (await client.webhooks.listEvents({ sourceId, limit: 50, ...filter })).data;
    },
    getNextPageParam: page => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // The stream tells of arrivals, but not of one before it was open; what becomes of them is asked for until it is
    // settled.
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.data.some(one => unsettled.has(one.status)) ? 2_000 : 10_000,
  });
  useLive(
    `tail ${sourceId}`,
    options => client.webhooks.tailEvents({ sourceId }, options),
    () => {
      void queries.invalidateQueries({ queryKey: ['events', sourceId] });
      void queries.invalidateQueries({ queryKey: ['webhook-analytics'] });
    },
  );
  const rows = events.data?.pages.flatMap(page => page.data) ?? [];
  const isFiltered = status !== null || q.length > 1;
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="end">
        <Group align="end">
          <TextInput
            label="Search"
            placeholder="Text in headers or body"
            value={text}
            onChange={event => setText(event.currentTarget.value)}
          />
          <Select
            label="Status"
            placeholder="Any"
            clearable
            clearButtonProps={{ 'aria-label': 'Any status' }}
            data={statuses}
            value={status}
            onChange={value => setStatus(value as Status | null)}
            w={150}
          />
        </Group>
        <ReplayMany sourceId={sourceId} />
      </Group>
      {events.error && <Failure error={events.error} onRetry={() => events.refetch()} />}
      <Card withBorder>
        {events.isPending ? (
          <Text c="dimmed">Looking…</Text>
        ) : events.error && rows.length === 0 ? (
          <Text c="dimmed">Nobody knows what has arrived.</Text>
        ) : (
          <DataTable
            label="Events"
            rows={rows}
            keyOf={row => row.eventId}
            empty={
              isFiltered
                ? 'No event is like this.'
                : 'Nothing has arrived yet. Run the command above: the event shows up here at once.'
            }
            columns={[
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
              { label: 'Type', show: row => row.contentType ?? '–' },
              { label: 'Size', show: row => formatBytes(row.size), isNumber: true },
              {
                label: 'Received',
                show: row => <span title={formatTime(row.receivedAt)}>{formatAgo(row.receivedAt)}</span>,
              },
            ]}
          />
        )}
      </Card>
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

function ReplayMany({ sourceId }: { sourceId: string }) {
  const queries = useQueryClient();
  const replay = useMutation({
    mutationFn: () => client.webhooks.createJob({ sourceId, body: { action: 'replay', status: 'failed' } }),
    onSuccess: () => {
      notifications.show({ message: 'All failed events of this source are delivered again.' });
      return queries.invalidateQueries({ queryKey: ['events', sourceId] });
    },
    onError: complain,
  });
  return (
    <Button
      variant="default"
      leftSection={<IconRefresh size={16} />}
      loading={replay.isPending}
      onClick={() => replay.mutate()}
    >
      Replay all failed
    </Button>
  );
}
