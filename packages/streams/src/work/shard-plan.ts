import { hash } from 'node:crypto';
import { listedMs } from '../limits.ts';
import type { Shard } from '../source/shards.ts';
import type { Work } from './work-store.ts';

export type PlanInput = {
  shards: readonly Shard[];
  works: ReadonlyMap<string, Work>;
  // Consumers of one group assign their shards in the same way.
  group: string;
  nodes: ReadonlySet<string>; // nodes on which the consumer is alive
  node: string; // this node
  owner: string; // of the leases of this run of the process
  mine: ReadonlySet<string>;
  nowMs: number;
};

// Shards that can be read: not finished, and all parents finished. A parent that is neither listed nor known was
// removed before this consumer started.
export function readyShards({ shards, works }: Pick<PlanInput, 'shards' | 'works'>): Shard[] {
  const listed = new Set(shards.map(shard => shard.key));
  const isOver = (key: string) => {
    const work = works.get(key);
    return work ? work.finishedAt !== undefined : !listed.has(key);
  };
  const all = [...shards, ...unlisted(works, listed)];
  return all.filter(({ key, parents }) => !isOver(key) && parents.every(isOver));
}

// Shards that were started and are no longer listed. A process has to read them to notice, and to finish them.
function unlisted(works: ReadonlyMap<string, Work>, listed: ReadonlySet<string>): Shard[] {
  return [...works.values()].flatMap(({ key, streamArn, shardId, finishedAt }) =>
    streamArn && shardId && finishedAt === undefined && !listed.has(key)
      ? [{ key, streamArn, shardId, parents: [], isOpen: false }]
      : [],
  );
}

// Assigns shards to nodes. Every consumer of a group gets the same result from the same shards and nodes, so that
// consumers which share reads are on one node. A node that comes or goes moves few shards besides its own.
export function assignShards(
  group: string,
  shards: readonly string[],
  nodes: readonly string[],
): Map<string, string> {
  const most = Math.ceil(shards.length / nodes.length);
  const loads = new Map<string, number>();
  const assigned = new Map<string, string>();
  for (const shard of [...shards].sort()) {
    const open = nodes.filter(node => (loads.get(node) ?? 0) < most);
    const weights = open.map(node => [hash('md5', `${group} ${shard} ${node}`), node] as const);
    const [, node] = weights.reduce((best, candidate) => (candidate[0] > best[0] ? candidate : best));
    loads.set(node, (loads.get(node) ?? 0) + 1);
    assigned.set(shard, node);
  }
  return assigned;
}

// Each node takes its share of the ready shards, and gives back those that are assigned to another live node. No shard
// is taken from a live node.
export function planShards(input: PlanInput): { take: Shard[]; giveBack: string[] } {
  const { works, group, nodes, node, owner, mine, nowMs } = input;
  const ready = readyShards(input);
  const keys = ready.map(({ key }) => key);
  const assigned = assignShards(group, keys, [...new Set([node, ...nodes])]);
  const isOurs = ({ key }: Shard) => assigned.get(key) === node;
  return {
    take: ready.filter(
      shard => isOurs(shard) && !mine.has(shard.key) && isFree(works.get(shard.key), nowMs, owner),
    ),
    giveBack: ready.filter(shard => !isOurs(shard) && mine.has(shard.key)).map(({ key }) => key),
  };
}

// A lease of `owner` itself is free for it: it does not work on that shard.
export const isFree = (work: Work | undefined, nowMs: number, owner?: string): boolean =>
  work?.owner === undefined || work.owner === owner || (work.leaseUntilMs ?? 0) <= nowMs;

// Finished shards that no process will ask about: a stream lists a shard for a day after its end.
export const forgettable = (
  shards: readonly Shard[],
  works: ReadonlyMap<string, Work>,
  nowMs: number,
): string[] => {
  const listed = new Set(shards.map(({ key }) => key));
  return [...works.values()]
    .filter(
      ({ key, shardId, finishedAt }) =>
        shardId !== undefined &&
        finishedAt !== undefined &&
        finishedAt <= nowMs - listedMs &&
        !listed.has(key),
    )
    .map(({ key }) => key);
};
