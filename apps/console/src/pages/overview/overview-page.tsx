import { Group, SimpleGrid, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { DaySpan } from '../../components/display/day-span.tsx';
import { Heading } from '../../components/display/section.tsx';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { lastDays } from '../../queries/insights.ts';
import { PageLoading } from '../../shell/late-module.tsx';
import { usePageTitle } from '../../shell/page-title.ts';
import { useReachable, watchedFetch } from '../../shell/reachability.tsx';
import { AgentsCard } from './agents-card.tsx';
import { FirstSteps, useFirstSteps } from './first-steps.tsx';
import { usePulse } from './idle.ts';
import { InboxCard } from './inbox-card.tsx';
import { Numbers } from './numbers.tsx';
import { TasksCard } from './tasks-card.tsx';
import { WebhooksCard } from './webhooks-card.tsx';

const route = getRouteApi('/inside/');

export function OverviewPage() {
  usePageTitle('Overview');
  const { days: span = 14 } = route.useSearch();
  const navigate = route.useNavigate();
  const setSpan = (count: number) => void navigate({ search: { days: count }, replace: true });
  const days = lastDays(span);
  usePulse();
  const { isLoading, steps, hide } = useFirstSteps();
  const head = (
    <Group justify="space-between">
      <Title order={2}>Overview</Title>
      <Health />
    </Group>
  );
  if (isLoading)
    return (
      <Stack>
        {head}
        <PageLoading />
      </Stack>
    );
  return (
    <Stack>
      {head}
      <FirstSteps steps={steps} onHide={hide} />
      <Numbers />
      <Group justify="space-between">
        <Heading>Services</Heading>
        <DaySpan choices={[7, 14, 30]} days={span} onChange={setSpan} />
      </Group>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <InboxCard days={days} />
        <WebhooksCard days={days} />
        <TasksCard days={days} />
        <AgentsCard days={days} />
      </SimpleGrid>
    </Stack>
  );
}

type Readiness = { status: string; checks: Record<string, string> };

function Health() {
  const isReachable = useReachable();
  const { data } = useQuery({
    queryKey: ['readyz'],
    queryFn: async () => (await (await watchedFetch('/readyz', {})).json()) as Readiness,
  });
  if (!isReachable) return <StatusBadge status="failed" label="Not reachable" />;
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
