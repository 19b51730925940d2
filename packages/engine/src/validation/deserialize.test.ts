import { describe, expect, it } from 'vitest';
import { serialize } from '../http/serialize.ts';
import { deserialize } from './deserialize.ts';

const put = (value: unknown) => ({ TableName: 'things', Item: { a: value } });
const misplaced = 'Start of structure or map found where not expected';

describe('deserialize', () => {
  it('reads a request', () => {
    const body = JSON.parse(
      '{"TableName":"t","Unknown":{"a":1},"ReturnValues":null,"Item":{"__proto__":{"S":"a"},"b":{"B":"AQI="},"l":{"L":[{"M":{"constructor":{"BOOL":"true"}}}]}}}',
    );
    const input = deserialize('PutItem', body) as { Item: Record<string, unknown> };
    expect(Object.keys(input)).toEqual(['TableName', 'Item']);
    expect(Object.keys(input.Item)).toEqual(['__proto__', 'b', 'l']);
    expect(Object.values(input.Item)[0]).toEqual({ S: 'a' });
    expect(input.Item.b).toEqual({ B: new Uint8Array([1, 2]) });
    expect(JSON.stringify(input.Item.l)).toBe('{"L":[{"M":{"constructor":{"BOOL":true}}}]}');
  });

  it.each<[unknown, string]>([
    [put({ S: 23 }), 'NUMBER_VALUE cannot be converted to String'],
    [put({ S: 34.56 }), 'DECIMAL_VALUE cannot be converted to String'],
    [put({ N: true }), 'TRUE_VALUE cannot be converted to String'],
    [put({ S: [] }), 'Unrecognized collection type class java.lang.String'],
    [put({ S: {} }), misplaced],
    [put({ BOOL: '23' }), 'Unexpected token received from parser'],
    [put({ BOOL: 1 }), 'NUMBER_VALUE cannot be converted to Boolean'],
    [put({ B: 23 }), 'only base-64-encoded strings are convertible to bytes'],
    [put({ B: [] }), 'Unrecognized collection type class java.nio.ByteBuffer'],
    [put({ B: '23456' }), 'Base64 encoded length is expected a multiple of 4 bytes but found: 5'],
    [put({ B: '=+/=' }), 'Invalid last non-pad Base64 character dectected'],
    [put({ BS: ['+/+='] }), 'Invalid last non-pad Base64 character dectected'],
    [put({ SS: 'a' }), 'Unexpected field type'],
    [put({ SS: {} }), misplaced],
    [put({ SS: [1] }), 'NUMBER_VALUE cannot be converted to String'],
    [put({ L: ['a'] }), 'Unexpected value type in payload'],
    [
      put({ M: [] }),
      'Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>',
    ],
    [put('a'), 'Unexpected value type in payload'],
    [put([]), 'Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue'],
    [{ Item: 'a' }, 'Unexpected field type'],
    [{ TableName: true }, 'TRUE_VALUE cannot be converted to String'],
    [{ Expected: { a: 1 } }, 'Unexpected value type in payload'],
    [
      { Expected: [] },
      'Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue>',
    ],
    [{ Expected: { a: { Value: 1 } } }, 'Unexpected field type'],
    [{ ExpressionAttributeNames: { a: 1 } }, 'NUMBER_VALUE cannot be converted to String'],
    [
      { ExpressionAttributeNames: [] },
      'Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>',
    ],
  ])('refuses %j', (body, message) => {
    expect(() => deserialize('PutItem', body)).toThrow(
      expect.objectContaining({ name: 'SerializationException', message }),
    );
  });

  it('names the lists of a batch as Java does', () => {
    expect(() => deserialize('BatchWriteItem', { RequestItems: { t: 1 } })).toThrow('ParameterizedTypeImpl');
    expect(() => deserialize('BatchWriteItem', { RequestItems: [] })).toThrow(
      'java.util.Map<java.lang.String, java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>',
    );
    expect(() => deserialize('BatchGetItem', { RequestItems: { t: { Keys: ['a'] } } })).toThrow(
      'ParameterizedTypeImpl',
    );
  });

  it('truncates fractions and refuses what does not fit', () => {
    expect(deserialize('Scan', { Limit: 2.9, Segment: -0.5 })).toEqual({ Limit: 2, Segment: 0 });
    expect(() => deserialize('Scan', { Limit: Number.POSITIVE_INFINITY })).toThrow('out of range of int');
    expect(() => deserialize('Scan', { Limit: '1' })).toThrow('STRING_VALUE cannot be converted to Integer');
  });

  it.each([null, [], 'a', 1, true])('refuses %j as a body', body => {
    expect(() => deserialize('PutItem', body)).toThrow(
      expect.objectContaining({ name: 'SerializationException' }),
    );
  });

  it.each(['Nope', 'constructor', '__proto__'])('does not know %s', operation => {
    expect(() => deserialize(operation, {})).toThrow(
      expect.objectContaining({ name: 'UnknownOperationException' }),
    );
  });

  it('handles nesting of any depth', () => {
    const depth = 100_000;
    const text = `{"TableName":"t","Item":{"a":${'{"L":['.repeat(depth)}${']}'.repeat(depth)}}}`;
    expect(() => deserialize('PutItem', JSON.parse(text))).toThrow('Nesting Levels have exceeded');
  });
});

describe('serialize', () => {
  it('turns binary into base64 and leaves the output unchanged', () => {
    const output = { Item: { b: { B: new Uint8Array([1, 2]) }, l: { L: [{ BS: [new Uint8Array([3])] }] } } };
    expect(JSON.stringify(serialize(output))).toBe('{"Item":{"b":{"B":"AQI="},"l":{"L":[{"BS":["Aw=="]}]}}}');
    expect(output.Item.b.B).toEqual(new Uint8Array([1, 2]));
  });

  it('does not copy values without binary', () => {
    const output = { Items: [{ a: { S: 'a' } }], Count: 1 };
    expect(serialize(output)).toBe(output);
  });
});
