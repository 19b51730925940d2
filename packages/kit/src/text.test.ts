import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutText, isName, isOneLine } from './text.ts';

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

it.each(['Ann', 'Ann O’Neil-Çelik', 'אן כהן\u200f', 'می\u200cخواهم', '👩\u200d👩\u200d👧', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'])(
  '%j is a name',
  name => {
    expect(isName(name)).toBe(true);
  },
);

it.each([
  '\u202enimdA', // overrides the direction of all that follows
  'Ann\u2066', // an isolate that is not closed
  'Ad\u200bmin', // a space without width
  'Ad\u{e0041}min', // a tag
  'Ann\u2028', // a line separator
  'Ann\n',
])('%j is none', name => {
  expect(isName(name)).toBe(false);
});

it('a line has no control characters', () => {
  expect(['a b', 'a\u2029b', 'a\nb'].map(isOneLine)).toEqual([true, true, false]);
});
