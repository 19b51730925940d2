import { dollarsPerMonth, type KeyHeat, perPartition, storagePerMonth } from './heat.ts';
import { isOfOperations, isOfUser, isShared } from './owners.ts';
import type { Simulated } from './simulate.ts';

// The cost of a load, and how hot its partitions get, computed from what one operation of each kind uses.
// Deterministic; nothing is run.

export type Load = {
  users: number;
  tenants: number; // over which the users are spread evenly
  rates: ReadonlyMap<string, number>; // operations per second, by kind
  storedGb?: number; // in tables and indexes
};

type LoadRow = {
  name: string;
  perSecond: number;
  writes: number; // units per second
  reads: number;
  dollars: number; // per month
  // The number of tenants, inboxes and so on that it has to be spread over.
  spread: { place: string; count: number }[];
};

// All partitions whose keys have the same form, under all operations together.
type WarmKey = Pick<KeyHeat, 'where' | 'key' | 'kind'> & {
  partitions: number;
  unitsEach: number; // per second
  share: number; // of one partition's limit
};

export type Plan = { rows: LoadRow[]; keys: WarmKey[]; storageDollars?: number; dollars: number };

export function planLoad(measured: readonly Simulated[], load: Load): Plan {
  const rows: LoadRow[] = [];
  const keys = new Map<string, Omit<WarmKey, 'share'>>();
  for (const { name, rate, ways } of measured) {
    const perSecond = load.rates.get(rate);
    if (perSecond === undefined) continue;
    const { heat } = ways.at(-1)!;
    rows.push({
      name,
      perSecond,
      writes: heat.writes * perSecond,
      reads: heat.reads * perSecond,
      dollars: dollarsPerMonth(heat, perSecond),
      spread: ways.slice(0, -1).map(({ place, heat: { hottest } }) => ({
        place,
        count: Math.ceil(perSecond / hottest.most),
      })),
    });
    for (const key of heat.keys.filter(isOfOperations)) {
      const id = `${key.where} ${key.key} ${key.kind}`;
      const { where, kind } = key;
      const sum = keys.get(id) ?? { where, key: key.key, kind, partitions: 0, unitsEach: 0 };
      const partitions = partitionsOf(key, load);
      sum.partitions = Math.max(sum.partitions, partitions);
      sum.unitsEach += (key.units * perSecond) / partitions;
      keys.set(id, sum);
    }
  }
  const warm = Array.from(
    keys.values(),
    (key): WarmKey => ({ ...key, share: key.unitsEach / perPartition[key.kind] }),
  );
  const storageDollars = load.storedGb === undefined ? undefined : storagePerMonth(load.storedGb);
  return {
    rows,
    ...(storageDollars !== undefined && { storageDollars }),
    keys: warm.sort((a, b) => b.share - a.share),
    dollars: rows.reduce((sum, row) => sum + row.dollars, storageDollars ?? 0),
  };
}

// How many partitions a key has under the load: those of each tenant or user. A key of neither is shared by all of them,
// and has as many as when it was measured.
function partitionsOf(one: KeyHeat, { users, tenants }: Load): number {
  if (isShared(one)) return one.partitions;
  return (isOfUser(one) ? users : tenants) * one.shards;
}
