import { expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';

const delays = { firstMs: 10, mostMs: 100 };

it('doubles up to a limit', () => {
  const most = [1, 2, 3, 4, 5, 60].map(failures => backoffMs(failures, delays, () => 1));
  expect(most).toEqual([10, 20, 40, 80, 100, 100]);
});

it('is random from zero, or from one half', () => {
  expect(backoffMs(3, delays, () => 0)).toBe(0);
  expect(backoffMs(3, delays, () => 0, 'half')).toBe(20);
  expect(backoffMs(3, delays, () => 0.5, 'half')).toBe(30);
});
