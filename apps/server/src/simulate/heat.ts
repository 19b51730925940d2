import type { PartitionUsage } from '@stak/engine';

// What DynamoDB gives one partition key in a second, whatever the table has.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
const perPartition = { read: 3000, write: 1000 } as const;

// On demand in us-east-1, for a million request units. https://aws.amazon.com/dynamodb/pricing/on-demand/
const dollarsPerMillion = { read: 0.125, write: 0.625 } as const;

export type Heat = {
  reads: number; // units, for one operation
  writes: number;
  dollars: number; // for a million operations
  hottest: Hottest;
};
export type Hottest = {
  where: string; // the table or index
  partition: string;
  kind: 'read' | 'write';
  units: number; // that it takes of each operation
  most: number; // operations a second that it can take
};

// The consumers' own leases and checkpoints: they cost by the second, not by the operation.
const housekeeping = new Set(['stak-streams']);

export const isWork = ({ table }: PartitionUsage): boolean => !housekeeping.has(table);

export function heatOf(usages: readonly PartitionUsage[], operations: number): Heat {
  const sums = { read: 0, write: 0 };
  const partitions = new Map<string, { usage: PartitionUsage; units: number }>();
  for (const usage of usages.filter(isWork)) {
    sums[usage.kind] += usage.units;
    const name = JSON.stringify([usage.table, usage.index, usage.partition, usage.kind]);
    const sum = partitions.get(name);
    if (sum) sum.units += usage.units;
    else partitions.set(name, { usage, units: usage.units });
  }
  const reads = sums.read / operations;
  const writes = sums.write / operations;
  const found = Array.from(partitions.values(), ({ usage, units }): Hottest => {
    const { table, index, partition, kind } = usage;
    const each = units / operations;
    return {
      where: index === undefined ? table : `${table}/${index}`,
      partition,
      kind,
      units: each,
      most: perPartition[kind] / each,
    };
  });
  found.sort((a, b) => a.most - b.most);
  if (!found[0]) throw new Error('nothing was read or written');
  return {
    reads,
    writes,
    dollars: reads * dollarsPerMillion.read + writes * dollarsPerMillion.write,
    hottest: found[0],
  };
}

const secondsPerMonth = 30 * 86_400;

export const dollarsPerMonth = ({ dollars }: Heat, perSecond: number): number =>
  (dollars / 1e6) * perSecond * secondsPerMonth;
