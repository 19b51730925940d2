import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberSet, numberTest } from './state.ts';

const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 30 });

it('has the live members, and neither others nor later ones', () => {
  fc.assert(
    fc.property(numbers, numbers, (all, some) => {
      const live = all.toSorted((a, b) => a - b);
      const members = new Set(some);
      const set = numberSet(live, members, 60);
      const has = numberTest(set);
      for (const one of live) expect(has(one)).toBe(members.has(one));
      for (const later of [61, 62]) expect(has(later)).toBe(false);
      expect(set.also.length).toBeLessThan(Math.max(1, live.length));
    }),
  );
});

it('is one number if everything is read', () => {
  expect(numberSet([3, 5, 9], new Set([3, 5, 9]), 12)).toEqual({ to: 12, also: [] });
  expect(numberSet([3, 5, 9], new Set([3, 9]), 12)).toEqual({ to: 4, also: [9] });
});
