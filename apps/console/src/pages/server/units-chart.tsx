import '@mantine/charts/styles.css';
import { AreaChart } from '@mantine/charts';
import { Stack, Text } from '@mantine/core';
import { formatClock } from '../../text/format.ts';
import { ratesOf, type Sample } from './unit-samples.ts';

const height = 180;
const series = [
  { name: 'read', label: 'Read', color: 'blue.5' },
  { name: 'write', label: 'Written', color: 'orange.6' },
];

export default function UnitsChart({ samples }: { samples: readonly Sample[] }) {
  const rates = ratesOf(samples);
  const last = rates.at(-1);
  if (!last)
    return (
      <Stack h={height} justify="center" align="center">
        <Text size="sm" c="dimmed">
          Measuring…
        </Text>
      </Stack>
    );
  return (
    <div role="img" aria-label={`Units per second: now ${last.read} read and ${last.write} written`}>
      <AreaChart
        h={height}
        data={rates.map(rate => ({ ...rate, at: formatClock(rate.at) }))}
        dataKey="at"
        series={series}
        unit="/s"
        curveType="monotone"
        withDots={rates.length < 3}
        withLegend
        tickLine="none"
        gridAxis="x"
        areaProps={{ isAnimationActive: false }}
        yAxisProps={{ width: 52 }}
      />
    </div>
  );
}
