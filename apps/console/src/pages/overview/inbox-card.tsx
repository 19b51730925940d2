import { Skeleton } from '@mantine/core';
import { IconInbox } from '@tabler/icons-react';
import { LateBars } from '../../components/display/late-charts.tsx';
import { LakeFailure } from '../../components/feedback/lake-failure.tsx';
import { byDay, total, useInsight } from '../../queries/insights.ts';
import { formatNumber, formatShare } from '../../text/format.ts';
import { chartHeight, NoChart, ServiceCard, type ServiceDays } from './service-card.tsx';

const series = [
  { name: 'messages', label: 'Messages', color: 'blue.5' },
  { name: 'read', label: 'Read', color: 'teal.6' },
];

// Messages to individual users. Broadcasts are counted on the Inbox page.
export function InboxCard({ days, isPage }: ServiceDays) {
  const { data, error, refetch } = useInsight('messages-read', days.length);
  const rows = data?.data ?? [];
  const messages = total(rows, 'messages');
  const read = total(rows, 'read');
  const messagesOn = byDay(rows, 'messages', days);
  const readOn = byDay(rows, 'read', days);
  return (
    <ServiceCard
      title="Inbox"
      isPage={isPage}
      chartTitle="Messages by day"
      to="/inbox"
      icon={IconInbox}
      figures={[
        { label: 'Messages', value: data ? formatNumber(messages) : '…' },
        { label: 'Read', value: data ? formatNumber(read) : '…' },
        { label: 'Read rate', value: data ? formatShare(messages === 0 ? null : read / messages) : '…' },
      ]}
    >
      {error && !data ? (
        <LakeFailure error={error} onRetry={() => refetch()} />
      ) : !data ? (
        <Skeleton h={chartHeight} />
      ) : messages === 0 ? (
        <NoChart>No messages in this period. Send one to a user of a tenant.</NoChart>
      ) : (
        <LateBars
          label="Messages to users by day, and how many of them were read"
          rows={days.map((day, at) => ({ day, messages: messagesOn[at]!, read: readOn[at]! }))}
          series={series}
          height={chartHeight}
        />
      )}
    </ServiceCard>
  );
}
