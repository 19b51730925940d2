import { waitsOfRank } from '@stak/kit';
import { memberLookMs } from '@stak/streams';
import { type DueShards, usualDueShards } from '../../config/config.ts';
import { beatMs, lookAgainMs } from '../../store/presence.ts';
import { dollarsPerMillion, type KeyHeat, perPartition } from './heat.ts';

// Units that servers and the consumers of streams use by the second, besides the operations of a load.

/** The consumers of each table's stream. */
export const consumersOf: Readonly<Record<string, number>> = {
  'ferryhook-main': 4,
  'ferryhook-events': 2,
  tenants: 1,
  'stak-inbox': 3,
  conversations: 4,
  'todo-app-data': 3,
};

// A consumer writes its checkpoint for each shard in which something happens. Leases and reports are those of idle
// servers.
const checkpointsPerSecond = 1;

/** Units a second of one server that does nothing: its report, its leases, and what it reads by itself. Counted by a test. */
const idleServer = { reads: 1.8, writes: 0.64 } as const;

// Lists of what is due, which one server reads as often as this, and the others less often.
const unitsOfEmptyList = 0.5; // of an index
const sharedLists = ({ webhooks, agents }: DueShards) => ({
  deliveries: { lists: webhooks, everyMs: 1_000 },
  others: { lists: agents + 12, everyMs: 5_000 }, // of inboxes 6, of tasks 4, and of tenants one that is read consistently
});

/** Read units a second of all servers together for lists of what is due. Counted by a test. */
function listReadsOf(servers: number, dueShards: DueShards = usualDueShards) {
  let looks = 0; // in the time in which the first server looks once
  for (let rank = 0; rank < servers; rank++) looks += 1 / waitsOfRank(rank);
  const { deliveries, others } = sharedLists(dueShards);
  const readsOf = ({ lists, everyMs }: typeof others) =>
    (looks * lists * unitsOfEmptyList) / (everyMs / 1000);
  return { deliveries: readsOf(deliveries), others: readsOf(others) };
}

// A consistent read of 4 KB is a unit. Every server reads what all of them say of themselves: its own report, and a
// member of each consumer.
const bytesOfUnit = 4096;
const bytesOf = { report: 132, member: 270 } as const;
const unitsOf = (items: number, bytes: number): number =>
  Math.max(1, Math.ceil((items * bytes) / bytesOfUnit));

/** Read units a second of one server, for the reports of all, and for the members of one consumer. Counted by a test. */
export const looksOf = (servers: number) => ({
  reports: unitsOf(servers, bytesOf.report) / (Math.max(beatMs, lookAgainMs(servers)) / 1000),
  members: unitsOf(servers, bytesOf.member) / (memberLookMs(servers) / 1000),
});

const consumers = Object.values(consumersOf).reduce((sum, count) => sum + count, 0);

/** Units a second of servers that do nothing. A list that all of them read makes more of each. */
export function idleUnits(servers: number, dueShards?: DueShards): { reads: number; writes: number } {
  const [one, each] = [looksOf(1), looksOf(servers)];
  const more = each.reports - one.reports + consumers * (each.members - one.members);
  const lists = listReadsOf(servers, dueShards);
  return {
    reads: servers * (idleServer.reads + more) + lists.deliveries + lists.others,
    writes: servers * idleServer.writes,
  };
}

/** The keys that every server uses by the second, with the units of all servers together. */
export function idleKeys(servers: number, dueShards: DueShards): BackgroundKey[] {
  const { reports, members } = looksOf(servers);
  const ofReports = { where: 'stak-streams', key: 'servers', partitions: 1 };
  return [
    { ...ofReports, kind: 'read', unitsEach: servers * reports },
    { ...ofReports, kind: 'write', unitsEach: servers / (beatMs / 1000) },
    {
      where: 'stak-streams',
      key: 'consumer#{consumer}',
      kind: 'read',
      partitions: consumers,
      unitsEach: servers * members,
    },
    {
      where: 'ferryhook-events/GSI2',
      key: 'DUE#{dueIn}',
      kind: 'read',
      partitions: dueShards.webhooks,
      unitsEach: listReadsOf(servers, dueShards).deliveries / dueShards.webhooks,
    },
  ];
}

export type BackgroundKey = Pick<KeyHeat, 'where' | 'key' | 'kind' | 'partitions'> & { unitsEach: number };
export type BackgroundRow = { name: string; writes: number; reads: number; dollars: number };

const secondsPerMonth = 30 * 86_400;
const priced = (name: string, writes: number, reads: number): BackgroundRow => {
  const perSecond = writes * dollarsPerMillion.write + reads * dollarsPerMillion.read;
  return { name, writes, reads, dollars: (perSecond / 1e6) * secondsPerMonth };
};

/**
 * `writes` are units a second of each table. A partition of DynamoDB takes a thousand, and has a shard of its own; a
 * table has one at least.
 */
export function backgroundOf(
  writes: ReadonlyMap<string, number>,
  servers: number,
  dueShards: DueShards,
): BackgroundRow[] {
  let checkpoints = 0;
  for (const [table, perSecond] of writes)
    checkpoints +=
      (consumersOf[table] ?? 0) * Math.ceil(perSecond / perPartition.write) * checkpointsPerSecond;
  const idle = idleUnits(servers, dueShards);
  return [
    priced('checkpoints of streams', checkpoints, 0),
    priced(`${servers.toLocaleString('en')} servers`, idle.writes, idle.reads),
  ];
}
