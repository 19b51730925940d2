import { judge, type Verdict } from '../gates.ts';
import { median } from '../statistics.ts';

// The measures of an operation, in the order of the table. `cpuUs`, `instructions` and `writtenBytes` are of all
// processes of the server, for one operation.
const measureNames = [
  'cpuUs',
  'instructions',
  'writtenBytes',
  'perSecond',
  'deliveredPerSecond',
  'waitingShare',
  'p50Ms',
  'p95Ms',
  'p99Ms',
  'privateMb',
] as const;
export type MeasureName = (typeof measureNames)[number];
export type Sample = Partial<Record<MeasureName, number>>;

// One round of each server.
export type Pair = { baseline: Sample; candidate: Sample; unsteadiness?: string };
export type Rounds = { operation: string; pairs: readonly Pair[] };

export type Ratio = { median: number; min: number; max: number };
export type Comparison = {
  measure: MeasureName;
  baseline: number; // medians
  candidate: number;
  ratio?: Ratio; // candidate to baseline, of each round; undefined if the baseline was zero in any of them
};

export function compare(pairs: readonly Pair[]): Comparison[] {
  return measureNames.flatMap(measure => {
    const values = pairs.flatMap(pair => {
      const [baseline, candidate] = [pair.baseline[measure], pair.candidate[measure]];
      return baseline === undefined || candidate === undefined ? [] : [{ baseline, candidate }];
    });
    if (values.length === 0) return [];
    return [
      {
        measure,
        baseline: median(values.map(({ baseline }) => baseline)),
        candidate: median(values.map(({ candidate }) => candidate)),
        ratio: ratioOf(values),
      },
    ];
  });
}

// The servers take turns, so a ratio within a round is less disturbed than one of medians. Leaving out
// rounds without a ratio would show only those that favour one side.
export function ratioOf(values: readonly { baseline: number; candidate: number }[]): Ratio | undefined {
  if (values.length === 0 || values.some(({ baseline }) => baseline <= 0)) return undefined;
  const ratios = values.map(({ baseline, candidate }) => candidate / baseline);
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

// Processor time of each operation, at most `factor` times that of the baseline.
export function judgeCpu(all: readonly Rounds[], factor: number): Verdict[] {
  return all.map(({ operation, pairs }) =>
    judge({
      name: `${operation}: processor time`,
      measured: compare(pairs).find(({ measure }) => measure === 'cpuUs')?.ratio?.median,
      bound: 'at most',
      limit: factor,
      unit: 'times',
      required: process.platform === 'linux',
    }),
  );
}
