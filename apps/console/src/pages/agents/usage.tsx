import { Card, Group, SegmentedControl, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DayRow } from '../../components/display/day-charts.tsx';
import { DaySpan } from '../../components/display/day-span.tsx';
import { LateBars } from '../../components/display/late-charts.tsx';
import { Heading } from '../../components/display/section.tsx';
import { Stat } from '../../components/display/stat.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { client } from '../../queries/api.ts';
import { paced } from '../../queries/pace.ts';
import { useUserChoices } from '../../queries/tenants.ts';
import { addDays, todayIn } from '../../text/days.ts';
import { formatNumber } from '../../text/format.ts';
import { formatCost } from './cost.ts';
import { usageKey } from './queries.ts';

type Day = ApiTypes['agents.getUsage']['data']['days'][number];
type Measure = keyof typeof charts;

const charts = {
  messages: {
    title: 'Messages by day',
    series: [
      { name: 'messages', label: 'Messages', color: 'teal.6' },
      { name: 'model_turns', label: 'Answers by a model', color: 'blue.5' },
    ],
  },
  tokens: {
    title: 'Tokens by day',
    isStacked: true,
    format: formatNumber,
    series: [
      { name: 'input_tokens', label: 'In', color: 'teal.6' },
      { name: 'output_tokens', label: 'Out', color: 'blue.5' },
    ],
  },
  cost: {
    title: 'Cost by day',
    format: formatCost,
    series: [{ name: 'cost_usd', label: 'Cost', color: 'teal.6' }],
  },
};

// A day without messages is a gap in the chart, not a missing day.
function rowsOf(days: readonly Day[], from: string, count: number): DayRow[] {
  const known = new Map(days.map(day => [day.date, day]));
  return Array.from({ length: count }, (_, index) => {
    const day = addDays(from, index);
    return { ...known.get(day), day };
  });
}

function costNote({ cost_usd, reserved_usd, model_turns }: Omit<Day, 'date'>): string {
  if (reserved_usd > 0) return `and ${formatCost(reserved_usd)} reserved`;
  return cost_usd === 0 && model_turns > 0 ? 'the operator has set no prices' : "by the models' prices";
}

// The usage of all users of a tenant, or of one.
export function UsageTab({ tenant_id }: { tenant_id: string }) {
  const [days, setDays] = useState(7);
  const [measure, setMeasure] = useState<Measure>('messages');
  const [user_id, setUser] = useState<string | null>(null);
  const choices = useUserChoices(tenant_id);
  const { title, ...chart } = charts[measure];
  const usage = useQuery({
    queryKey: [...usageKey(tenant_id), user_id, days],
    queryFn: async () => {
      const from = addDays(todayIn('UTC'), 1 - days);
      const filter = { tenant_id, from, ...(user_id !== null && { user_id }) };
      return { ...(await client.agents.getUsage(filter)).data, from, count: days };
    },
    placeholderData: keepPreviousData,
    refetchInterval: paced(10_000),
  });
  return (
    <Stack>
      <Group justify="space-between">
        <Select
          aria-label="Usage of"
          placeholder="All users"
          data={choices}
          value={user_id}
          onChange={setUser}
          clearable
          clearButtonProps={{ 'aria-label': 'Usage of all users' }}
          searchable
          w={200}
        />
        <DaySpan choices={[7, 30, 90]} days={days} onChange={setDays} />
      </Group>
      <Loaded query={usage}>
        {({ total, limit_per_day, days: read, from, count }) => (
          <>
            <SimpleGrid cols={{ base: 2, md: 4 }}>
              <Stat
                label="Messages"
                value={formatNumber(total.messages)}
                note={limit_per_day === null ? undefined : `at most ${formatNumber(limit_per_day)} a day`}
              />
              <Stat
                label="Model answers"
                value={formatNumber(total.model_turns)}
                note="the rest cost nothing"
              />
              <Stat
                label="Tokens"
                value={formatNumber(total.input_tokens + total.output_tokens)}
                note={`${formatNumber(total.input_tokens)} in, ${formatNumber(total.output_tokens)} out`}
              />
              <Stat label="Cost" value={formatCost(total.cost_usd)} note={costNote(total)} />
            </SimpleGrid>
            <Card withBorder>
              <Group justify="space-between" mb="sm">
                <Heading>{title}</Heading>
                <SegmentedControl
                  size="xs"
                  aria-label="Chart of"
                  value={measure}
                  onChange={value => setMeasure(value as Measure)}
                  data={[
                    { value: 'messages', label: 'Messages' },
                    { value: 'tokens', label: 'Tokens' },
                    { value: 'cost', label: 'Cost' },
                  ]}
                />
              </Group>
              {read.length === 0 ? (
                <Text c="dimmed" ta="center" py="xl">
                  No messages in this period. Messages under Chat are counted here.
                </Text>
              ) : (
                <LateBars label={title} rows={rowsOf(read, from, count)} height={240} {...chart} />
              )}
            </Card>
            <Text size="xs" c="dimmed">
              Days are UTC days, as for quotas.
            </Text>
          </>
        )}
      </Loaded>
    </Stack>
  );
}
