import { SimpleGrid } from '@mantine/core';
import { Stat } from '../../components/display/stat.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';
import { useAnswer, useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { formatBytes, formatNumber } from '../../text/format.ts';

export function Numbers() {
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} className="stak-stats">
      <Usage />
      <Storage />
      <Sources />
      <Tenants />
    </SimpleGrid>
  );
}

const useUsage = () => useAnswer(['usage'], () => client.accounts.getUsage());

function Storage() {
  const { data } = useUsage();
  const limit = data?.storage.limitBytes;
  return (
    <Stat
      label="Stored"
      value={data ? formatBytes(data.storage.usedBytes) : '…'}
      note={
        limit === undefined
          ? '…'
          : limit === null
            ? 'Your plan has no limit'
            : `of ${formatBytes(limit)} in your plan`
      }
    />
  );
}

function Usage() {
  const { data } = useUsage();
  return (
    <Stat
      label="Events this month"
      value={data ? formatNumber(data.usageThisMonth) : '…'}
      note={
        !data
          ? '…'
          : data.eventsPerMonth === null
            ? 'Your plan has no limit'
            : `of ${formatNumber(data.eventsPerMonth)} in your plan`
      }
    />
  );
}

function Sources() {
  const { data } = useRows(['sources'], () => client.webhooks.listSources());
  const active = data?.filter(one => one.status === 'active').length ?? 0;
  return (
    <Stat
      label="Webhook sources"
      value={data ? formatNumber(data.length) : '…'}
      note={
        <TextLink to="/webhooks">{data?.length === 0 ? 'Create the first one' : `${active} active`}</TextLink>
      }
    />
  );
}

function Tenants() {
  const { data } = useAnswer(['tenants', 'count'], () => client.tenants.list({ limit: 100 }));
  const more = data?.next_cursor ? '+' : '';
  const active = data?.data.filter(one => one.status === 'active').length ?? 0;
  return (
    <Stat
      label="Tenants"
      value={data ? `${formatNumber(data.data.length)}${more}` : '…'}
      note={
        <TextLink to="/tenants">
          {data?.data.length === 0 ? 'Create the first one' : `${active}${more} active`}
        </TextLink>
      }
    />
  );
}
