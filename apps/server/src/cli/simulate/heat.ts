import type { PartitionUsage } from '@stak/engine';
import { matchesTemplate } from '@stak/table';
import { type DueShards, usualDueShards } from '../../config/config.ts';
import { designs } from '../../store/designs.ts';
import { isOfOperations, isPolled, isShared } from './owners.ts';
import { shardsOf } from './shards.ts';

// The throughput of one partition key in DynamoDB, independent of the table's.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
export const perPartition = { read: 3000, write: 1000 } as const;

// On demand in us-east-1, for a million request units. https://aws.amazon.com/dynamodb/pricing/on-demand/
// The design document of tenants has twice as much: AWS halved these prices in November 2024.
export const dollarsPerMillion = { read: 0.125, write: 0.625 } as const;

// A gigabyte costs this in tables and indexes of the standard class. The first 25 are free.
const storageDollars = { perGbMonth: 0.25, freeGb: 25 } as const;

export const storagePerMonth = (gb: number): number =>
  Math.max(0, gb - storageDollars.freeGb) * storageDollars.perGbMonth;

export type Heat = {
  reads: number; // units for one operation; lists that servers look at by the second are in `keys` only
  writes: number;
  dollars: number; // for a million operations
  bytes: number; // that one operation leaves in tables and indexes
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
  shards: number; // of the partitions, those that one tenant, user or other owner has
  hottestUnits: number; // of one partition, for one operation
};
export type Hottest = Pick<KeyHeat, 'where' | 'key' | 'kind'> & {
  units: number; // used by each operation
  most: number; // operations per second that it allows
};

export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

// Leases, checkpoints and reports of servers cost by the second, not by the operation: `background.ts` has them. Markers of
// effects that happen once are written with each effect.
const marker = /^once#/;

export const isWork = ({ table, partition }: PartitionUsage): boolean =>
  table !== 'stak-streams' || marker.test(partition);

export function heatOf(
  usages: readonly PartitionUsage[],
  operations: number,
  dueShards: DueShards = usualDueShards,
  bytes = 0,
): Heat {
  const work = usages.filter(isWork);
  const keys = keysOf(groupsOf(work, dueShards), operations);
  if (keys.length === 0) throw new Error('nothing was read or written');
  const sum = (kind: 'read' | 'write'): number =>
    rounded(keys.reduce((units, key) => units + (key.kind === kind && !isPolled(key) ? key.units : 0), 0));
  const reads = sum('read');
  const writes = sum('write');
  return {
    reads,
    writes,
    dollars: rounded(reads * dollarsPerMillion.read + writes * dollarsPerMillion.write),
    bytes: Math.max(0, Math.round(bytes / operations)),
    hottest: hottestOf(keys),
    keys: keys.filter(({ units }) => units * operations >= 1),
  };
}

// A partition, or all shards of one key.
type Group = Pick<KeyHeat, 'where' | 'key' | 'kind' | 'units'> & {
  shards: number | 'used';
  used: Set<string>;
};

function groupsOf(usages: readonly PartitionUsage[], dueShards: DueShards): Iterable<Group> {
  const groups = new Map<string, Group>();
  for (const { table, index, partition, kind, units } of usages) {
    const where = index === undefined ? table : `${table}/${index}`;
    const { name, shards } = shardsOf(where, partition, dueShards);
    const id = JSON.stringify([where, name, shards, kind]);
    const key = designedKey(where, partition);
    const group = groups.get(id) ?? { where, key, kind, units: 0, shards, used: new Set() };
    group.units += units;
    group.used.add(partition);
    if (shards !== 'used' && group.used.size > shards)
      throw new Error(`${where} ${key} has more than ${shards} shards`);
    groups.set(id, group);
  }
  return groups.values();
}

function keysOf(groups: Iterable<Group>, operations: number): KeyHeat[] {
  const keys = new Map<string, KeyHeat>();
  for (const { where, key, kind, units, used, shards: among } of groups) {
    const shards = among === 'used' ? used.size : among;
    const name = `${where} ${key} ${kind}`;
    const sum = keys.get(name) ?? { where, key, kind, units: 0, partitions: 0, shards: 1, hottestUnits: 0 };
    sum.units += units / operations;
    sum.partitions += shards;
    sum.shards = Math.max(sum.shards, shards);
    sum.hottestUnits = Math.max(sum.hottestUnits, units / operations / shards);
    keys.set(name, sum);
  }
  return Array.from(keys.values(), key => ({
    ...key,
    units: rounded(key.units),
    hottestUnits: rounded(key.hottestUnits),
  })).sort((a, b) => dollarsPerMillion[b.kind] * b.units - dollarsPerMillion[a.kind] * a.units);
}

export function hottestOf(keys: readonly KeyHeat[]): Hottest {
  return keys
    .map(({ where, key, kind, hottestUnits: units }) => ({
      where,
      key,
      kind,
      units,
      most: rounded(perPartition[kind] / units),
    }))
    .reduce((most, limit) => (limit.most < most.most ? limit : most));
}

// The number of accounts is unlimited, so what limits their operations is what all of them share. If they share
// nothing, it is the hottest partition of the accounts that were measured.
export function hottestEverywhere(keys: readonly KeyHeat[]): Hottest {
  const ofOperations = keys.filter(isOfOperations);
  const shared = ofOperations.filter(isShared);
  return hottestOf(shared.length > 0 ? shared : ofOperations);
}

// The template of the key, such as `t#{tenant_key}U#{uid}#{inbox_key}`.
function designedKey(where: string, partition: string): string {
  const [table, index] = where.split('/');
  const entities = designs.find(({ name }) => name === table)?.entities ?? [];
  for (const { key, indexes } of entities)
    for (const { templates } of index === undefined ? [key] : indexes.filter(({ name }) => name === index))
      if (matchesTemplate(templates.partition, partition)) return templates.partition.text;
  return partition;
}

const secondsPerMonth = 30 * 86_400;

export const dollarsPerMonth = ({ dollars }: Heat, perSecond: number): number =>
  (dollars / 1e6) * perSecond * secondsPerMonth;
