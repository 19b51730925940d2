import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { binsMost, binsOf, spanOf } from './event-bins.ts';

const at = (receivedAt: number, status = 'delivered') => ({ receivedAt, status });

describe('bins of events', () => {
  it('have a round length, also where nothing arrived', () => {
    const minute = 60_000;
    const bins = binsOf([at(10 * minute + 5), at(12 * minute, 'failed'), at(12 * minute + 7)]);
    expect(bins.map(({ count, failed }) => [count, failed])).toHaveLength(25);
    expect(spanOf(bins[0]!)).toBe('5 seconds');
    expect(bins.at(-1)).toMatchObject({ count: 2, failed: 1 });
    expect(binsOf([])).toEqual([]);
    expect(spanOf(binsOf([at(0), at(50 * 3_600_000)])[0]!)).toBe('hour');
  });

  it('are few, cover every event once, and lie beside each other', () => {
    const moment = fc.integer({ min: 0, max: 4_000_000_000_000 });
    fc.assert(
      fc.property(fc.array(moment, { minLength: 1, maxLength: 50 }), moments => {
        const bins = binsOf(moments.map(ms => at(ms)));
        expect(bins.length).toBeLessThanOrEqual(binsMost);
        expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(moments.length);
        for (const ms of moments)
          expect(bins.filter(({ fromMs, toMs }) => ms >= fromMs && ms < toMs)).toHaveLength(1);
        for (const [index, bin] of bins.slice(1).entries()) expect(bin.fromMs).toBe(bins[index]!.toMs);
      }),
    );
  });
});
