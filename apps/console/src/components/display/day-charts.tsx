import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import { formatDay } from '../../text/days.ts';

// Imports the chart library, so it is loaded lazily: see late-charts.tsx.

export type Series = { name: string; label: string; color: string };
export type DayRow = { day: string } & Record<string, string | number | null>;
export type DayChart = {
  label: string; // for screen readers
  rows: readonly DayRow[];
  series: Series[];
  height?: number;
};

const dayFormat = { month: 'short', day: 'numeric' } as const;
const shown = (rows: readonly DayRow[]) => rows.map(row => ({ ...row, day: formatDay(row.day, dayFormat) }));
const still = { isAnimationActive: false };

const namedMost = 5; // day labels that fit on a phone

/** Labels evenly spaced days, ending with the last one. */
export function dayAxis(days: readonly string[]) {
  if (days.length <= 7) return { interval: 'equidistantPreserveEnd' } as const;
  const step = Math.ceil(days.length / namedMost);
  const ticks = days.filter((_, at) => (days.length - 1 - at) % step === 0);
  return { ticks, interval: 0 } as const;
}

/** In the order of the series; the default is by name. */
export const legendInOrder = { itemSorter: null };

/** Room for the topmost number and for half of the last day's label. */
export const chartMargin = { margin: { top: 10, right: 16, bottom: 0, left: 0 } };

function describe({ label, rows, series }: DayChart): string {
  const said = rows
    .filter(row => series.some(({ name }) => Number(row[name] ?? 0) > 0))
    .map(
      row =>
        `${row.day}: ${series.map(({ name, label }) => `${row[name] ?? 0} ${label.toLowerCase()}`).join(', ')}`,
    );
  return `${label}. ${said.join('; ')}`;
}

type Bars = DayChart & { isStacked?: boolean; format?: (value: number) => string };

export function DayBars({ isStacked = false, format, ...chart }: Bars) {
  const data = shown(chart.rows);
  return (
    <div role="img" aria-label={describe(chart)}>
      <BarChart
        h={chart.height ?? 220}
        data={data}
        dataKey="day"
        type={isStacked ? 'stacked' : 'default'}
        series={chart.series}
        withLegend={chart.series.length > 1}
        legendProps={legendInOrder}
        maxBarWidth={28}
        tickLine="none"
        gridAxis="x"
        barProps={still}
        barChartProps={chartMargin}
        xAxisProps={dayAxis(data.map(row => row.day))}
        valueFormatter={format}
        yAxisProps={{
          allowDecimals: chart.rows.some(row =>
            chart.series.some(({ name }) => !Number.isInteger(row[name] ?? 0)),
          ),
          width: format ? 64 : 36,
        }}
      />
    </div>
  );
}

export function DayLine({ unit, ...chart }: DayChart & { unit: string }) {
  const data = shown(chart.rows);
  return (
    <div role="img" aria-label={describe(chart)}>
      <LineChart
        h={chart.height ?? 220}
        data={data}
        dataKey="day"
        series={chart.series}
        unit={unit}
        connectNulls
        tickLine="none"
        gridAxis="x"
        lineProps={still}
        lineChartProps={chartMargin}
        xAxisProps={dayAxis(data.map(row => row.day))}
        yAxisProps={{ width: 44 }}
      />
    </div>
  );
}
