import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bucket, judge, type RateLimitStore, type RatePolicy } from '../src/index.ts';

const policy = (limit: number, windowMs: number): RatePolicy => ({
  name: 'test',
  limit,
  windowMs,
  shared: true,
});

// A store of limits promises this. `make` opens one for each of the processes that are to share it.
export function testRateLimitStore(make: (processes: number) => Promise<RateLimitStore[]>): void {
  describe('a rate limit store', () => {
    it('gives the same verdicts as a single bucket, for every caller and at any time', async () => {
      const asked = fc.record({
        waitMs: fc.integer({ min: 0, max: 2000 }),
        by: fc.nat(1),
        key: fc.constantFrom('a', 'b'),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(asked, { maxLength: 25 }),
          fc.integer({ min: 1, max: 6 }),
          async (all, limit) => {
            const stores = await make(2);
            const buckets = new Map<string, Bucket>();
            let nowMs = Date.UTC(2030, 0, 1);
            for (const { waitMs, by, key } of all) {
              nowMs += waitMs;
              const { bucket, ...verdict } = judge(buckets.get(key), policy(limit, 5000), nowMs);
              buckets.set(key, bucket);
              // One that has not heard of the last request learns of it before it lets the next one pass.
              expect(await stores[by]!.take(key, policy(limit, 5000), nowMs)).toMatchObject({
                isAllowed: verdict.isAllowed,
                remaining: verdict.remaining,
              });
            }
          },
        ),
        { numRuns: 40 },
      );
    });

    it('admits no more than its limit, however many requests arrive at once', async () => {
      const stores = await make(4);
      const asked = Array.from({ length: 40 }, (_, i) =>
        stores[i % 4]!.take('k', policy(7, 60_000), 1_000_000),
      );
      const allowed = (await Promise.all(asked)).filter(verdict => verdict.isAllowed);
      expect(allowed).toHaveLength(7);
      expect(allowed.map(verdict => verdict.remaining).sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
    });

    it('counts each key separately', async () => {
      const [store] = await make(1);
      for (const key of ['a', 'b', '["a","b"]', 'ä'.repeat(3000)])
        expect(await store!.take(key, policy(1, 1000), 1000)).toMatchObject({ isAllowed: true });
    });

    it('refills no bucket twice because two clocks differ', async () => {
      const [ahead, behind] = await make(2);
      const nowMs = 1_000_000;
      let allowed = 0;
      for (let i = 0; i < 20; i++) {
        if ((await ahead!.take('k', policy(5, 10_000), nowMs + 4000)).isAllowed) allowed++;
        if ((await behind!.take('k', policy(5, 10_000), nowMs)).isAllowed) allowed++;
      }
      expect(allowed).toBe(5);
    });
  });
}
