import { SimpleGrid } from '@mantine/core';
import { createClient, StakError } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api.ts';
import { formatNumber } from '../../format.ts';
import { Stat } from '../../stat.tsx';
import { TextLink } from '../../text-link.tsx';

const refetchInterval = 10_000;

export function Numbers() {
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Usage />
      <Alerts />
      <Sources />
      <Tenants />
    </SimpleGrid>
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
