import { type DueShards, usualDueShards } from '../../config/config.ts';
import { type BackgroundRow, backgroundOf, idleKeys } from './background.ts';
import { dollarsPerMonth, type Heat, type KeyHeat, perPartition, storagePerMonth } from './heat.ts';
import { isOfOperations, isOfUser, isShared } from './owners.ts';
import type { Simulated } from './simulate.ts';

// The cost of a load, and how hot its partitions get, computed from what one operation of each kind uses.
// Deterministic; nothing is run.

export type Load = {
  users: number;
  tenants: number; // over which the users are spread evenly
  rates: ReadonlyMap<string, number>; // operations per second, by kind
  storedGb?: number; // in tables and indexes
  servers?: number;
};

const usualServers = 3;
const secondsPerMonth = 30 * 86_400;

type LoadRow = {
  name: string;
  perSecond: number;
  writes: number; // units per second
  reads: number;
  dollars: number; // per month
  gbPerMonth: number; // that it adds to what is stored
  // The number of tenants, inboxes and so on that it has to be spread over.
  spread: { place: string; count: number }[];
};

// All partitions whose keys have the same form, under all operations together.
type WarmKey = Pick<KeyHeat, 'where' | 'key' | 'kind'> & {
  partitions: number;
  unitsEach: number; // per second
  share: number; // of one partition's limit
};

export type Plan = {
  rows: LoadRow[];
  background: BackgroundRow[];
  keys: WarmKey[];
  storageDollars?: number;
  dollars: number;
};

export function planLoad(measured: readonly Simulated[], load: Load): Plan {
  const rows: LoadRow[] = [];
  const keys = new Map<string, Omit<WarmKey, 'share'>>();
  const writes = new Map<string, number>(); // units a second, by table
  for (const { name, rate, ways } of measured) {
    const perSecond = load.rates.get(rate);
    if (perSecond === undefined) continue;
    const heat = heatUnder(ways, perSecond / load.tenants);
    rows.push({
      name,
      perSecond,
      writes: heat.writes * perSecond,
      reads: heat.reads * perSecond,
      dollars: dollarsPerMonth(heat, perSecond),
      gbPerMonth: (heat.bytes * perSecond * secondsPerMonth) / 1e9,
      spread: ways.slice(0, -1).map(({ place, heat: { hottest } }) => ({
        place,
        count: Math.ceil(perSecond / hottest.most),
      })),
    });
    for (const { where, kind, units } of heat.keys)
      if (kind === 'write' && !where.includes('/'))
        writes.set(where, (writes.get(where) ?? 0) + units * perSecond);
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
  const servers = load.servers ?? usualServers;
  const dueShards = dueShardsOf(measured);
  if (rows.length > 0)
    for (const idle of idleKeys(servers, dueShards)) keys.set(`${idle.where} ${idle.key} ${idle.kind}`, idle);
  const warm = Array.from(
    keys.values(),
    (key): WarmKey => ({ ...key, share: key.unitsEach / perPartition[key.kind] }),
  );
  const storageDollars = load.storedGb === undefined ? undefined : storagePerMonth(load.storedGb);
  const background = rows.length === 0 ? [] : backgroundOf(writes, servers, dueShards);
  return {
    rows,
    background,
    ...(storageDollars !== undefined && { storageDollars }),
    keys: warm.sort((a, b) => b.share - a.share),
    dollars: [...rows, ...background].reduce((sum, row) => sum + row.dollars, storageDollars ?? 0),
  };
}

// In a tenant with so many operations a second, most share a read or a write that happens once a second, as they did
// where it was measured in one busy tenant.
const busyPerSecond = 10;

const heatUnder = (ways: Simulated['ways'], perSecondOfTenant: number): Heat =>
  (perSecondOfTenant >= busyPerSecond ? (ways.at(-2) ?? ways.at(-1)!) : ways.at(-1)!).heat;

function dueShardsOf(measured: readonly Simulated[]): DueShards {
  const keys = measured.flatMap(({ ways }) => ways.flatMap(({ heat }) => heat.keys));
  const partitionsIn = (index: string) =>
    keys.find(({ where, kind }) => where === index && kind === 'write')?.partitions;
  return {
    webhooks: partitionsIn('ferryhook-events/GSI2') ?? usualDueShards.webhooks,
    agents: partitionsIn('conversations/due') ?? usualDueShards.agents,
  };
}

// How many partitions a key has under the load: those of each tenant or user. A key of neither is shared by all of them,
// and has as many as when it was measured.
function partitionsOf(key: KeyHeat, { users, tenants }: Load): number {
  if (isShared(key)) return key.partitions;
  return (isOfUser(key) ? users : tenants) * key.shards;
}
