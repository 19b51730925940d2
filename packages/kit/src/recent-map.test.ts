import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRecentMap } from './recent-map.ts';

it('evicts the least recently used entries, and deletes on request', () => {
  const map = createRecentMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  expect(map.get('a')).toBe(1);
  map.set('c', 3);
  expect(['a', 'b', 'c'].map(map.get)).toEqual([1, undefined, 3]);
  map.set('a', 4); // as recent as if it were new
  map.set('d', 5);
  expect(['a', 'c', 'd'].map(map.get)).toEqual([4, undefined, 5]);
  map.delete('a');
  expect(map.get('a')).toBeUndefined();
});

it('has a limit, keeps the most recently used, and never returns an old value', () => {
  const use = fc.record({ does: fc.constantFrom('get', 'set', 'delete'), key: fc.nat(12) });
  fc.assert(
    fc.property(fc.array(use, { maxLength: 200 }), fc.integer({ min: 2, max: 9 }), (uses, most) => {
      const map = createRecentMap<number, number>(most);
      const latest = new Map<number, number>(); // in the order of use
      for (const [value, { does, key }] of uses.entries()) {
        const before = latest.get(key);
        const found = does === 'get' ? map.get(key) : undefined;
        if (found !== undefined) expect(found).toBe(before);
        latest.delete(key);
        if (does === 'set') map.set(key, value);
        if (does === 'set') latest.set(key, value);
        else if (found !== undefined) latest.set(key, found);
        if (does === 'delete') map.delete(key);
        expect(map.size()).toBeLessThanOrEqual(most);
      }
      const surelyKept = [...latest].slice(-Math.floor(most / 2));
      for (const [key, value] of surelyKept) expect(map.get(key)).toBe(value);
    }),
  );
});

it('keeps no more than its weight, and nothing that is heavier than half of it', () => {
  const map = createRecentMap<string, number>(100, { weigh: value => value, mostWeight: 10 });
  for (const [i, weight] of [3, 1, 4, 1, 5, 2, 3, 5, 3].entries()) {
    map.set(`${i}`, weight);
    expect(map.get(`${i}`)).toBe(weight);
    const kept = Array.from({ length: i + 1 }, (_, j) => `${j}`).flatMap(key => map.get(key) ?? []);
    expect(kept.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(10);
  }
  map.set('8', 6);
  expect(map.get('8')).toBeUndefined();
});
