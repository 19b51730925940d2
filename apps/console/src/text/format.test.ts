import { describe, expect, it } from 'vitest';
import { formatAgo } from './format.ts';

describe('a distance in time', () => {
  const [minute, day] = [60_000, 86_400_000];
  it.each([
    [7 * day - minute, 'in 7 days'],
    [6 * day + 3 * 3_600_000, 'in 6 days'],
    [-(2 * day - minute), 'yesterday'],
    [-7 * day, '7 days ago'],
    [90 * 1000, 'in 2 minutes'],
  ])('of %i ms is %s', (ms, words) => expect(formatAgo(1e12 + ms, 1e12)).toBe(words));
});
