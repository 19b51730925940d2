import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compileChecks } from './schema-check.ts';

const tree: z.ZodObject = z.object({
  name: z.string(),
  get children() {
    return z.record(z.string(), tree).optional();
  },
});

const fields = {
  text: z.string(),
  bounded: z.string().min(2).max(4),
  pattern: z.string().regex(/^[a-c]+$/),
  sticky: z.string().regex(/a/g),
  trimmed: z.string().trim(),
  lower: z.string().toLowerCase(),
  coerced: z.coerce.string(),
  number: z.number(),
  int: z.int(),
  bound: z.int().min(0).max(9),
  above: z.number().gt(1).lt(3),
  step: z.number().multipleOf(2),
  bool: z.boolean(),
  literal: z.literal('a'),
  either: z.literal(['a', 1]),
  enumerated: z.enum(['a', 'b']),
  numeric: z.enum({ one: 1, two: 2 }),
  optional: z.string().optional(),
  refined: z.string().refine(value => value !== 'abc'),
  defaulted: z.int().default(7),
  nullable: z.string().nullable(),
  list: z.array(z.string()),
  record: z.record(z.string(), z.int()),
  keyed: z.record(z.string().min(2), z.int()),
  object: z.object({ a: z.string(), b: z.int().optional() }),
  strict: z.strictObject({ a: z.string() }),
  loose: z.looseObject({ a: z.string() }),
  nested: z.record(z.string(), z.object({ state: z.enum(['a', 'b']), run: z.int() })),
  bytes: z.custom<Uint8Array>(value => value instanceof Uint8Array),
  unknown: z.unknown(),
  date: z.iso.datetime(),
  changed: z.string().transform(value => value.length),
  tree,
};

const scalar = fc.oneof(
  fc.constantFrom<unknown>('a', 'b', 'abc', 'abcde', '', ' a', 'A', '__proto__', 0, 1, 2, -1, 9, 10, 2.5, -0),
  fc.constantFrom<unknown>(
    true,
    null,
    undefined,
    Number.NaN,
    Infinity,
    2 ** 53,
    new Uint8Array([1]),
    new Date(0),
  ),
  fc.string(),
);
const name = fc.constantFrom('a', 'b', 'state', 'run', 'name', 'children', 'zz', 'constructor');
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

describe('compileChecks', () => {
  it('accepts an attribute only if Zod returns it unchanged', () => {
    const { attributes } = compileChecks(z.object(fields));
    let accepted = 0;
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(fields)), value, (field, input) => {
        if (!attributes.get(field)!(input)) return;
        accepted += 1;
        const result = fields[field as keyof typeof fields].safeParse(input);
        expect(result.success && result.data, field).toStrictEqual(input);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 20_000 : 6_000 },
    );
    expect(accepted).toBeGreaterThan(40);
  });

  it.each([
    'text',
    'bounded',
    'pattern',
    'int',
    'bound',
    'above',
    'optional',
    'record',
    'object',
    'nested',
    'bytes',
  ])('knows the schema of %s', field => {
    // A fixed seed: of some schemas, few random values are valid, and a share of few says nothing.
    const valid = fc
      .sample(value, { numRuns: 10_000, seed: 7 })
      .filter(one => fields[field as keyof typeof fields].safeParse(one).success);
    const unchanged = compileChecks(z.object(fields)).attributes.get(field)!;
    const kept = valid.filter(
      one => JSON.stringify(fields[field as keyof typeof fields].parse(one)) === JSON.stringify(one),
    );
    expect(kept.length).toBeGreaterThan(10);
    expect(kept.filter(one => !unchanged(one)).length).toBeLessThanOrEqual(kept.length / 10);
  });

  it('knows which schemas have rules of their own', () => {
    const { text } = fields;
    expect(compileChecks(z.object({ text })).hasOwnRules).toBe(false);
    expect(compileChecks(z.strictObject({ text })).hasOwnRules).toBe(true);
    expect(compileChecks(z.object({ text }).refine(() => true)).hasOwnRules).toBe(true);
  });
});
