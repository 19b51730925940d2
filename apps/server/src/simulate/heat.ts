import type { PartitionUsage } from '@stak/engine';
import { designs } from '../designs.ts';

// The throughput of one partition key in DynamoDB, independent of the table's.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
export const perPartition = { read: 3000, write: 1000 } as const;

// On demand in us-east-1, for a million request units. https://aws.amazon.com/dynamodb/pricing/on-demand/
const dollarsPerMillion = { read: 0.125, write: 0.625 } as const;

export type Heat = {
  reads: number; // units for one operation
  writes: number;
  dollars: number; // for a million operations
  hottest: Hottest;
  keys: KeyHeat[]; // where the units go, the most first
};
// All partitions whose keys have the same form.
export type KeyHeat = {
  where: string; // the table or index
  key: string; // as in the design
  kind: 'read' | 'write';
  units: number; // for one operation
  partitions: number; // over which the operations are spread
};
export type Hottest = {
  where: string; // the table or index
  partition: string;
  key: string; // the form of the partition's key, as in the design
  kind: 'read' | 'write';
  units: number; // used by each operation
  most: number; // operations per second that it allows
};

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

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
  const reads = rounded(sums.read / operations);
  const writes = rounded(sums.write / operations);
  const found = Array.from(partitions.values(), ({ usage, units }): Hottest => {
    const { table, index, partition, kind } = usage;
    const each = rounded(units / operations);
    const where = index === undefined ? table : `${table}/${index}`;
    return {
      where,
      partition,
      key: designedKey(where, partition),
      kind,
      units: each,
      most: rounded(perPartition[kind] / each),
    };
  });
  found.sort((a, b) => a.most - b.most);
  if (!found[0]) throw new Error('nothing was read or written');
  return {
    reads,
    writes,
    dollars: rounded(reads * dollarsPerMillion.read + writes * dollarsPerMillion.write),
    hottest: found[0],
    keys: keysOf(found, operations),
  };
}

function keysOf(found: readonly Hottest[], operations: number): KeyHeat[] {
  const keys = new Map<string, KeyHeat>();
  for (const { where, key, kind, units } of found) {
    const name = `${where} ${key} ${kind}`;
    const sum = keys.get(name) ?? { where, key, kind, units: 0, partitions: 0 };
    keys.set(name, { ...sum, units: rounded(sum.units + units), partitions: sum.partitions + 1 });
  }
  return [...keys.values()]
    .filter(({ units }) => units * operations >= 1)
    .sort((a, b) => dollarsPerMillion[b.kind] * b.units - dollarsPerMillion[a.kind] * a.units);
}

// The template of the key, such as `t#{tenant_key}U#{uid}#{inbox_key}`.
function designedKey(where: string, partition: string): string {
  const [table, index] = where.split('/');
  const entities = designs.find(({ name }) => name === table)?.entities ?? [];
  for (const { key, indexes } of entities)
    for (const { templates } of index === undefined ? [key] : indexes.filter(({ name }) => name === index))
      if (templates.partition.pattern.test(partition)) return templates.partition.text;
  return partition;
}

const secondsPerMonth = 30 * 86_400;

export const dollarsPerMonth = ({ dollars }: Heat, perSecond: number): number =>
  (dollars / 1e6) * perSecond * secondsPerMonth;
