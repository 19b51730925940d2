import { describe, expect, test } from 'vitest';
import type { KeySchema } from '../storage/table.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import { bindKeyCondition, checkKeyCondition, resolveKeyCondition } from './key-condition.ts';
import { keyConditionFromConditions } from './legacy.ts';
import { createScope } from './scope.ts';

const keys: KeySchema = { hash: { name: 'pk', type: 'S' }, range: { name: 'sk', type: 'N' } };
const values: Record<string, AttributeValue> = {
  ':p': { S: 'p' },
  ':1': { N: '1' },
  ':2': { N: '2' },
};

const bind = (source: string) => bindKeyCondition(source, createScope({ '#pk': 'pk', '#sk': 'sk' }, values));

const messageOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};

describe('resolved', () => {
  const hash = [{ S: 'p' }];

  test.each<[string, object]>([
    ['pk = :p', { hash, range: [] }],
    [':p = #pk', { hash, range: [] }],
    ['pk = :p AND sk = :1', { hash, range: [{ op: '=', value: { N: '1' } }] }],
    ['(sk < :1) AND (pk = :p)', { hash, range: [{ op: '<', value: { N: '1' } }] }],
    ['(#pk = :p AND (:1 <= #sk))', { hash, range: [{ op: '>=', value: { N: '1' } }] }],
    [
      'pk = :p and sk between :1 and :2',
      { hash, range: [{ op: 'BETWEEN', from: { N: '1' }, to: { N: '2' } }] },
    ],
  ])('%s', (source, expected) => {
    expect(resolveKeyCondition(bind(source), keys)).toEqual(expected);
  });

  test('begins_with on a string key', () => {
    const strings: KeySchema = { ...keys, range: { name: 'sk', type: 'S' } };
    expect(resolveKeyCondition(bind('pk = :p AND begins_with(sk, :p)'), strings)).toEqual({
      hash,
      range: [{ op: 'begins_with', value: { S: 'p' } }],
    });
  });
});

describe('no key could answer', () => {
  const operator = (name: string) => `Invalid operator used in KeyConditionExpression: ${name}`;
  const nested = 'KeyConditionExpressions cannot contain nested operations';
  const many = 'Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition';
  const inside = 'KeyConditionExpressions cannot have conditions on nested attributes';
  const none = 'Invalid condition in KeyConditionExpression: No key attribute specified';
  const once = 'KeyConditionExpressions must only contain one condition per key';
  const first = (name: string) =>
    `Invalid condition in KeyConditionExpression: ${name} operator must have the key attribute as its first operand`;

  test.each([
    ['a > b and size(b) > c or a > c', operator('OR')],
    ['a in (b, size(c), d)', operator('IN')],
    ['attribute_exists(a)', operator('attribute_exists')],
    ['contains(a.d, b)', operator('contains')],
    ['not a > b', operator('NOT')],
    ['a <> b', operator('<>')],
    ['attribute_type(a, :S)', operator('attribute_type')],
    [':1 between size(b) and size(a) and b > :1', first('BETWEEN')],
    ['begins_with(:p, b) and a > :1', first('begins_with')],
    ['size(b) > a AND a.b > b AND b > c', nested],
    ['a > size(b.d)', nested],
    ['a between size(b) and size(a)', nested],
    ['b > a.b', many],
    ['b between c[1] and d', many],
    ['a between b and size(a)', many],
    ['begins_with(a, b)', many],
    ['b.d > a AND c.d > e.f', inside],
    ['b[0] > a', inside],
    [':1 > :2 AND a < :1', none],
    [':1 > b AND :1 < :2', none],
    ['b > :1 AND b < :1 and c = :1 and d = :1', once],
    ['(a > :1 and b > :1) and (b > :1 and c > :1)', once],
    [[...'abcdefghi'].map(name => `${name} = :1`).join(' and '), 'Conditions can be of length 1 or 2 only'],
  ])('%s', (source, message) => {
    const condition = bindKeyCondition(source, createScope(undefined, { ...values, ':S': { S: 'S' } }));
    expect(messageOf(() => checkKeyCondition(condition))).toBe(message);
  });

  test('what is wrong with any expression names this one', () => {
    expect(messageOf(() => bind('((pk = :p)) AND sk = :1'))).toBe(
      'Invalid KeyConditionExpression: The expression has redundant parentheses;',
    );
    expect(messageOf(() => bind('begins_with(sk, :1)'))).toBe(
      'Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N',
    );
  });
});

