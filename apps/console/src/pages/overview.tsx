import { Card, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { createClient, StakError } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { client } from '../api.ts';
import { formatNumber } from '../format.ts';
import { useLive } from '../live.ts';
import { Stat } from '../stat.tsx';
import { StatusBadge } from '../status-badge.tsx';
import { TextLink } from '../text-link.tsx';
import { columns, useTaskActions } from './task-queries.ts';
import { WebhookAnalytics } from './webhook-analytics.tsx';

const refetchInterval = 10_000;

export function OverviewPage() {
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2}>Overview</Title>
        <Health />
      </Group>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Usage />
        <Sources />
        <Alerts />
        <Tenants />
      </SimpleGrid>
      <TasksByStatus />
      <WebhookAnalytics />
    </Stack>
  );
}

type Readiness = { status: string; checks: Record<string, string> };

function Health() {
  const { data } = useQuery({
    queryKey: ['readyz'],
    queryFn: async () => (await (await fetch('/readyz')).json()) as Readiness,
    refetchInterval,
  });
  if (!data) return null;
  const failing = Object.keys(data.checks).filter(name => data.checks[name] !== 'ok');
  const label = failing.length > 0 ? `Failing: ${failing.join(', ')}` : 'All systems ready';
  return (
    <StatusBadge
      status={data.status === 'ready' ? 'ready' : 'failed'}
      label={data.status === 'stopping' ? 'The server is stopping' : label}
    />
  );
}

function Usage() {
  const { data } = useQuery({
    queryKey: ['usage'],
    queryFn: async () => (await client.accounts.getUsage()).data,
    refetchInterval,
  });
  return (
    <Stat
      label="Events this month"
      value={data ? formatNumber(data.usageThisMonth) : '…'}
      note={data && `of ${formatNumber(data.eventsPerMonth)} in your plan`}
    />
  );
}

function Sources() {
  const { data } = useQuery({
    queryKey: ['sources'],
    queryFn: async () => (await client.webhooks.listSources()).data.data,
    refetchInterval,
  });
  const active = data?.filter(one => one.status === 'active').length ?? 0;
  return (
    <Stat
      label="Webhook sources"
      value={data ? formatNumber(data.length) : '…'}
      note={<TextLink to="/webhooks">{data?.length ? `${active} active` : 'Make the first one'}</TextLink>}
    />
  );
}

// What Stak tells an account is in an inbox like any other, read with a token of its own.
async function countAlerts(): Promise<number> {
  const { data: own } = await client.accounts.mintInboxToken();
  const reader = createClient({ baseUrl: '', token: own.token });
  const counts = await Promise.all(
    ['alerts', 'tasks'].map(inbox_key =>
      reader.inbox
        .counts({ tenant_id: own.tenant_id, inbox_key, uid: 'me' })
        .then(({ data }) => data.unread, ifNone),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

// An inbox is made with its first message.
function ifNone(error: unknown): number {
  if (error instanceof StakError && error.status === 404) return 0;
  throw error;
}

function Alerts() {
  const { data } = useQuery({ queryKey: ['alert-counts'], queryFn: countAlerts, refetchInterval: 30_000 });
  return (
    <Stat
      label="Unread alerts"
      value={data === undefined ? '…' : formatNumber(data)}
      note={data === 0 ? 'Nothing needs you' : 'Failing deliveries and reminders'}
    />
  );
}

function Tenants() {
  const { data } = useQuery({
    queryKey: ['tenants', 'count'],
    queryFn: async () => (await client.tenants.list({ limit: 100 })).data,
    refetchInterval,
  });
  return (
    <Stat
      label="Tenants"
      value={data ? `${formatNumber(data.data.length)}${data.next_cursor === null ? '' : '+'}` : '…'}
      note={<TextLink to="/inbox">Their inboxes</TextLink>}
    />
  );
}

const statusColors = { pending: 'blue', in_progress: 'orange', completed: 'teal', cancelled: 'gray' };

function TasksByStatus() {
  const { refresh } = useTaskActions();
  const { data } = useQuery({
    queryKey: ['tasks', 'counts'],
    queryFn: async () => (await client.tasks.counts()).data,
  });
  useLive(
    'tasks',
    options => client.tasks.events({}, options),
    () => void refresh(),
  );
  const total = data?.total ?? 0;
  return (
    <Card withBorder>
      <Group justify="space-between" mb="sm">
        <TextLink to="/tasks" fw={600}>
          Tasks
        </TextLink>
        <Text size="sm" c="dimmed">
          {data && data.overdue > 0 ? `${formatNumber(data.overdue)} late` : 'None is late'}
        </Text>
      </Group>
      <Progress.Root size="lg" mb="sm" aria-hidden>
        {columns.map(({ status }) => (
          <Progress.Section
            key={status}
            color={statusColors[status]}
            value={total === 0 ? 0 : (100 * (data?.by_status[status] ?? 0)) / total}
          />
        ))}
      </Progress.Root>
      <Group gap="lg">
        {columns.map(({ status, label }) => (
          <Text key={status} size="sm" className="stak-figures">
            <Text span c="dimmed" size="sm">
              {label}
            </Text>{' '}
            {data ? formatNumber(data.by_status[status]) : '…'}
          </Text>
        ))}
      </Group>
    </Card>
  );
}
