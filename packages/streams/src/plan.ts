import { hash } from 'node:crypto';
import type { Shard } from './shards.ts';
import type { Work } from './work.ts';

export type Situation = {
  shards: readonly Shard[];
  works: ReadonlyMap<string, Work>;
  // Consumers of one group share their shards out alike.
  group: string;
  nodes: ReadonlySet<string>; // where the consumer is alive
  node: string; // this one
  mine: ReadonlySet<string>;
  nowMs: number;
};

// Shards whose turn has come: not finished, and nothing before them unfinished. A parent that is neither listed
// nor known was gone before this consumer began.
export function readyShards({ shards, works }: Pick<Situation, 'shards' | 'works'>): Shard[] {
  const listed = new Set(shards.map(shard => shard.key));
  const isOver = (key: string) => {
    const work = works.get(key);
    return work ? work.finishedAt !== undefined : !listed.has(key);
  };
  const all = [...shards, ...unlisted(works, listed)];
  return all.filter(({ key, parents }) => !isOver(key) && parents.every(isOver));
}

// Begun, and gone from the listing since: somebody has to find that out and finish it.
function unlisted(works: ReadonlyMap<string, Work>, listed: ReadonlySet<string>): Shard[] {
  return [...works.values()].flatMap(({ key, streamArn, shardId, finishedAt }) =>
    streamArn && shardId && finishedAt === undefined && !listed.has(key)
      ? [{ key, streamArn, shardId, parents: [], isOpen: false }]
      : [],
  );
}

// Which node reads which shard. Every consumer of a group comes to the same answer from the same shards and nodes, so
// that those which read together do it on one node; a node that comes or goes moves few shards besides its own.
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
    const [, node] = weights.reduce((best, one) => (one[0] > best[0] ? one : best));
    loads.set(node, (loads.get(node) ?? 0) + 1);
    assigned.set(shard, node);
  }
  return assigned;
}

// Each node takes its share of the ready shards, and gives back what is another one's, because that has come: nothing
// is ever taken from a node that is alive.
export function planWork(situation: Situation): { take: Shard[]; giveBack: string[] } {
  const { works, group, nodes, node, mine, nowMs } = situation;
  const ready = readyShards(situation);
  const keys = ready.map(({ key }) => key);
  const assigned = assignShards(group, keys, [...new Set([node, ...nodes])]);
  const isOurs = ({ key }: Shard) => assigned.get(key) === node;
  return {
    take: ready.filter(shard => isOurs(shard) && !mine.has(shard.key) && isFree(works.get(shard.key), nowMs)),
    giveBack: ready.filter(shard => !isOurs(shard) && mine.has(shard.key)).map(({ key }) => key),
  };
}

export const isFree = (work: Work | undefined, nowMs: number): boolean =>
  work?.owner === undefined || (work.leaseUntilMs ?? 0) <= nowMs;
