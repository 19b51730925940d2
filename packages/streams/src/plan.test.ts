import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planWork, rankOf, readyShards } from './plan.ts';
import type { Shard } from './shards.ts';
import type { Work } from './work.ts';

const shard = (key: string, parents: string[] = []): Shard => ({
  key,
  parents,
  streamArn: 'arn',
  shardId: key,
  isOpen: true,
});
const works = (...all: (Partial<Work> & { key: string })[]) =>
  new Map(all.map(work => [work.key, { fence: 1, streamArn: 'arn', shardId: work.key, ...work }]));
const finished = (key: string) => ({ key, finishedAt: 1 });
const keysOf = (shards: readonly Shard[]) => shards.map(({ key }) => key);

describe('readyShards', () => {
  it('waits for every parent', () => {
    const shards = [shard('a'), shard('b'), shard('ab', ['a', 'b'])];
    expect(keysOf(readyShards({ shards, works: works() }))).toEqual(['a', 'b']);
    expect(keysOf(readyShards({ shards, works: works(finished('a')) }))).toEqual(['b']);
    expect(keysOf(readyShards({ shards, works: works(finished('a'), finished('b')) }))).toEqual(['ab']);
  });

  it('does not wait for a parent that was never known', () => {
    expect(keysOf(readyShards({ shards: [shard('b', ['a'])], works: works() }))).toEqual(['b']);
  });

  it('gives a shard that was begun and is no longer listed its turn before its children', () => {
    const shards = [shard('b', ['a'])];
    expect(keysOf(readyShards({ shards, works: works({ key: 'a' }) }))).toEqual(['a']);
    expect(keysOf(readyShards({ shards, works: works(finished('a')) }))).toEqual(['b']);
  });
});

describe('planWork', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];

  it('leaves nothing undone and takes nothing from the living, however many share', () => {
    const owners = fc.array(fc.constantFrom(undefined, 0, 1, 2), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(owners, fc.integer({ min: 1, max: 3 }), (owned, members) => {
        const shards = names.map(name => shard(name));
        const isAlive = (owner: number | undefined) => owner !== undefined && owner < members;
        const all = works(
          ...names.map((key, i) => ({
            key,
            owner: owned[i] === undefined ? undefined : `p${owned[i]}`,
            leaseUntilMs: isAlive(owned[i]) ? 100 : 10,
          })),
        );
        const taken = new Set<string>();
        for (let me = 0; me < members; me++) {
          const mine = new Set(names.filter((_, i) => owned[i] === me));
          const { take, giveBack } = planWork({ shards, works: all, members, mine, nowMs: 50 });
          const share = Math.ceil(names.length / members);
          for (const { key } of take) {
            expect(isAlive(owned[names.indexOf(key)])).toBe(false);
            taken.add(key);
          }
          for (const key of giveBack) expect(mine.has(key)).toBe(true);
          expect(mine.size - giveBack.length + take.length).toBeLessThanOrEqual(share);
        }
        // One more round gives away what the first one gave back.
        if (members === 1) expect(taken.size + owned.filter(isAlive).length).toBe(names.length);
      }),
    );
  });

  it('spreads many consumers of one shard each over the processes', () => {
    const members = new Set(['one', 'two', 'three', 'four']);
    const situation = {
      shards: [shard('a')],
      works: works(),
      members: 4,
      mine: new Set<string>(),
      nowMs: 50,
    };
    const taken = new Map<string, number>();
    for (let i = 0; i < 100; i++) {
      const takers = [...members].filter(
        member => planWork({ ...situation, rank: rankOf(`consumer-${i}`, member, members) }).take.length > 0,
      );
      expect(takers).toHaveLength(1);
      taken.set(takers[0]!, (taken.get(takers[0]!) ?? 0) + 1);
    }
    for (const member of members) expect(taken.get(member)).toBeGreaterThan(10);
  });
});
