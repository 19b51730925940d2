import { Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { usePageTitle } from '../../shell/page-title.ts';
import { WebhookAnalytics } from './analytics.tsx';

const route = getRouteApi('/inside/webhooks/analytics');

export function WebhookAnalyticsPage() {
  usePageTitle('Analytics', 'Webhooks');
  const { days } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <WebhookAnalytics
      title={<Title order={2}>Analytics</Title>}
      days={days}
      onDays={count => void navigate({ search: { days: count }, replace: true })}
    />
  );
}
