import { Skeleton } from '@mantine/core';
import { IconWebhook } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Failure } from '../../components/failure.tsx';
import { LateBars } from '../../components/late-charts.tsx';
import { client } from '../../queries/api.ts';
import { formatNumber, formatShare } from '../../text/format.ts';
import { chartHeight, NoChart, ServiceCard } from './service-card.tsx';

const series = [
  { name: 'delivered', label: 'Delivered', color: 'teal.6' },
  { name: 'waiting', label: 'On the way', color: 'blue.5' },
  { name: 'filtered', label: 'Filtered', color: 'gray.5' },
  { name: 'failed', label: 'Failed', color: 'red.6' },
];

export function WebhooksCard({ days }: { days: readonly string[] }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['webhook-analytics', 'overview', days[0]],
    queryFn: async () => (await client.webhooks.analytics({ from: days[0]! })).data,
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  const known = new Map(data?.days.map(one => [one.day, one]));
  const rows = days.map(day => {
    const { received = 0, statuses } = known.get(day) ?? {};
    const delivered = statuses?.delivered ?? 0;
    const filtered = (statuses?.filtered ?? 0) + (statuses?.rejected ?? 0);
    const failed = (statuses?.failed ?? 0) + (statuses?.partial ?? 0);
    return {
      day,
      delivered,
      filtered,
      failed,
      waiting: Math.max(0, received - delivered - filtered - failed),
    };
  });
  const p95 = data?.latency.p95 ?? null;
  return (
    <ServiceCard
      title="Webhooks"
      to="/webhooks"
      icon={IconWebhook}
      figures={[
        { label: 'Events', value: data ? formatNumber(data.received) : '…' },
        {
          label: 'Success',
          value: data ? formatShare(data.successRate) : '…',
          isBad: (data?.successRate ?? 1) < 0.9,
        },
        { label: '95% within', value: p95 === null ? '–' : `${formatNumber(Math.round(p95))} ms` },
      ]}
    >
      {error && !data ? (
        <Failure error={error} onRetry={() => refetch()} />
      ) : !data ? (
        <Skeleton h={chartHeight} />
      ) : data.received === 0 ? (
        <NoChart>No events in this period. Create a source and send it a test event.</NoChart>
      ) : (
        <LateBars
          label="Events by day and outcome"
          rows={rows}
          series={series}
          height={chartHeight}
          isStacked
        />
      )}
    </ServiceCard>
  );
}
