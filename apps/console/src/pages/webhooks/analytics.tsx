import { Box, Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, Suspense } from 'react';
import { DaySpan } from '../../components/display/day-span.tsx';
import { Stat } from '../../components/display/stat.tsx';
import { Loaded } from '../../components/feedback/loaded.tsx';
import { client } from '../../queries/api.ts';
import { paced } from '../../queries/pace.ts';
import { lateComponent } from '../../shell/late-module.tsx';
import { counted, formatNumber } from '../../text/format.ts';

// A third of the console's script, so it is loaded with the first chart.
const EventsChart = lateComponent(() => import('./analytics-chart.tsx'));

const dayMs = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const inMs = (value: number | null): string =>
  value === null ? '–' : `${formatNumber(Math.round(value))} ms`;
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

// The numbers of one source, or of all.
type Props = {
  title?: ReactNode; // if it is the whole page
  sourceId?: string;
  days: number | undefined;
  onDays?: (days: number) => void; // absent if the page selects the days for several charts
};

export function WebhookAnalytics({ title, sourceId, days = 7, onDays }: Props) {
  const analytics = useQuery({
    queryKey: ['webhook-analytics', sourceId, days],
    queryFn: async () => {
      const from = dayOf(Date.now() - (days - 1) * dayMs);
      const filter = { from, ...(sourceId !== undefined && { sourceId }) };
      return { ...(await client.webhooks.analytics(filter)).data, from, count: days };
    },
    placeholderData: keepPreviousData,
    refetchInterval: paced(10_000),
  });
  return (
    <Stack gap="sm">
      {(title || onDays) && (
        <Group justify="space-between">
          {title}
          {onDays && (
            <Box ml="auto">
              <DaySpan choices={[7, 30]} days={days} onChange={onDays} />
            </Box>
          )}
        </Group>
      )}
      <Loaded query={analytics}>
        {data => (
          <>
            <SimpleGrid cols={{ base: 2, md: 4 }}>
              <Stat label="Events" value={formatNumber(data.received)} />
              <Stat
                label="Successful deliveries"
                value={data.successRate === null ? '–' : percent.format(data.successRate)}
                note={`of ${counted(data.attempts, 'attempt')}`}
              />
              <Stat label="Median response time" value={inMs(data.latency.p50)} />
              <Stat label="95th percentile" value={inMs(data.latency.p95)} />
            </SimpleGrid>
            <Card withBorder>
              <Title order={3} size="h5" mb="sm">
                Events by day
              </Title>
              {data.received === 0 ? (
                <Text c="dimmed" ta="center" py="xl">
                  No events in this period.
                </Text>
              ) : (
                <Suspense fallback={<Skeleton h={220} />}>
                  <EventsChart days={data.days} from={data.from} count={data.count} />
                </Suspense>
              )}
            </Card>
          </>
        )}
      </Loaded>
    </Stack>
  );
}
