import { expect, it } from 'vitest';
import { whenKnown } from './maybe-promise.ts';

it('continues at once with a value, and later with a promise', async () => {
  expect(whenKnown(20, value => value + 1)).toBe(21);
  const later = whenKnown(Promise.resolve(20), value => value + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(21);
  await expect(whenKnown(Promise.reject(new Error('no')), () => 1)).rejects.toThrow('no');
});
