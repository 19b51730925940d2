import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findMismatch, findProblem, type JsonObject } from './index.ts';

const ajv = new Ajv2020({ strict: false, ownProperties: true, logger: false });
addFormats.default(ajv, { mode: 'fast' });

const name = fc.constantFrom('a', 'b', 'constructor', 'x/~y');
const small = fc.integer({ min: 0, max: 3 });
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(null, true, 0, 1, 1.5, 4, '', 'a', '😀😀', '2026-02-21', 'ann@example.com'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}));
const typeName = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');
const sizes = 'minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems';

const { schema } = fc.letrec<{ schema: boolean | JsonObject }>(tie => {
  const list = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
  const keywords = {
    ...Object.fromEntries(`${sizes} minProperties maxProperties`.split(' ').map(size => [size, small])),
    type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
    enum: fc.array(value, { minLength: 1, maxLength: 4 }),
    const: value,
    format: fc.constantFrom('date', 'email', 'uuid', 'hostname', 'date-time'),
    multipleOf: fc.constantFrom(1, 2, 0.5),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
    additionalProperties: tie('schema'),
    items: tie('schema'),
    prefixItems: list,
    anyOf: list,
    oneOf: list,
    allOf: list,
    not: tie('schema'),
  };
  const some = Object.entries(keywords).map(([keyword, wanted]) =>
    fc.tuple(fc.constant(keyword), wanted as fc.Arbitrary<unknown>),
  );
  const few = fc.uniqueArray(fc.oneof(...some), { maxLength: 3, selector: ([keyword]) => keyword });
  return { schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), few.map(Object.fromEntries)) };
});

// Undefined where the code that Ajv makes of a schema names a variable which it has left out, as it does of
// { not: true, oneOf: [{ prefixItems: [false] }] }.
function judge(rules: object | boolean, one: unknown): boolean | undefined {
  try {
    return ajv.validate(rules, one);
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

describe('a value and a schema', () => {
  it('match if Ajv says so', () => {
    fc.assert(
      fc.property(schema, value, (...given) => {
        const [rules, one] = JSON.parse(JSON.stringify(given));
        const isFitting = judge(rules, one);
        fc.pre(isFitting !== undefined);
        expect(findMismatch(rules, one) === undefined).toBe(isFitting);
      }),
      { numRuns: 500 },
    );
  });

  it('report where they do not match', () => {
    const nested = { properties: { 'a/b': { items: { maxLength: 2 } } } };
    expect(findMismatch(nested, { 'a/b': ['ok', 'long'] })).toEqual({
      pointer: '/a~1b/1',
      keyword: 'maxLength',
      detail: 'Does not fit "maxLength": 2',
    });
    expect(findMismatch({ additionalProperties: false }, { more: 1 })).toEqual({
      pointer: '/more',
      keyword: 'false',
      detail: 'Is not allowed',
    });
  });

  const bounds = { bytes: 16 * 1024, parts: 500, depth: 16 };
  const long = 'x'.repeat(10_000);
  const pairs = '😀'.repeat(60_000);
  it.each<[string, JsonObject, unknown]>([
    ['lists', { items: { not: { enum: [...Array(400).keys()] } } }, Array(30_000).fill('x')],
    ['lengths', { allOf: Array(400).fill({ maxLength: 60_000 }) }, pairs],
    [
      'formats',
      { items: { allOf: Array(200).fill({ not: { format: 'ipv6' } }) } },
      Array(30).fill('1:'.repeat(1000)),
    ],
    [
      'constants',
      { items: { anyOf: [{ const: { long } }, true] } },
      Array(60_000).fill({ long: `${long}!` }),
    ],
    [
      'names',
      { allOf: Array(400).fill({ minProperties: 1 }) },
      Object.fromEntries(
        Array(20_000)
          .fill(0)
          .map((_, i) => [i, 0]),
      ),
    ],
    [
      'branches',
      { anyOf: Array(15).fill({ oneOf: Array(15).fill({ items: false }) }) },
      Array(60_000).fill(0),
    ],
  ])('are refused if there is too much to compare: %s', (_, hostile, given) => {
    expect(findProblem(hostile, bounds)).toBeUndefined();
    const before = process.cpuUsage();
    const found = findMismatch(hostile, given);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000); // microseconds; 10,000 when quiet
    expect(found === undefined || found.detail.length < 300).toBe(true);
  });

  it('do not match if there was too much to compare', () => {
    const enumeration = [...Array(400).keys()];
    for (const schema of [
      { items: { not: { enum: enumeration } } },
      { not: { items: { enum: enumeration } } },
    ])
      expect(findMismatch(schema, Array(7000).fill(399))).toBeDefined();
    expect(findMismatch({ items: { not: { enum: enumeration } } }, Array(7000).fill('x'))).toEqual({
      pointer: '',
      keyword: 'steps',
      detail: 'Takes too long to check',
    });
  });

  it('need a schema with few parts, including its lists', () => {
    const many = { type: 'object', properties: { a: { enum: [...Array(501).keys()] } } };
    expect(findProblem(many, bounds)).toBe('The schema has more than 500 parts.');
  });

  it('are refused together with what Ajv refuses', () => {
    const odd = fc.oneof(
      value,
      schema,
      fc.constantFrom(-1, 0.5, ['string', 'string'], 'string', [1], [{}], []),
    );
    const anyKeyword = fc.constantFrom(
      ...'type enum title description examples deprecated minLength maximum multipleOf required properties items anyOf not'.split(
        ' ',
      ),
    );
    fc.assert(
      fc.property(anyKeyword, odd, (keyword, wanted) => {
        const [rules] = JSON.parse(JSON.stringify([{ [keyword]: wanted }]));
        if (findProblem(rules, bounds) === undefined) expect(ajv.validateSchema(rules)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
