import { type Cells, formatRate, textTable } from '../table.ts';
import { type Comparison, compare, type MeasureName, type Rounds } from './comparison.ts';

const milliseconds = (value: number): string => value.toFixed(value < 10 ? 2 : 1);

const titles: Record<MeasureName, [title: string, format: (value: number) => string]> = {
  cpuUs: ['processor time, µs', formatRate],
  instructions: ['instructions, thousands', value => formatRate(value / 1000)],
  writtenBytes: ['written, KB', value => (value / 1000).toFixed(1)],
  perSecond: ['accepted a second', formatRate],
  deliveredPerSecond: ['delivered a second', formatRate],
  waitingShare: ['waiting at the end, %', value => (value * 100).toFixed(1)],
  p50Ms: ['p50, ms', milliseconds],
  p95Ms: ['p95, ms', milliseconds],
  p99Ms: ['p99, ms', milliseconds],
  privateMb: ['memory, MB', value => value.toFixed(0)],
};

export function printComparison(baseline: string, all: readonly Rounds[]): string {
  const head = ['operation', 'measure', baseline, 'here', 'ratio', 'min–max'];
  const rows = all.flatMap(({ operation, pairs }) =>
    compare(pairs).map((comparison, i) => [i === 0 ? operation : '', ...cellsOf(comparison)]),
  );
  return [textTable(alignMeasures([head, ...rows])), ...all.map(describeSteadiness)]
    .filter(Boolean)
    .join('\n');
}

function cellsOf({ measure, baseline, candidate, ratio }: Comparison): string[] {
  const [title, format] = titles[measure];
  const ratios = ratio
    ? [ratio.median.toFixed(2), `${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}`]
    : ['–', '–'];
  return [title, format(baseline), format(candidate), ...ratios];
}

// The table's first column is aligned to the left; the second one is text as well.
function alignMeasures(cells: Cells): string[][] {
  const width = Math.max(...cells.map(([, measure = '']) => measure.length));
  return cells.map(([operation = '', measure = '', ...rest]) => [operation, measure.padEnd(width), ...rest]);
}

function describeSteadiness({ operation, pairs }: Rounds): string {
  const reasons = pairs.flatMap(({ unsteadiness }) => unsteadiness ?? []);
  if (reasons.length === 0) return '';
  return `unsteady in ${reasons.length} of ${pairs.length} rounds of ${operation}: ${reasons.at(-1)}`;
}
