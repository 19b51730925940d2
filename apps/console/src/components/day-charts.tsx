import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import { formatDay } from '../text/days.ts';

// Loads the chart library, so it is loaded late itself: see late-charts.tsx.

export type Series = { name: string; label: string; color: string };
export type DayRow = { day: string } & Record<string, string | number | null>;
export type DayChart = {
  label: string; // what somebody hears who does not see it
  rows: readonly DayRow[];
  series: Series[];
  height?: number;
};

const dayFormat = { month: 'short', day: 'numeric' } as const;
const shown = (rows: readonly DayRow[]) => rows.map(row => ({ ...row, day: formatDay(row.day, dayFormat) }));
const still = { isAnimationActive: false };

function describe({ label, rows, series }: DayChart): string {
  const said = rows
    .filter(row => series.some(({ name }) => Number(row[name] ?? 0) > 0))
    .map(row => `${row.day}: ${series.map(({ name, label }) => `${row[name] ?? 0} ${label}`).join(', ')}`);
  return `${label}. ${said.join('; ')}`;
}

type Bars = DayChart & { isStacked?: boolean; format?: (value: number) => string };

export function DayBars({ isStacked = false, format, ...chart }: Bars) {
  return (
    <div role="img" aria-label={describe(chart)}>
      <BarChart
        h={chart.height ?? 220}
        data={shown(chart.rows)}
        dataKey="day"
        type={isStacked ? 'stacked' : 'default'}
        series={chart.series}
        withLegend={chart.series.length > 1}
        maxBarWidth={28}
        tickLine="none"
        gridAxis="x"
        barProps={still}
        valueFormatter={format}
        yAxisProps={{ allowDecimals: format !== undefined, width: format ? 64 : 36 }}
      />
    </div>
  );
}

export function DayLine({ unit, ...chart }: DayChart & { unit: string }) {
  return (
    <div role="img" aria-label={describe(chart)}>
      <LineChart
        h={chart.height ?? 220}
        data={shown(chart.rows)}
        dataKey="day"
        series={chart.series}
        unit={unit}
        connectNulls
        tickLine="none"
        gridAxis="x"
        lineProps={still}
        yAxisProps={{ width: 44 }}
      />
    </div>
  );
}
