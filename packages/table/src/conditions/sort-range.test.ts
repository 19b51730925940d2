import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildKey, parseTemplate } from '../design/key-template.ts';
import { type Bounds, boundsOf, type Range } from './sort-range.ts';

const texts = ['T#{a}', 'T#{a}#C#{b}', '{a}', 'D#{a}#{b}', 'N#{a:6}#{b}'];
const part = fc.oneof(
  fc.constantFrom('0', '1', '9', 'a', 'ab', 'b', 'é', '\uffee', '😀'),
  fc.string({ minLength: 1, maxLength: 4 }).filter(value => !value.includes('#')),
);
const number = fc.nat({ max: 999_999 });

const sample = fc.constantFrom(...texts).chain(text => {
  const template = parseTemplate(text, 1024);
  const values = fc.record(
    Object.fromEntries(
      template.params.map((name, i) => [name, typeof template.formats[i] === 'number' ? number : part]),
    ),
  );
  return fc.record({
    template: fc.constant(template),
    bound: values,
    other: values,
    end: fc.constantFrom('from', 'after', 'to', 'before'),
  });
});

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const isWithin = (key: string, { low, high, without }: Bounds): boolean =>
  (low === undefined || compare(key, low) >= 0) &&
  (high === undefined || compare(key, high) <= 0) &&
  key !== without;

const holds = {
  from: (order: number) => order >= 0,
  after: (order: number) => order > 0,
  to: (order: number) => order <= 0,
  before: (order: number) => order < 0,
};

describe('bounds of sort keys', () => {
  it('contain exactly the keys on their side, and never a NUL', () => {
    fc.assert(
      fc.property(sample, ({ template, bound, other, end }) => {
        const bounds = boundsOf(template, {}, { [end]: bound } as Range<object>);
        for (const text of [bounds.low, bounds.high, bounds.without]) {
          expect(text?.includes('\0') ?? false).toBe(false);
        }
        const key = buildKey(template, other);
        expect(isWithin(key, bounds)).toBe(holds[end](compare(key, buildKey(template, bound))));
      }),
      { numRuns: 500 },
    );
  });
});
