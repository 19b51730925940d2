import { Button, Card, Code, Group, Stack, Tabs, Text, Timeline, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ApiTypes } from '@stak/client';
import { IconCheck, IconRefresh, IconX } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { complain } from '../../components/complaint.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { isMissing, Missing } from '../../components/nothing-here.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { TextLink } from '../../components/text-link.tsx';
import { client } from '../../queries/api.ts';
import { usePageTitle } from '../../shell/page-title.ts';
import { formatAgo, formatBytes, formatTime } from '../../text/format.ts';
import { readEventSearch } from './address.ts';
import { WebhookPayload } from './event-payload.tsx';
import { SentRequest } from './sent-request.tsx';

export type Event = ApiTypes['webhooks.readEvent']['data'];
type Attempt = Event['attempts'][number];

const route = getRouteApi('/inside/webhooks/$source/events/$event');
const isOpen = (event: Event | undefined): boolean =>
  event !== undefined &&
  (['received', 'processing', 'retrying'].includes(event.status) ||
    event.deliveries.some(one => one.state === 'pending' || one.state === 'retrying'));

export function WebhookEventPage() {
  const { source: sourceId, event: eventId } = route.useParams();
  const queries = useQueryClient();
  const event = useQuery({
    queryKey: ['event', eventId],
    queryFn: async () => (await client.webhooks.readEvent({ eventId })).data,
    refetchInterval: ({ state }) => (isOpen(state.data) ? 1_500 : false),
  });
  const names = useConnectionNames(sourceId);
  const { tab = 'payload' } = route.useSearch();
  const navigate = route.useNavigate();
  const source = useQuery({
    queryKey: ['source', sourceId],
    queryFn: async () => (await client.webhooks.readSource({ sourceId })).data,
  });
  usePageTitle(eventId, 'Events', source.data?.name);
  const replay = useMutation({
    mutationFn: () => client.webhooks.replayEvent({ eventId, body: {} }),
    onSuccess: ({ data }) => {
      notifications.show({
        message:
          data.deliveries === 0
            ? 'This source has no connections. Add one first.'
            : `Delivering again to ${data.deliveries} ${data.deliveries === 1 ? 'connection' : 'connections'}.`,
      });
      return queries.invalidateQueries({ queryKey: ['event', eventId] });
    },
    onError: complain,
  });
  if (isMissing(event.error))
    return (
      <Missing
        title="There is no such event"
        text="Events are deleted when the retention of your plan is over. It may also belong to another account."
      >
        <TextLink to="/webhooks/$source" params={{ source: sourceId }}>
          Go to the events of this source
        </TextLink>
      </Missing>
    );
  return (
    <Stack>
      <TextLink to="/webhooks/$source" params={{ source: sourceId }} size="sm">
        ← Events
      </TextLink>
      <Loaded query={event}>
        {data => (
          <>
            <Group justify="space-between">
              <Group gap="sm">
                <Title order={2} size="h3" className="stak-mono">
                  {data.eventId}
                </Title>
                <StatusBadge status={data.status} />
              </Group>
              <Button
                leftSection={<IconRefresh size={16} />}
                loading={replay.isPending}
                onClick={() => replay.mutate()}
              >
                Replay
              </Button>
            </Group>
            <Text size="sm" c="dimmed">
              {data.method} · {data.contentType ?? 'no content type'} · {formatBytes(data.size)} ·{' '}
              {formatTime(data.receivedAt)}
              {data.sourceIp !== undefined && ` · from ${data.sourceIp}`}
              {data.rejection !== undefined && ` · ${data.rejection}`}
            </Text>
            <Tabs
              value={tab}
              onChange={next => void navigate({ search: readEventSearch({ tab: next }), replace: true })}
              keepMounted={false}
            >
              <Tabs.List>
                <Tabs.Tab value="payload">Payload</Tabs.Tab>
                <Tabs.Tab value="headers">Headers</Tabs.Tab>
                <Tabs.Tab value="sent">Sent request</Tabs.Tab>
              </Tabs.List>
              <Tabs.Panel value="payload" pt="sm">
                <WebhookPayload event={data} url={source.data?.ingestUrl} />
              </Tabs.Panel>
              <Tabs.Panel value="sent" pt="sm">
                <SentRequest event={data} names={names} />
              </Tabs.Panel>
              <Tabs.Panel value="headers" pt="sm">
                <DataTable
                  label="Headers"
                  rows={data.headers.map(([name, value], index) => ({ name, value, index }))}
                  keyOf={row => String(row.index)}
                  empty="The request had no headers."
                  columns={[
                    { label: 'Name', show: row => <span className="stak-mono">{row.name}</span> },
                    { label: 'Value', show: row => <span className="stak-mono">{row.value}</span> },
                  ]}
                />
              </Tabs.Panel>
            </Tabs>
            <Deliveries event={data} names={names} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function useConnectionNames(sourceId: string): ReadonlyMap<string, string> {
  const { data = [] } = useQuery({
    queryKey: ['connections', sourceId],
    queryFn: async () => (await client.webhooks.listConnections({ sourceId })).data.data,
  });
  return new Map(data.map(one => [one.connectionId, one.name]));
}

function Deliveries({ event, names }: { event: Event; names: ReadonlyMap<string, string> }) {
  if (event.deliveries.length === 0)
    return <Text c="dimmed">Not delivered: the source had no connections when it arrived.</Text>;
  return (
    <Stack gap="sm">
      <Title order={3} size="h4">
        Deliveries
      </Title>
      {event.deliveries.map(one => {
        const attempts = event.attempts.filter(({ connectionId }) => connectionId === one.connectionId);
        return (
          <Card withBorder key={one.connectionId}>
            <Group justify="space-between" mb="sm">
              <Group gap="sm">
                <Text fw={600}>{names.get(one.connectionId) ?? one.connectionId}</Text>
                <StatusBadge status={one.state} />
              </Group>
              <Text size="sm" c="dimmed">
                {one.isHeld
                  ? 'Waiting for its connection'
                  : one.nextAttemptAt !== undefined && `Next attempt ${formatAgo(one.nextAttemptAt)}`}
              </Text>
            </Group>
            {one.error !== undefined && attempts.length === 0 && <Text size="sm">{one.error}</Text>}
            <Attempts attempts={attempts} />
          </Card>
        );
      })}
    </Stack>
  );
}

const hasWorked = ({ statusCode }: Attempt): boolean => statusCode >= 200 && statusCode < 300;

function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  if (attempts.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No attempt yet.
      </Text>
    );
  return (
    <Timeline bulletSize={22} lineWidth={2} active={attempts.length}>
      {attempts.map(one => (
        <Timeline.Item
          key={`${one.run} ${one.attemptNumber}`}
          color={hasWorked(one) ? 'teal' : 'red'}
          bullet={hasWorked(one) ? <IconCheck size={12} /> : <IconX size={12} />}
          title={one.statusCode === 0 ? 'No answer' : `Answered ${one.statusCode}`}
        >
          <Text size="sm" c="dimmed">
            Attempt {one.attemptNumber}
            {one.run > 1 && ` of run ${one.run}`} · {formatTime(one.attemptedAt)} · {one.latencyMs} ms
          </Text>
          {one.error !== undefined && <Text size="sm">{one.error}</Text>}
          {one.responseBody && (
            <Code block mt={4} className="stak-code" tabIndex={0} aria-label="Response">
              {one.responseBody}
            </Code>
          )}
        </Timeline.Item>
      ))}
    </Timeline>
  );
}
