import { Skeleton } from '@mantine/core';
import { IconWebhook } from '@tabler/icons-react';
import { keepPreviousData } from '@tanstack/react-query';
import { LateBars } from '../../components/display/late-charts.tsx';
import { Failure } from '../../components/feedback/failure.tsx';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { formatNumber, formatShare } from '../../text/format.ts';
import { deliveredShare, outcomesOf } from './event-outcomes.ts';
import { chartHeight, NoChart, ServiceCard } from './service-card.tsx';

const series = [
  { name: 'delivered', label: 'Delivered', color: 'teal.6' },
  { name: 'waiting', label: 'On the way', color: 'blue.5' },
  { name: 'filtered', label: 'Filtered', color: 'gray.5' },
  { name: 'failed', label: 'Failed', color: 'red.6' },
];

export function WebhooksCard({ days }: { days: readonly string[] }) {
  const { data, error, refetch } = useAnswer(
    ['webhook-analytics', 'overview', days[0]],
    () => client.webhooks.analytics({ from: days[0]! }),
    { placeholderData: keepPreviousData },
  );
  const known = new Map(data?.days.map(day => [day.day, day]));
  const rows = days.map(day => ({ day, ...outcomesOf(known.get(day)) }));
  const share = deliveredShare(rows);
  const p95 = data?.latency.p95 ?? null;
  return (
    <ServiceCard
      title="Webhooks"
      to="/webhooks"
      icon={IconWebhook}
      figures={[
        { label: 'Events', value: data ? formatNumber(data.received) : '…' },
        {
          label: 'Delivered',
          value: data ? formatShare(share) : '…',
          isBad: (share ?? 1) < 0.9,
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
