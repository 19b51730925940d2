import { Group, SegmentedControl, Skeleton, Stack, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { DaySpan } from '../../components/display/day-span.tsx';
import { Together } from '../../components/display/together.tsx';
import { lastDays } from '../../queries/insights.ts';
import { lateComponent } from '../../shell/late-module.tsx';
import { usePageTitle } from '../../shell/page-title.ts';
import { AgentsCard } from '../overview/agents-card.tsx';
import { InboxCard } from '../overview/inbox-card.tsx';
import { WebhookAnalytics } from '../webhooks/analytics.tsx';
import { type Service, services } from './address.ts';

const TaskInsights = lateComponent(() => import('../tasks/task-insights.tsx'));

const route = getRouteApi('/inside/data/insights');
const names: Readonly<Record<Service, string>> = {
  tasks: 'Tasks',
  webhooks: 'Webhooks',
  inbox: 'Inbox',
  agents: 'Agents',
};

/** The numbers of each service over the same days. */
export function InsightsPage() {
  const { service = 'tasks', days = 30 } = route.useSearch();
  const navigate = route.useNavigate();
  usePageTitle(names[service], 'Insights');
  const shown: Readonly<Record<Service, () => ReactNode>> = {
    tasks: () => <TaskInsights days={days} />,
    webhooks: () => <WebhookAnalytics days={days} />,
    inbox: () => <InboxCard days={lastDays(days)} isPage />,
    agents: () => <AgentsCard days={lastDays(days)} isPage />,
  };
  return (
    <Together>
      <Stack>
        <Title order={2}>Insights</Title>
        <Group justify="space-between">
          <SegmentedControl
            aria-label="Service"
            data={services.map(value => ({ value, label: names[value] }))}
            value={service}
            onChange={next => void navigate({ search: before => ({ ...before, service: next as Service }) })}
          />
          <DaySpan
            choices={[7, 30, 90]}
            days={days}
            onChange={count =>
              void navigate({ search: before => ({ ...before, days: count }), replace: true })
            }
          />
        </Group>
        <Suspense fallback={<Skeleton h={360} />}>{shown[service]()}</Suspense>
      </Stack>
    </Together>
  );
}
