import { describe, expect, it } from 'vitest';
import { checkBody, checkSchema } from './body-schema.ts';

const nested = (depth: number): Record<string, unknown> => (depth === 0 ? {} : { items: nested(depth - 1) });

describe('schemas of message bodies', () => {
  it.each([
    [{}],
    [{ type: 'string', maxLength: 10 }],
    [{ anyOf: [{ type: 'string' }, { type: 'object', properties: { at: { format: 'date-time' } } }] }],
    [
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        additionalProperties: false,
      },
    ],
  ])('takes %j', schema => checkSchema(schema));

  it.each([
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }],
    ['names by pattern', { patternProperties: { '^(a+)+$': {} } }],
    ['another document', { $ref: 'file:///etc/passwd' }],
    ['itself', { properties: { child: { $ref: '#' } } }],
    ['what compares everything with everything', { uniqueItems: true }],
    ['a schema that is none', { items: 5 }],
    ['a list that is none', { anyOf: 'x' }],
    ['a type that is none', { type: 'text' }],
    ['too deep', nested(20)],
    ['too many parts', { anyOf: Array.from({ length: 501 }, () => ({})) }],
    ['too long', { description: 'x'.repeat(20_000) }],
  ])('refuses %s', (_, schema) => {
    expect(() => checkSchema(schema)).toThrow(expect.objectContaining({ code: 'inbox.schema_refused' }));
  });

  it('says where a body is wrong', () => {
    const schema = { type: 'object', properties: { amount: { type: 'number' } } };
    checkBody(schema, { amount: 5 });
    expect(() => checkBody(schema, { amount: 'five' })).toThrow(
      expect.objectContaining({
        code: 'inbox.body_invalid',
        details: { errors: [expect.objectContaining({ pointer: '#/message/body/amount' })] },
      }),
    );
  });
});
