import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutText } from './text.ts';

it('cuts a text between two characters', () => {
  expect(cutText('abc', 5)).toBe('abc');
  expect(cutText('abc', 2)).toBe('ab');
  expect(cutText('a💥b', 2)).toBe('a');
  expect(cutText('a💥b', 3)).toBe('a💥');
  expect(cutText('a\udca5b', 3)).toBe('a\ufffdb');
});

it('returns text that a store accepts, for any input', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, most) => {
      const cut = cutText(text, most);
      expect(cut.isWellFormed()).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(most);
      if (text.isWellFormed()) expect(text.startsWith(cut)).toBe(true);
    }),
  );
});
