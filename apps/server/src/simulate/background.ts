import { dollarsPerMillion, perPartition } from './heat.ts';

// What servers and the consumers of streams use by the second, besides the operations of a load.

/** The consumers of each table's stream. */
export const consumersOf: Readonly<Record<string, number>> = {
  'ferryhook-main': 4,
  'ferryhook-events': 2,
  tenants: 1,
  'stak-inbox': 3,
  conversations: 3,
  'todo-app-data': 3,
};

// Of a consumer, for each shard in which something happens: its checkpoint. Leases and reports are those of idle servers.
const checkpointsPerSecond = 1;

/** Units a second of a server that does nothing: its reports, its leases, and lists of what is due. Counted by a test. */
export const idleServer = { reads: 7.2, writes: 0.8 } as const;

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
export function backgroundOf(writes: ReadonlyMap<string, number>, servers: number): BackgroundRow[] {
  let checkpoints = 0;
  for (const [table, perSecond] of writes)
    checkpoints +=
      (consumersOf[table] ?? 0) * Math.ceil(perSecond / perPartition.write) * checkpointsPerSecond;
  return [
    priced('checkpoints of streams', checkpoints, 0),
    priced(`${servers} servers`, idleServer.writes * servers, idleServer.reads * servers),
  ];
}
