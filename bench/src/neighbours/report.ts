import { type Cells, markdownTable, textTable } from '../table.ts';
import { requestNames } from './neighbour.ts';
import { type Results, requestTitles, slower } from './targets.ts';

export const printResults = (results: Results): string =>
  `${report(results, textTable)}\n\n${Object.entries(results.answered)
    .map(([name, times]) => `${name}: answered ${times} times`)
    .join('\n')}`;
export const readmeSection = (results: Results): string => report(results, markdownTable);

const ms = (value: number): string => `${value.toFixed(1)} ms`;

function report(results: Results, table: (cells: Cells) => string): string {
  const { quiet, attacked, events, lost } = results;
  const cells: Cells = [
    ['beside an account that attacks', 'quiet p50', 'p99', 'attacked p50', 'p99', 'p99 over quiet'],
    ...requestNames.map(name => [
      requestTitles[name],
      ms(quiet[name].p50Ms),
      ms(quiet[name].p99Ms),
      ms(attacked[name].p50Ms),
      ms(attacked[name].p99Ms),
      `${slower(results, name).toFixed(1)}x`,
    ]),
  ];
  return `${table(cells)}\n\nOf ${events.toLocaleString('en-US')} events, ${lost} were lost.`;
}
