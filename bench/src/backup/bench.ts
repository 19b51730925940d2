import { join } from 'node:path';
import type { Measure, Plan } from '../harness.ts';
import { createBench, runParts } from '../parts.ts';
import { type Cells, formatRate, markdownTable, textTable } from '../table.ts';
import { measureShipping } from './shipping.ts';
import { measureSnapshots, type SnapshotSettings } from './snapshots.ts';
import { costOf, judgeResults, type Part, partNames, type Results } from './targets.ts';

type Extent = { plan: Plan; snapshot: SnapshotSettings };

const full: Extent = {
  plan: { rounds: 9, roundMs: 2000, warmUpMs: 2000 },
  snapshot: { items: 1_000_000, rounds: 3, quietMs: 15_000 },
};
const quick: Extent = {
  plan: { rounds: 3, roundMs: 1000, warmUpMs: 500 },
  snapshot: { items: 30_000, rounds: 1, quietMs: 2000 },
};

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

export const run = createBench({
  name: 'backup',
  partNames,
  full,
  quick,
  measure,
  judgeResults,
  printResults: results => report(results, textTable),
  readmeSection: results => report(results, markdownTable),
});
