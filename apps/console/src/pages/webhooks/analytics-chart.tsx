import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { ApiTypes } from '@stak/client';
import { chartMargin, dayAxis, legendInOrder } from '../../components/display/day-charts.tsx';

type Days = ApiTypes['webhooks.analytics']['data']['days'];

const series = [
  { name: 'delivered', label: 'Delivered', color: 'teal.6' },
  { name: 'waiting', label: 'On the way', color: 'blue.5' },
  { name: 'filtered', label: 'Filtered', color: 'gray.5' },
  { name: 'failed', label: 'Failed', color: 'red.6' },
];
const dayMs = 86_400_000;
const dayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

function barOf({ received, statuses: of }: Days[number]) {
  const filtered = of.filtered + of.rejected;
  const failed = of.failed + of.partial;
  const waiting = Math.max(0, received - of.delivered - filtered - failed);
  return { delivered: of.delivered, waiting, filtered, failed };
}

// Imports the chart library, so it is loaded lazily.
export default function EventsChart({ days, from, count }: { days: Days; from: string; count: number }) {
  const known = new Map(days.map(day => [day.day, barOf(day)]));
  // A day without events is a gap in the chart, not a missing day.
  const data = Array.from({ length: count }, (_, index) => {
    const date = new Date(Date.parse(from) + index * dayMs);
    return { day: dayFormat.format(date), ...known.get(date.toISOString().slice(0, 10)) };
  });
  const summary = days.map(({ day, received }) => `${day}: ${received}`).join(', ');
  return (
    <div role="img" aria-label={`Events by day and outcome. ${summary}`}>
      <BarChart
        h={220}
        data={data}
        dataKey="day"
        type="stacked"
        series={series}
        withLegend
        legendProps={legendInOrder}
        maxBarWidth={44}
        tickLine="none"
        gridAxis="x"
        barProps={{ isAnimationActive: false }}
        barChartProps={chartMargin}
        xAxisProps={dayAxis(data.map(row => row.day))}
        yAxisProps={{ allowDecimals: false, width: 36 }}
      />
    </div>
  );
}