describe('these keys cannot answer', () => {
  const missed = (name: string) => `Query condition missed key schema element: ${name}`;
  const unsupported = 'Query key condition not supported';
  const type =
    'One or more parameter values were invalid: Condition parameter type does not match schema type';

  test.each([
    ['sk = :1', missed('pk')],
    ['attr = :1', missed('pk')],
    ['pk = :p AND attr = :1', missed('sk')],
    ['pk > :p', unsupported],
    ['begins_with(pk, :p)', unsupported],
    ['pk = :1', type],
    ['pk = :p AND sk = :p', type],
    ['pk = :p AND sk = :1 AND attr = :1', 'Conditions can be of length 1 or 2 only'],
  ])('%s', (source, message) => {
    expect(messageOf(() => resolveKeyCondition(bind(source), keys))).toBe(message);
  });

  test('a second condition without a range key', () => {
    const condition = bind('pk = :p AND sk = :1');
    expect(messageOf(() => resolveKeyCondition(condition, { hash: keys.hash }))).toBe(unsupported);
  });
});

describe('keys of several attributes', () => {
  const attribute = (name: string, type: 'S' | 'N' = 'S') => ({ name, type });
  const several: KeySchema = {
    hash: attribute('h'),
    range: attribute('a'),
    more: { hash: [attribute('i', 'N')], range: [attribute('b', 'N'), attribute('c')] },
  };
  const hash = [{ S: 'p' }, { N: '1' }];
  const equal = (value: object) => ({ op: '=', value });

  test.each<[string, object[]]>([
    ['h = :p AND i = :1', []],
    ['i = :1 AND (h = :p)', []],
    ['h = :p AND i = :1 AND begins_with(a, :p)', [{ op: 'begins_with', value: { S: 'p' } }]],
    ['b < :2 AND a = :p AND h = :p AND i = :1', [equal({ S: 'p' }), { op: '<', value: { N: '2' } }]],
    [
      'h = :p AND i = :1 AND a = :p AND b = :2 AND c > :p',
      [equal({ S: 'p' }), equal({ N: '2' }), { op: '>', value: { S: 'p' } }],
    ],
  ])('are answered: %s', (source, range) => {
    expect(resolveKeyCondition(bind(source), several)).toEqual({ hash, range });
  });

  const needed = (names: string) =>
    `HASH key attributes ${names} must have equality conditions specified in the query`;
  const gap = (names: string, later: string) =>
    `RANGE key attributes ${names} must have equality conditions specified in the query ` +
    `because a condition is present on key attribute ${later}`;

  test.each([
    ['h = :p', needed('i')],
    ['a = :p', needed('h, i')],
    ['h = :p AND i > :1', needed('i')],
    ['h = :p AND i = :1 AND b = :1', gap('a', 'b')],
    ['h = :p AND i = :1 AND c = :p', gap('a, b', 'c')],
    ['h = :p AND i = :1 AND a = :p AND c = :p', gap('b', 'c')],
    ['h = :p AND i = :1 AND a > :p AND b = :1', gap('a', 'b')],
    ['h = :p AND i = :1 AND begins_with(a, :p) AND b > :1', gap('a', 'b')],
    ['h = :p AND i = :1 AND attr = :1', 'Query key condition not supported'],
    [
      'h = :p AND i = :p',
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    ],
  ])('are refused: %s', (source, message) => {
    expect(messageOf(() => resolveKeyCondition(bind(source), several))).toBe(message);
  });
});

describe('the older parameter', () => {
  const hash = { ComparisonOperator: 'EQ' as const, AttributeValueList: [{ S: 'p' }] };

  test('resolves to the same', () => {
    const condition = keyConditionFromConditions({
      pk: hash,
      sk: { ComparisonOperator: 'BETWEEN', AttributeValueList: [{ N: '1' }, { N: '2' }] },
    });
    expect(resolveKeyCondition(condition, keys)).toEqual(
      resolveKeyCondition(bind('pk = :p AND sk BETWEEN :1 AND :2'), keys),
    );
  });

  test('has operators that no key can answer', () => {
    const condition = keyConditionFromConditions({
      pk: hash,
      sk: { ComparisonOperator: 'NE', AttributeValueList: [{ N: '1' }] },
    });
    expect(messageOf(() => resolveKeyCondition(condition, keys))).toBe(
      'Attempted conditional constraint is not an indexable operation',
    );
    expect(messageOf(() => checkKeyCondition(keyConditionFromConditions({})))).toBe(
      'Conditions can be of length 1 or 2 only',
    );
  });
});
