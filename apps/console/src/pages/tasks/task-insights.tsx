import { Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { LateBars, LateLine } from '../../components/display/late-charts.tsx';
import { type Share, Shares } from '../../components/display/shares.tsx';
import { Stat } from '../../components/display/stat.tsx';
import { Freshness, leastFresh } from '../../components/feedback/freshness.tsx';
import { LakeFailure } from '../../components/feedback/lake-failure.tsx';
import { byDay, type Insight, lastDays, total, useInsight } from '../../queries/insights.ts';
import { withCapital } from '../../text/capital.ts';
import { formatNumber, formatShare } from '../../text/format.ts';
import { priorityColors, statusColors } from './task-card.tsx';
import { columns } from './task-queries.ts';

const whose: Record<Insight['whose'], string> = {
  user: 'Your own tasks',
  account: 'Your own tasks',
  account_and_tenants: 'Your own tasks and those of your tenants’ users. The board shows your own only.',
};

export default function TaskInsights({ days }: { days: number }) {
  const names = {
    created: useInsight('tasks-created', days),
    completed: useInsight('tasks-completed', days),
    cycle: useInsight('tasks-cycle-time', days),
    overdue: useInsight('tasks-overdue', days),
    status: useInsight('tasks-by-status', days),
    priority: useInsight('tasks-by-priority', days),
  };
  const all = Object.values(names);
  const failed = all.find(one => one.error && !one.data);
  const answers = all.flatMap(one => one.data ?? []);
  // With the last answer: a line that came with the first would move what is below it.
  const oldest = answers.length < all.length ? undefined : leastFresh(answers);
  return (
    <Stack gap="sm">
      {oldest && (
        <Group gap="sm">
          <Text size="sm">{whose[answers[0]!.whose]}</Text>
          <Freshness of={oldest} />
        </Group>
      )}
      {failed ? (
        <LakeFailure error={failed.error} onRetry={() => all.forEach(one => void one.refetch())} />
      ) : oldest === undefined ? (
        <Skeleton h={360} />
      ) : (
        <Numbers
          days={lastDays(days)}
          created={names.created.data!}
          completed={names.completed.data!}
          cycle={names.cycle.data!}
          overdue={names.overdue.data!}
          status={names.status.data!}
          priority={names.priority.data!}
        />
      )}
    </Stack>
  );
}

type Answers = Record<'created' | 'completed' | 'cycle' | 'overdue' | 'status' | 'priority', Insight>;

function Numbers({ days, ...of }: Answers & { days: string[] }) {
  const created = byDay(of.created.data, 'tasks', days);
  const completed = byDay(of.completed.data, 'tasks', days);
  const finished = total(of.cycle.data, 'tasks');
  const hours = of.cycle.data.reduce((sum, row) => sum + Number(row.average_hours) * Number(row.tasks), 0);
  const hoursOn = new Map(of.cycle.data.map(row => [row.day, Number(row.average_hours)]));
  const [late = {}] = of.overdue.data;
  const count = (rows: Insight['data'], column: string, value: string) =>
    total(
      rows.filter(row => row[column] === value),
      'tasks',
    );
  const byStatus: Share[] = columns.map(({ status, label }) => ({
    label,
    count: count(of.status.data, 'status', status),
    color: `${statusColors[status]}.5`,
  }));
  const byPriority: Share[] = (['urgent', 'high', 'medium', 'low', 'none'] as const).map(priority => ({
    label: priority === 'none' ? 'None' : withCapital(priority),
    count: count(of.priority.data, 'priority', priority),
    color: `${priority === 'none' ? 'gray' : priorityColors[priority]}.5`,
  }));
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Stat
          label="Created"
          value={formatNumber(total(of.created.data, 'tasks'))}
          note={`in ${days.length} days`}
        />
        <Stat
          label="Completed"
          value={formatNumber(total(of.completed.data, 'tasks'))}
          note={`in ${days.length} days`}
        />
        <Stat
          label="From creation to completion"
          value={finished === 0 ? '–' : formatHours(hours / finished)}
          note="on average"
        />
        <Stat
          label="Late now"
          value={formatNumber(Number(late.overdue ?? 0))}
          note={`${formatShare(Number(late.rate ?? 0))} of open tasks with a due date`}
        />
      </SimpleGrid>
      <Chart
        title="Created and completed"
        isEmpty={created.every(one => !one) && completed.every(one => !one)}
      >
        <LateBars
          label="Tasks created and completed by day"
          rows={days.map((day, at) => ({ day, created: created[at]!, completed: completed[at]! }))}
          series={[
            { name: 'created', label: 'Created', color: 'blue.5' },
            { name: 'completed', label: 'Completed', color: 'teal.6' },
          ]}
        />
      </Chart>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Chart title="By status">
          <Shares shares={byStatus} />
        </Chart>
        <Chart title="By priority">
          <Shares shares={byPriority} />
        </Chart>
      </SimpleGrid>
      <Chart title="Hours from creation to completion" isEmpty={finished === 0}>
        <LateLine
          label="Average hours from creation to completion, by the day of completion"
          rows={days.map(day => ({ day, hours: hoursOn.get(day) ?? null }))}
          series={[{ name: 'hours', label: 'Hours', color: 'teal.6' }]}
          unit=" h"
        />
      </Chart>
      <Text size="sm" c="dimmed">
        Days are UTC days. Expired tasks still count on the days they were created and completed.
      </Text>
    </>
  );
}

function formatHours(hours: number): string {
  if (hours < 1 / 60) return '< 1 min';
  if (hours < 1) return `${Math.round(hours * 60)} min`;
  return hours < 48 ? `${hours.toFixed(hours < 10 ? 1 : 0)} h` : `${(hours / 24).toFixed(1)} days`;
}

type ChartProps = { title: string; isEmpty?: boolean; children: ReactNode };

function Chart({ title, isEmpty = false, children }: ChartProps) {
  return (
    <Card withBorder>
      <Title order={3} size="h5" mb="sm">
        {title}
      </Title>
      {isEmpty ? (
        <Text c="dimmed" ta="center" py="xl">
          Nothing in this period.
        </Text>
      ) : (
        children
      )}
    </Card>
  );
}
