import { createHash } from 'node:crypto';
import type { Shard } from './shards.ts';
import type { Work } from './work.ts';

export type Situation = {
  shards: readonly Shard[];
  works: ReadonlyMap<string, Work>;
  members: number; // consumers alive, this one included
  // This one's place among them, from 0 up, in an order that each consumer begins elsewhere.
  rank?: number;
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

// Where a process stands among those that run the consumer.
export function rankOf(consumer: string, owner: string, members: ReadonlySet<string>): number {
  const all = [...members].sort();
  const start = createHash('sha256').update(consumer).digest().readUInt32BE() % Math.max(1, all.length);
  const index = all.indexOf(owner);
  return index < 0 ? 0 : (index - start + all.length) % all.length;
}

// Each consumer takes its share of the ready shards. One that has more, because another consumer has come, gives
// back the rest: nothing is ever taken from a consumer that is alive.
export function planWork(situation: Situation): { take: Shard[]; giveBack: string[] } {
  const { works, members, rank = 0, mine, nowMs } = situation;
  const ready = readyShards(situation);
  // Of more consumers than shards, the first in the order take one each: so the shards of many consumers are spread
  // over the processes, instead of all being with the one that came first.
  const share = rank < ready.length ? Math.ceil(ready.length / Math.max(1, members)) : 0;
  const held = ready.filter(({ key }) => mine.has(key));
  const free = ready.filter(({ key }) => !mine.has(key) && isFree(works.get(key), nowMs));
  return {
    take: free.slice(0, Math.max(0, share - held.length)),
    giveBack: held.slice(share).map(({ key }) => key),
  };
}

export const isFree = (work: Work | undefined, nowMs: number): boolean =>
  work?.owner === undefined || (work.leaseUntilMs ?? 0) <= nowMs;
