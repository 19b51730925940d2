import { Skeleton, Text } from '@mantine/core';
import { IconChecklist } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { LateBars } from '../../components/display/late-charts.tsx';
import { LakeFailure } from '../../components/feedback/lake-failure.tsx';
import { client } from '../../queries/api.ts';
import { byDay, useInsight } from '../../queries/insights.ts';
import { useLive } from '../../queries/live.ts';
import { formatNumber } from '../../text/format.ts';
import { useTaskActions, useTaskCounts } from '../tasks/task-queries.ts';
import { chartHeight, NoChart, ServiceCard } from './service-card.tsx';

const series = [
  { name: 'created', label: 'Created', color: 'blue.5' },
  { name: 'completed', label: 'Completed', color: 'teal.6' },
];

// The current numbers come from the table; the numbers by day come from the lake.
export function TasksCard({ days }: { days: readonly string[] }) {
  const { refresh } = useTaskActions();
  const queries = useQueryClient();
  const { data: counts } = useTaskCounts();
  const created = useInsight('tasks-created', days.length);
  const completed = useInsight('tasks-completed', days.length);
  useLive(
    'tasks',
    options => client.tasks.events({}, options),
    () => {
      void refresh();
      for (const queryKey of [['insights'], ['first-steps']]) void queries.invalidateQueries({ queryKey });
    },
  );
  const overdue = counts?.overdue ?? 0;
  const show = (value: number | undefined) => (value === undefined ? '…' : formatNumber(value));
  const made = byDay(created.data?.data ?? [], 'tasks', days);
  const done = byDay(completed.data?.data ?? [], 'tasks', days);
  const rows = days.map((day, at) => ({ day, created: made[at]!, completed: done[at]! }));
  return (
    <ServiceCard
      title="Tasks"
      to="/tasks"
      icon={IconChecklist}
      figures={[
        { label: 'To do', value: show(counts?.by_status.pending) },
        { label: 'In progress', value: show(counts?.by_status.in_progress) },
        { label: 'Done', value: show(counts?.by_status.completed) },
        { label: 'Late', value: show(counts?.overdue), isBad: overdue > 0 },
      ]}
    >
      {created.error && !created.data ? (
        <LakeFailure error={created.error} onRetry={() => created.refetch()} />
      ) : !created.data || !completed.data ? (
        <Skeleton h={chartHeight} />
      ) : rows.every(row => row.created === 0 && row.completed === 0) ? (
        <NoChart>No tasks in this period.</NoChart>
      ) : (
        <>
          <LateBars
            label="Tasks created and completed by day"
            rows={rows}
            series={series}
            height={chartHeight}
          />
          {created.data.whose === 'account_and_tenants' && (
            <Text size="xs" c="dimmed" mt="xs">
              The chart includes the tasks of your tenants’ users; the numbers above are your own.
            </Text>
          )}
        </>
      )}
    </ServiceCard>
  );
}
