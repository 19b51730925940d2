import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json-object.ts';
import { checkSchema } from './json-schema.ts';
import { findMismatch, TooMuchToCheck } from './schema-match.ts';

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

describe('a value and a schema', () => {
  it('fit each other when Ajv says so', () => {
    fc.assert(
      fc.property(schema, value, (...given) => {
        const [rules, one] = JSON.parse(JSON.stringify(given));
        expect(findMismatch(rules, one) === undefined).toBe(ajv.validate(rules, one));
      }),
      { numRuns: 500 },
    );
  });

  it('say where they do not', () => {
    const nested = { properties: { 'a/b': { items: { maxLength: 2 } } } };
    expect(findMismatch(nested, { 'a/b': ['ok', 'long'] })).toEqual({
      pointer: '/a~1b/1',
      detail: 'Does not fit "maxLength": 2',
    });
    expect(findMismatch({ additionalProperties: false }, { more: 1 })).toEqual({
      pointer: '/more',
      detail: 'Is not allowed',
    });
  });

  it('are given up on when there is too much to compare', () => {
    const enumeration = Array.from({ length: 400 }, (_, i) => i);
    const hostile = { type: 'object', additionalProperties: { items: { not: { enum: enumeration } } } };
    checkSchema(hostile);
    expect(() => findMismatch(hostile, { a: Array(7000).fill('x') })).toThrow(TooMuchToCheck);
    expect(findMismatch(hostile, { a: Array(100).fill('x') })).toBeUndefined();
  });

  it('are taken from a schema with few parts only, its lists included', () => {
    const long = { type: 'object', properties: { a: { enum: Array.from({ length: 501 }, (_, i) => i) } } };
    expect(() => checkSchema(long)).toThrow('more than 500 parts');
  });
});
