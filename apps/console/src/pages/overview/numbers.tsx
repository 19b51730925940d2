import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api.ts';
import { formatNumber } from '../../format.ts';
import { Stat } from '../../stat.tsx';
import { TextLink } from '../../text-link.tsx';
import { Alerts } from './alerts.tsx';

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
