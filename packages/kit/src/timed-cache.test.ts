import { expect, it } from 'vitest';
import { manualClock } from './manual-clock.ts';
import { createTimedCache } from './timed-cache.ts';

const open = () => {
  const clock = manualClock();
  const cache = createTimedCache<number>({ clock, most: 10, forMs: 1000 });
  let reads = 0;
  const read = async () => ++reads;
  return { clock, cache, read };
};

it('reads once for concurrent callers, and again when the value is too old', async () => {
  const { clock, cache, read } = open();
  expect(await Promise.all([cache.load('a', read), cache.load('a', read)])).toEqual([1, 1]);
  await clock.advance(999);
  expect(await cache.load('a', read)).toBe(1);
  await clock.advance(1);
  expect(await cache.load('a', read)).toBe(2);
});

it('caches no failed read, nor what was deleted during the read', async () => {
  const { cache, read } = open();
  await expect(cache.load('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
  expect(await cache.load('a', read)).toBe(1);

  const { promise, resolve } = gate<number>();
  const late = cache.load('b', () => promise);
  cache.delete('b');
  resolve(7);
  expect(await late).toBe(7);
  expect(cache.get('b')).toBeUndefined();
});

it('shows a value without waiting, once it is read and until it is too old', async () => {
  const { clock, cache, read } = open();
  const reading = cache.load('a', read);
  expect(cache.peek('a')).toBeUndefined();
  await reading;
  expect(cache.peek('a')).toBe(1);
  await clock.advance(1000);
  expect(cache.peek('a')).toBeUndefined();
  await cache.load('a', read);
  cache.delete('a');
  expect(cache.peek('a')).toBeUndefined();
});

it('ignores entries from the future, when the clock steps back', async () => {
  const { clock, cache, read } = open();
  await cache.load('a', read);
  clock.set(clock.now() - 60_000);
  expect(await cache.load('a', read)).toBe(2);
});

function gate<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>(done => {
    resolve = done;
  });
  return { promise, resolve };
}

it('drops values when they are too heavy together, once they were read', async () => {
  const weighing = { weigh: (value: number) => value, mostWeight: 10 };
  const cache = createTimedCache<number>({ clock: manualClock(), most: 100, forMs: 1000, weighing });
  for (const key of ['a', 'b', 'c', 'd']) await cache.load(key, async () => 4);
  expect(['a', 'b', 'c', 'd'].filter(key => cache.get(key))).toEqual(['c', 'd']);
  await cache.load('e', async () => 6);
  expect(cache.get('e')).toBeUndefined();
});
