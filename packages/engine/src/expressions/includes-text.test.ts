import fc from 'fast-check';
import { expect, it } from 'vitest';
import { includesText } from './includes-text.ts';

it('finds what String.includes finds', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', '\u00e9', '\u{1f3e0}'), maxLength: 12 });
  fc.assert(
    fc.property(texts, texts, texts, (before, part, after) => {
      // Long enough not to be left to `includes`.
      const [long, other] = [part.repeat(60), after.repeat(60)];
      expect(includesText(before + long + after, long)).toBe(true);
      expect(includesText(long + other, other + long)).toBe((long + other).includes(other + long));
    }),
  );
});

it('searches a long repetitive text in linear time', () => {
  const text = 'a'.repeat(400_000);
  const half = 'a'.repeat(100_000);
  expect(includesText(text, `${half}b${half}`)).toBe(false);
  expect(includesText(text, half)).toBe(true);
  expect(includesText(`${text}b${text}`, `${half}b${half}`)).toBe(true);
});
