import {
  Alert,
  Button,
  Card,
  CloseButton,
  Code,
  Group,
  Stack,
  Tabs,
  Text,
  Timeline,
  Title,
} from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { IconCheck, IconRefresh, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { DataTable } from '../../components/display/data-table.tsx';
import { Heading } from '../../components/display/section.tsx';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { TabList } from '../../components/display/tab-list.tsx';
import { Together } from '../../components/display/together.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { isMissing, Missing } from '../../components/feedback/nothing-here.tsx';
import { Permitted } from '../../components/feedback/permitted.tsx';
import { ButtonLink, TextLink } from '../../components/feedback/text-link.tsx';
import { CopyIcon } from '../../components/fields/copy.tsx';
import { whyId } from '../../components/why/lines.ts';
import { Why } from '../../components/why/why.tsx';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { paced } from '../../queries/pace.ts';
import { useMay } from '../../queries/permissions.ts';
import { formatAgo, formatBytes, formatTime } from '../../text/format.ts';
import { type EventTab, eventTabs } from './address.ts';
import { WebhookPayload } from './event-payload.tsx';
import { useReplayEvent } from './event-replay.tsx';
import { SentRequest } from './event-sent.tsx';
import { EventStatusBadge } from './event-status.tsx';
import { lastFailures } from './event-status-text.ts';
import { sourceQuery, useConnectionsOf } from './queries.ts';

export type Event = ApiTypes['webhooks.readEvent']['data'];
type Attempt = Event['attempts'][number];

const isOpen = (event: Event | undefined): boolean =>
  event !== undefined &&
  (['received', 'processing', 'retrying'].includes(event.status) ||
    event.deliveries.some(delivery => delivery.state === 'pending' || delivery.state === 'retrying'));

const useEvent = (eventId: string) =>
  useAnswer(['event', eventId], () => client.webhooks.readEvent({ eventId }), {
    refetchInterval: ({ state }) => isOpen(state.data) && paced(1_500)(),
  });

const viewNames: Readonly<Record<EventTab, string>> = {
  received: 'Received',
  headers: 'Headers',
  sent: 'Sent',
  changes: 'Changes',
};

type Props = {
  sourceId: string | undefined; // undefined means the event's own
  eventId: string;
  view: EventTab | undefined;
  onView: (view: EventTab) => void;
  onClose?: () => void; // if it is shown beside a list
};

/** Shows what was received, what was sent, and the result of each delivery. */
export function EventDetail({ sourceId: given, eventId, view: wanted, onView, onClose }: Props) {
  // The sent request is computed by running the event through the connection, which not everybody may do.
  const views = useMay()('webhooks.testConnection') ? eventTabs : (['received', 'headers'] as const);
  const view = views.find(one => one === wanted) ?? 'received';
  const event = useEvent(eventId);
  const sourceId = given ?? event.data?.sourceId;
  const connections = useConnectionsOf(sourceId === undefined ? [] : [sourceId]).data;
  const names = new Map(connections.map(connection => [connection.connectionId, connection.name]));
  const source = useQuery({ ...sourceQuery(sourceId ?? ''), enabled: sourceId !== undefined });
  if (isMissing(event.error))
    return (
      <Missing
        title="There is no such event"
        text="Events are deleted at the end of your plan’s retention. It may also belong to another account."
      >
        <TextLink to="/webhooks/events">Go to all events</TextLink>
      </Missing>
    );
  return (
    <Loaded query={event}>
      {data => (
        <Together>
          <Stack>
            <EventHead event={data} onClose={onClose} />
            <LastFailure event={data} names={names} />
            <Tabs value={view} onChange={next => onView(next as EventTab)} keepMounted={false}>
              <TabList chosen={view}>
                {views.map(view => (
                  <Tabs.Tab key={view} value={view}>
                    {viewNames[view]}
                  </Tabs.Tab>
                ))}
              </TabList>
              <Tabs.Panel value="received" pt="sm">
                <WebhookPayload event={data} url={source.data?.data.ingestUrl} />
              </Tabs.Panel>
              <Tabs.Panel value="headers" pt="sm">
                <DataTable
                  label="Headers"
                  rows={data.headers.map(([name, value], index) => ({ name, value, index }))}
                  keyOf={row => String(row.index)}
                  minWidth={300}
                  empty="The request had no headers."
                  columns={[
                    { label: 'Name', show: row => <span className="stak-mono">{row.name}</span> },
                    { label: 'Value', show: row => <span className="stak-mono">{row.value}</span> },
                  ]}
                />
              </Tabs.Panel>
              <Tabs.Panel value="sent" pt="sm">
                <SentRequest event={data} connections={connections} isDiff={false} />
              </Tabs.Panel>
              <Tabs.Panel value="changes" pt="sm">
                <SentRequest event={data} connections={connections} isDiff />
              </Tabs.Panel>
            </Tabs>
            <Deliveries event={data} names={names} />
            <Why key={eventId} id={eventId} about="this event" />
          </Stack>
        </Together>
      )}
    </Loaded>
  );
}

function EventHead({ event, onClose }: { event: Event; onClose: (() => void) | undefined }) {
  const { eventId, sourceId } = event;
  const replay = useReplayEvent();
  return (
    <div>
      <Group justify="space-between" align="start">
        <div style={{ flex: '1 1 16rem', minWidth: 0 }}>
          <Group gap="sm">
            <Title order={2} size="h3" className="stak-break">
              <Dotted text={event.eventType ?? 'Event'} />
            </Title>
            <EventStatusBadge event={event} />
          </Group>
          <Group gap={4}>
            <Text className="stak-mono" c="dimmed">
              {eventId}
            </Text>
            <CopyIcon value={eventId} label="Copy the id" />
          </Group>
        </div>
        <Group gap="xs" wrap="nowrap">
          <Permitted to="webhooks.replayEvent">
            <Button
              leftSection={<IconRefresh size={16} />}
              loading={replay.isPending}
              onClick={() => replay.mutate(eventId)}
            >
              Replay
            </Button>
          </Permitted>
          {onClose && (
            <>
              <TextLink
                to="/webhooks/$source/events/$event"
                params={{ source: sourceId, event: eventId }}
                size="sm"
              >
                Open
              </TextLink>
              <CloseButton aria-label="Close the event" onClick={onClose} />
            </>
          )}
        </Group>
      </Group>
      <Text size="sm" c="dimmed" mt="xs">
        {event.method} · {event.contentType ?? 'no content type'} · {formatBytes(event.size)} ·{' '}
        {formatTime(event.receivedAt)}
        {event.sourceIp !== undefined && ` · from ${event.sourceIp}`}
        {event.rejection !== undefined && ` · ${event.rejection}`}
      </Text>
    </div>
  );
}

// Why it did not arrive, before what it contains.
function LastFailure({ event, names }: { event: Event; names: ReadonlyMap<string, string> }) {
  return lastFailures(event).map(({ connectionId, isOver, reason }) => (
    <Alert
      key={connectionId}
      color={isOver ? 'red' : 'orange'}
      title={`${names.get(connectionId) ?? connectionId}: ${isOver ? 'not delivered' : 'trying again'}`}
    >
      {reason}
    </Alert>
  ));
}

function Deliveries({ event, names }: { event: Event; names: ReadonlyMap<string, string> }) {
  if (event.deliveries.length === 0)
    return (
      <Alert title="Not delivered: the source had no connection when it arrived">
        <Permitted to="webhooks.createConnection" otherwise="A connection delivers events to an address.">
          <Text size="sm" mb="sm">
            A connection delivers the events of a source to your own address. Replay this one when you have
            one.
          </Text>
          <ButtonLink
            to="/webhooks/$source"
            params={{ source: event.sourceId }}
            search={{ tab: 'connections', connection: 'new' }}
            size="xs"
          >
            Add a connection
          </ButtonLink>
        </Permitted>
      </Alert>
    );
  return (
    <Stack gap="sm">
      <Heading>Deliveries</Heading>
      {event.deliveries.map(delivery => {
        const attempts = event.attempts.filter(({ connectionId }) => connectionId === delivery.connectionId);
        return (
          <Card withBorder key={delivery.connectionId}>
            <Group justify="space-between" mb="sm">
              <Group gap="sm">
                <Text fw={600}>{names.get(delivery.connectionId) ?? delivery.connectionId}</Text>
                <StatusBadge status={delivery.state} />
              </Group>
              {(delivery.isHeld || delivery.nextAttemptAt !== undefined) && (
                <Text size="sm" c="dimmed">
                  {delivery.isHeld
                    ? 'Waiting for its connection'
                    : `Next attempt ${formatAgo(delivery.nextAttemptAt!)}`}
                </Text>
              )}
            </Group>
            {delivery.error !== undefined && attempts.length === 0 && <Text size="sm">{delivery.error}</Text>}
            <Attempts attempts={attempts} />
            <Why
              id={whyId('delivery', event.eventId, delivery.connectionId, delivery.run - 1)}
              about={`the delivery to ${names.get(delivery.connectionId) ?? delivery.connectionId}`}
            />
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
      {attempts.map(attempt => (
        <Timeline.Item
          key={`${attempt.run} ${attempt.attemptNumber}`}
          color={hasWorked(attempt) ? 'teal' : 'red'}
          bullet={hasWorked(attempt) ? <IconCheck size={12} /> : <IconX size={12} />}
          title={attempt.statusCode === 0 ? 'No answer' : `Answered ${attempt.statusCode}`}
        >
          <Text size="sm" c="dimmed">
            Attempt {attempt.attemptNumber}
            {attempt.run > 1 && ` of run ${attempt.run}`} · {formatTime(attempt.attemptedAt)} ·{' '}
            {`${attempt.latencyMs}\u00a0ms`}
          </Text>
          {attempt.error !== undefined && <Text size="sm">{attempt.error}</Text>}
          {attempt.responseBody && (
            <Code block mt={4} className="stak-code" tabIndex={0} aria-label="Response">
              {attempt.responseBody}
            </Code>
          )}
        </Timeline.Item>
      ))}
    </Timeline>
  );
}

// Breaks a long type after a dot rather than within a word.
const Dotted = ({ text }: { text: string }) =>
  text.split(/(?<=\.)/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move
    <Fragment key={at}>
      {part}
      <wbr />
    </Fragment>
  ));
