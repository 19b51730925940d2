import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { compileRegex, findCostlyPart } from './regex.ts';
import { measurePattern } from './regex-size.ts';

const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '\\d',
  '[a-z]',
  '[^]x]',
  '\\x{41}',
  '\\Qa{9}\\E',
  '[[:alpha:]-]',
  'é',
);
const count = fc.oneof(
  fc.constantFrom('', '', '*', '+', '?', '{3}', '{0,2}', '{2,}'),
  fc.integer({ min: 1, max: 12 }).map(times => `{${times}}`),
);
const { pattern } = fc.letrec<{ pattern: string; group: string }>(tie => ({
  pattern: fc
    .array(fc.tuple(fc.oneof({ maxDepth: 3 }, atom, tie('group')), count), { minLength: 1, maxLength: 4 })
    .map(parts => parts.map(([one, times]) => one + times).join('')),
  group: fc
    .tuple(fc.constantFrom('(', '(?:', '(?i:'), fc.array(tie('pattern'), { minLength: 1, maxLength: 2 }))
    .map(([open, members]) => `${open}${members.join('|')})`),
}));

describe('a regex', () => {
  it('is never estimated smaller than what it compiles to', () => {
    fc.assert(
      fc.property(pattern, text => {
        fc.pre(measurePattern(text).size < 3_000);
        let size = 0;
        try {
          size = RE2JS.compile(text).programSize();
        } catch {
          fc.pre(false); // RE2 has limits of its own
        }
        expect(size).toBeLessThanOrEqual(2 * measurePattern(text).size + 4);
      }),
    );
  });

  it.each([
    'a{1000}b{1000}c{1000}d{1000}',
    '((a{30}){30}){30}',
    '(((((a{9}){9}){9}){9}){9}){9}',
    '(a|b){999}{999}',
    `(?i)${'[^B-\u{1e900}]'.repeat(30)}`,
    '(?i)[\\x{42}-\\x{1e900}]',
    '(?s-i:x)(?i:[B-\u{1e900}])',
    `[${'\\pL'.repeat(60)}]`,
    'a'.repeat(300),
  ])('may not be %s', text => {
    const before = process.cpuUsage();
    expect(findCostlyPart(text)).toBeTypeOf('string');
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000); // microseconds; RE2 needs up to a minute
  });

  it.each([
    '^invoice\\.(paid|voided)$',
    '(?i)^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,24}$',
    '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    '\\p{Greek}+\\pL{2,20}',
    '[\\]\\-a-z]{1,64}',
    `(?:${Array(30).fill('order.made').join('|').slice(0, 240)})`,
    '[B-\u{1e900}]',
  ])('may be %s', text => {
    expect(findCostlyPart(text)).toBeUndefined();
    expect(() => compileRegex(text)).not.toThrow();
  });
});
