import { describe, expect, it } from 'vitest';
import { type AttributeValue, newItem } from '../values/attribute-value.ts';
import { validateItem, validateValue } from './attribute-values.ts';

const nested = (levels: number): AttributeValue => {
  let value: AttributeValue = { S: 'x' };
  for (let i = 1; i < levels; i++) value = i % 2 ? { L: [value] } : { M: { a: value } };
  return value;
};

describe('validateValue', () => {
  it.each<[string, AttributeValue]>([
    ['text', { S: '' }],
    ['text outside the basic plane', { S: '😀' }],
    ['empty binary', { B: new Uint8Array() }],
    ['a boolean', { BOOL: false }],
    ['null', { NULL: true }],
    ['an empty list', { L: [] }],
    ['an empty map', { M: {} }],
    ['sets', { BS: [new Uint8Array([1]), new Uint8Array([2])] }],
    ['32 levels', nested(32)],
  ])('accepts %s', (_, value) => {
    expect(() => validateValue(value)).not.toThrow();
  });

  it.each<[unknown, string]>([
    [{}, 'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes'],
    [null, 'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes'],
    [{ X: 1 }, 'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes'],
    [
      { S: 'a', N: '1' },
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    ],
    [{ S: 'a', N: 'b' }, 'The parameter cannot be converted to a numeric value: b'],
    [{ N: '' }, 'The parameter cannot be converted to a numeric value'],
    [{ SS: [] }, 'One or more parameter values were invalid: An string set  may not be empty'],
    [{ NS: [] }, 'One or more parameter values were invalid: An number set  may not be empty'],
    [{ BS: [] }, 'One or more parameter values were invalid: Binary sets should not be empty'],
    [
      { SS: ['a', 'a'] },
      'One or more parameter values were invalid: Input collection [a, a] contains duplicates.',
    ],
    [{ NS: ['1', '1.0'] }, 'Input collection contains duplicates'],
    [
      { BS: [new Uint8Array([1]), new Uint8Array([1])] },
      'One or more parameter values were invalid: Input collection [AQ==, AQ==]of type BS contains duplicates.',
    ],
    [
      { SS: [...'abcdefghij', 'a'] },
      'One or more parameter values were invalid: Input collection [a, b, c, d, e, f, g, h, i, j, a] contains duplicates.',
    ],
    [
      { NULL: false },
      'One or more parameter values were invalid: Null attribute value types must have the value of true',
    ],
    [
      { L: [{ M: { a: { SS: [] } } }] },
      'One or more parameter values were invalid: An string set  may not be empty',
    ],
    [
      { S: 'a\ud800' },
      'One or more parameter values were invalid: String is not well-formed: it contains an unpaired surrogate',
    ],
    [
      { M: { '\udc00': { S: 'a' } } },
      'One or more parameter values were invalid: String is not well-formed: it contains an unpaired surrogate',
    ],
    [
      nested(33),
      'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit',
    ],
    [{ S: 5 }, 'NUMBER_VALUE cannot be converted to String'],
    [{ B: 'AQ==' }, 'only base-64-encoded strings are convertible to bytes'],
    [{ SS: 'a' }, 'Unexpected field type'],
    [{ SS: [undefined] }, 'NULL_VALUE cannot be converted to String'],
    [
      { M: [] },
      'Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>',
    ],
  ])('refuses %j', (value, message) => {
    expect(() => validateValue(value as AttributeValue)).toThrow(
      expect.objectContaining({ message, statusCode: 400 }),
    );
  });

  it('makes numbers canonical and sorts sets in place', () => {
    const value: AttributeValue = {
      M: { n: { N: '1.50E2' }, l: { L: [{ N: '007' }] }, s: { NS: ['1.0', '-0'] } },
    };
    validateValue(value);
    expect(value).toEqual({ M: { n: { N: '150' }, l: { L: [{ N: '7' }] }, s: { NS: ['0', '1'] } } });
  });
});

describe('validateItem', () => {
  it('refuses more than 400 KB', () => {
    const item = newItem();
    item.a = { S: 'x'.repeat(409_599) };
    expect(() => validateItem(item)).not.toThrow();
    item.a = { S: 'x'.repeat(409_600) };
    expect(() => validateItem(item)).toThrow('Item size has exceeded the maximum allowed size');
  });

  it('refuses a name over 64 KB', () => {
    const item = newItem();
    item['é'.repeat(32_768)] = { S: 'a' };
    expect(() => validateItem(item)).toThrow('Attribute name is too large, must be less than 65536 bytes');
  });
});
