import { join } from 'node:path';
import type { BenchOptions } from '../bench.ts';
import { inDataFolder } from '../data-folder.ts';
import type { Verdict } from '../gates.ts';
import type { Measure, Plan } from '../harness.ts';
import { chooseParts, runParts } from '../parts.ts';
import { keepResults } from '../results-file.ts';
import { type Cells, formatRate, markdownTable, textTable } from '../table.ts';
import { measureShipping } from './shipping.ts';
import { measureSnapshots, type SnapshotSettings } from './snapshots.ts';
import { costOf, judgeResults, type Part, partNames, type Results } from './targets.ts';

type Extent = { plan: Plan; snapshot: SnapshotSettings };

const full: Extent = {
  plan: { rounds: 9, roundMs: 2000, warmUpMs: 2000 },
  snapshot: { items: 1_000_000, rounds: 3, quietMs: 15_000 },
};
// Shows that everything runs; its figures mean little, so they are not kept.
const quick: Extent = {
  plan: { rounds: 3, roundMs: 1000, warmUpMs: 500 },
  snapshot: { items: 30_000, rounds: 1, quietMs: 2000 },
};

export async function run({ quick: isQuick, only }: BenchOptions): Promise<Verdict[]> {
  const parts = chooseParts(partNames, only);
  const results = await inDataFolder('backup', folder => measure(parts, isQuick ? quick : full, folder));
  const verdicts = judgeResults(results, parts);
  console.log(`\n${report(results, textTable)}`);
  if (!isQuick && only.length === 0)
    keepResults('backup', { results, verdicts, section: report(results, markdownTable) });
  return verdicts;
}

const measure = (parts: readonly Part[], { plan, snapshot }: Extent, folder: string): Promise<Results> =>
  runParts<Results, Part>(parts, {
    shipping: () => measureShipping(join(folder, 'shipping'), plan),
    snapshot: () => measureSnapshots(join(folder, 'snapshot'), snapshot),
  });

const rowOf = (name: string, { opsPerSecond, p50Ms, p99Ms }: Measure): string[] => [
  name,
  formatRate(opsPerSecond),
  `${p50Ms.toFixed(2)} ms`,
  `${p99Ms.toFixed(2)} ms`,
];

function report({ shipping, snapshot }: Results, table: (cells: Cells) => string): string {
  const head = ['puts', 'a second', 'p50', 'p99'];
  const rows = [
    ...(shipping
      ? [
          rowOf('without a backup', shipping.measures.alone!),
          rowOf(`shipped, ${costOf(shipping).toFixed(1)} % fewer`, shipping.measures.shipped!),
        ]
      : []),
    ...(snapshot
      ? [
          rowOf(`into ${snapshot.items.toLocaleString('en-US')} items`, snapshot.quiet),
          rowOf(`during a snapshot of them (${snapshot.seconds.toFixed(0)} s)`, snapshot.during),
        ]
      : []),
  ];
  return table([head, ...rows]);
}
