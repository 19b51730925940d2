import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Shard } from '../source/shards.ts';
import { assignShards, planShards, readyShards } from './shard-plan.ts';
import type { Work } from './work-store.ts';

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

  it('reads a shard that was begun and is no longer listed before its children', () => {
    const shards = [shard('b', ['a'])];
    expect(keysOf(readyShards({ shards, works: works({ key: 'a' }) }))).toEqual(['a']);
    expect(keysOf(readyShards({ shards, works: works(finished('a')) }))).toEqual(['b']);
  });
});

describe('planShards', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const shards = names.map(name => shard(name));
  const input = { shards, works: works(), group: 'table', owner: 'me', mine: new Set<string>(), nowMs: 50 };

  it('assigns every shard and takes none from a live node, for any number of nodes', () => {
    const owners = fc.array(fc.constantFrom(undefined, 0, 1, 2), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(owners, fc.integer({ min: 1, max: 3 }), (owned, members) => {
        const isAlive = (owner: number | undefined) => owner !== undefined && owner < members;
        const all = works(
          ...names.map((key, i) => ({
            key,
            owner: owned[i] === undefined ? undefined : `p${owned[i]}`,
            leaseUntilMs: isAlive(owned[i]) ? 100 : 10,
          })),
        );
        const nodes = new Set(Array.from({ length: members }, (_, i) => `node-${i}`));
        const share = Math.ceil(names.length / members);
        let settled = 0;
        for (let me = 0; me < members; me++) {
          const mine = new Set(names.filter((_, i) => owned[i] === me));
          const plan = planShards({ ...input, works: all, nodes, node: `node-${me}`, mine });
          for (const { key } of plan.take) expect(isAlive(owned[names.indexOf(key)])).toBe(false);
          for (const key of plan.giveBack) expect(mine.has(key)).toBe(true);
          const kept = mine.size - plan.giveBack.length + plan.take.length;
          expect(kept).toBeLessThanOrEqual(share);
          settled += kept + plan.giveBack.length;
        }
        // One more round takes what the first one gave back.
        expect(settled).toBe(names.length);
      }),
    );
  });

  it('spreads many consumers of one shard each over the processes', () => {
    const nodes = new Set(['one', 'two', 'three', 'four']);
    const taken = new Map<string, number>();
    for (let i = 0; i < 100; i++) {
      const one = { ...input, shards: [shard('a')], group: `consumer-${i}`, nodes };
      const takers = [...nodes].filter(node => planShards({ ...one, node }).take.length > 0);
      expect(takers).toHaveLength(1);
      taken.set(takers[0]!, (taken.get(takers[0]!) ?? 0) + 1);
    }
    for (const node of nodes) expect(taken.get(node)).toBeGreaterThan(10);
  });
});

describe('assignShards', () => {
  const many = Array.from({ length: 100 }, (_, i) => `shard-${i}`);

  it('gives every node its share, in whatever order they are listed', () => {
    const forth = assignShards('table', many, ['x', 'y', 'z']);
    const back = assignShards('table', many.toReversed(), ['z', 'y', 'x']);
    expect([...forth].sort()).toEqual([...back].sort());
    for (const node of ['x', 'y', 'z'])
      expect([...forth.values()].filter(one => one === node).length).toBeGreaterThan(31);
  });

  it('moves few shards when a node joins', () => {
    const before = assignShards('table', many, ['x', 'y', 'z']);
    const after = assignShards('table', many, ['x', 'y', 'z', 'new']);
    const moved = many.filter(shard => before.get(shard) !== after.get(shard));
    expect(moved.length).toBeLessThan(50);
  });
});
