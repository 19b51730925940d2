import fc from 'fast-check';
import { expect, it } from 'vitest';
import { diffLines } from './line-diff.ts';

const marks = { same: ' ', removed: '-', added: '+' };
const show = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) => marks[kind] + text);

it('lists removed and added lines', () => {
  expect(show('a\nb\nc', 'a\nx\nc\nd')).toEqual([' a', '-b', '+x', ' c', '+d']);
  expect(show('a', 'a')).toEqual([' a']);
});

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', '{', '}'), { maxLength: 12 })
  .map(lines => lines.join('\n'));

it('reproduces both texts', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      const without = (kind: 'removed' | 'added') =>
        lines
          .filter(line => line.kind !== kind)
          .map(line => line.text)
          .join('\n');
      expect(without('added')).toBe(before);
      expect(without('removed')).toBe(after);
    }),
  );
});

it('shows long texts one after the other', () => {
  const long = (prefix: string) => Array.from({ length: 1_500 }, (_, at) => `${prefix}${at}`).join('\n');
  const lines = diffLines(long('a'), long('b'));
  expect(lines).toHaveLength(3_000);
  expect([lines[0]!.kind, lines[1_500]!.kind]).toEqual(['removed', 'added']);
});
