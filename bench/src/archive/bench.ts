import type { BenchOptions } from '../bench.ts';
import { inDataFolder } from '../data-folder.ts';
import type { Verdict } from '../gates.ts';
import { chooseParts } from '../parts.ts';
import { keepResults } from '../results-file.ts';
import { type Cells, formatRate, markdownTable, textTable } from '../table.ts';
import { type Move, type MoveResult, measureMove } from './move.ts';
import { judgeMove } from './targets.ts';

const fullItems = 1_000_000;
const quickItems = 20_000; // enough to show that it runs

export async function run({ quick, only }: BenchOptions): Promise<Verdict[]> {
  chooseParts(['move'], only);
  const move = await inDataFolder('archive', folder => measureMove(folder, quick ? quickItems : fullItems));
  const verdicts = judgeMove(move);
  console.log(`\n${report(move, textTable)}`);
  if (!quick) keepResults('archive', { results: { move }, verdicts, section: report(move, markdownTable) });
  return verdicts;
}

const rowOf = (name: string, { items, seconds, reports, peakMb }: MoveResult): string[] => [
  name,
  items.toLocaleString('en-US'),
  `${seconds.toFixed(1)} s`,
  formatRate(items / seconds),
  peakMb === undefined ? '' : `${peakMb.toFixed(0)} MB`,
  String(reports),
];

const report = (move: Move, table: (cells: Cells) => string): string =>
  table([
    ['', 'items', 'time', 'a second', 'own memory, at most', 'progress reports'],
    rowOf('export', move.export),
    rowOf('import, and read again', move.import),
  ]);
