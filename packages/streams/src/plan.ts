import type { Shard } from './shards.ts';
import type { Work } from './work.ts';

export type Situation = {
  shards: readonly Shard[];
  works: ReadonlyMap<string, Work>;
  members: number; // consumers alive, this one included
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

// Each consumer takes its share of the ready shards. One that has more, because another consumer has come, gives
// back the rest: nothing is ever taken from a consumer that is alive.
export function planWork(situation: Situation): { take: Shard[]; giveBack: string[] } {
  const { works, members, mine, nowMs } = situation;
  const ready = readyShards(situation);
  const share = Math.ceil(ready.length / Math.max(1, members));
  const held = ready.filter(({ key }) => mine.has(key));
  const free = ready.filter(({ key }) => !mine.has(key) && isFree(works.get(key), nowMs));
  return {
    take: free.slice(0, Math.max(0, share - held.length)),
    giveBack: held.slice(share).map(({ key }) => key),
  };
}

export const isFree = (work: Work | undefined, nowMs: number): boolean =>
  work?.owner === undefined || (work.leaseUntilMs ?? 0) <= nowMs;
