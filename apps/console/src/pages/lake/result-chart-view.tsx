import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import type { ChartData } from './result-chart.ts';

const colors = ['teal.6', 'blue.5', 'orange.6', 'violet.5', 'red.6'];

export default function ResultChart({ chart }: { chart: ChartData }) {
  const { kind, label, values, rows } = chart;
  const Chart = kind === 'line' ? LineChart : BarChart;
  const said = rows
    .slice(0, 20)
    .map(row => `${row[label]}: ${values.map(name => row[name] ?? 'none').join(', ')}`);
  return (
    <div role="img" aria-label={`${values.join(', ')} by ${label}. ${said.join('; ')}`}>
      <Chart
        h={280}
        data={rows}
        dataKey={label}
        series={values.map((name, at) => ({ name, color: colors[at]! }))}
        withLegend={values.length > 1}
        tickLine="none"
        gridAxis="x"
        yAxisProps={{ width: 56 }}
        {...(kind === 'bar' && { maxBarWidth: 44, barProps: { isAnimationActive: false } })}
        {...(kind === 'line' && { curveType: 'linear', lineProps: { isAnimationActive: false } })}
      />
    </div>
  );
}
