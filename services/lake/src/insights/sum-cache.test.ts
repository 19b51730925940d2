import { manualClock } from '@stak/kit';
import type { Insight } from '@stak/table';
import { describe, expect, it } from 'vitest';
import * as limits from '../limits.ts';
import { addRows, createSumCache } from './sum-cache.ts';

const insight = { groups: { day: '', status: '' }, sums: { tasks: '', hours: '' } } as unknown as Insight;
const row = (day: string | null, status: string | null, tasks: number, hours: number) => ({
  day,
  status,
  tasks,
  hours,
});

describe('sums', () => {
  it('add up by group, in order, and drop zeros', () => {
    const before = [row('a', 'open', 2, 5), row('b', 'open', 1, 0)];
    const more = [
      row('b', 'open', -1, 0),
      row(null, 'open', 1, 1),
      row('a', null, 1, 0),
      row('a', 'open', 1, 2),
    ];
    expect(addRows(insight, before, more)).toEqual([
      row('a', 'open', 3, 7),
      row('a', null, 1, 0),
      row(null, 'open', 1, 1),
    ]);
  });

  it('stay while only one of them is zero', () => {
    expect(addRows(insight, [row('a', 'x', 1, 4)], [row('a', 'x', -1, 0)])).toEqual([row('a', 'x', 0, 4)]);
  });
});

describe('cached results', () => {
  it('are found for the same gold and more changes, and nothing else', () => {
    const cache = createSumCache(manualClock());
    cache.set('q', ['g1'], ['f1', 'f2'], [row('a', 'x', 1, 1)]);
    expect(cache.find('q', ['g1'], ['f1', 'f2', 'f3'])?.rows).toEqual([row('a', 'x', 1, 1)]);
    expect(cache.find('q', ['g2'], ['f1', 'f2'])).toBeUndefined(); // compacted since
    expect(cache.find('q', ['g1'], ['merged'])).toBeUndefined();
    expect(cache.find('other', ['g1'], ['f1', 'f2'])).toBeUndefined();
  });

  it('expire, and are evicted if there are too many', async () => {
    const clock = manualClock();
    const cache = createSumCache(clock);
    cache.set('old', [], [], []);
    await clock.advance(limits.cachedSumsMs);
    expect(cache.find('old', [], [])).toBeUndefined();
    for (let i = 0; i <= limits.cachedSums; i++) cache.set(`q${i}`, [], [], []);
    expect(cache.find('q0', [], [])).toBeUndefined();
    expect(cache.find('q1', [], [])).toBeDefined();
  });
});
