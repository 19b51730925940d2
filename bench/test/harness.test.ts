import { describe, expect, it } from 'vitest';
import { measureInterleaved, type Round, runClosedLoop, summarize, sumUp } from '../src/harness.ts';
import { replaceSection } from '../src/readme-section.ts';
import { median, percentile, spread } from '../src/statistics.ts';

describe('statistics', () => {
  it('takes the middle value, or the mean of the two in the middle', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  it('finds percentiles by rank', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile([7], 0.99)).toBe(7);
  });

  it('the spread is from the smallest to the largest', () => {
    expect(spread([200, 100, 150])).toBe(2);
    expect(spread([])).toBeNaN();
  });

  it('counts operations per elapsed time, not by latency', () => {
    expect(summarize([1, 1, 2, 4], 2)).toEqual({
      calls: 4,
      opsPerSecond: 2000,
      p50Ms: 1,
      p95Ms: 4,
      p99Ms: 4,
    });
  });

  it('ignores one bad round', () => {
    const rounds = [100, 1, 102].map(opsPerSecond => ({
      calls: 9,
      opsPerSecond,
      p50Ms: 1,
      p95Ms: 2,
      p99Ms: 2,
    }));
    expect(sumUp(rounds)).toMatchObject({ opsPerSecond: 100, rounds: [100, 1, 102] });
  });
});

describe('the closed loop', () => {
  it('keeps exactly the given number of calls in flight', async () => {
    let running = 0;
    let most = 0;
    const operation = async () => {
      most = Math.max(most, ++running);
      await new Promise(resolve => setImmediate(resolve));
      running--;
    };
    const round = await runClosedLoop(operation, { inFlight: 7, durationMs: 20 });
    expect(most).toBe(7);
    expect(running).toBe(0);
    expect(round.opsPerSecond).toBeGreaterThan(0);
  });

  it('fails when a call fails', async () => {
    const operation = () => Promise.reject(new Error('wrong answer'));
    await expect(runClosedLoop(operation, { inFlight: 2, durationMs: 20 })).rejects.toThrow('wrong answer');
  });
});

describe('interleaving', () => {
  it('warms up all contestants, then runs their rounds in rotating order', async () => {
    const calls: string[] = [];
    const runner = (name: string, opsPerSecond: number) => ({
      name,
      async run({ durationMs }: { durationMs: number }): Promise<Round> {
        calls.push(`${name}${durationMs}`);
        return { calls: 1, opsPerSecond: durationMs === 5 ? 1 : opsPerSecond, p50Ms: 1, p95Ms: 1, p99Ms: 1 };
      },
    });
    const plan = { rounds: 3, roundMs: 9, warmUpMs: 5 };
    const load = { operation: 'get', inFlight: 1 };
    const measures = await measureInterleaved([runner('a', 10), runner('b', 20)], load, plan);
    expect(calls).toEqual(['a5', 'b5', 'a9', 'b9', 'b9', 'a9', 'a9', 'b9']);
    expect(measures.a).toMatchObject({ opsPerSecond: 10, rounds: [10, 10, 10] });
    expect(measures.b).toMatchObject({ opsPerSecond: 20, rounds: [20, 20, 20] });
  });
});

describe('a generated section', () => {
  it('is replaced as a whole, however often', () => {
    const once = replaceSection('a\n<!-- x -->\nold\n<!-- /x -->\nb', 'x', 'new\n');
    expect(once).toBe('a\n<!-- x -->\nnew\n<!-- /x -->\nb');
    expect(replaceSection(once, 'x', 'new')).toBe(once);
  });

  it('must exist', () => {
    expect(() => replaceSection('<!-- /x --><!-- x -->', 'x', '')).toThrow('no section x');
  });
});
