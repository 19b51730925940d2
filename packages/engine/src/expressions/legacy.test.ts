import { describe, expect, test } from 'vitest';
import type { AttributeValue, Item } from '../values/attribute-value.ts';
import { evaluateCondition } from './evaluation.ts';
import { conditionFromExpected, conditionFromFilter, updateFromAttributeUpdates } from './legacy.ts';
import { applyUpdate } from './update-application.ts';

const N = (n: number): AttributeValue => ({ N: String(n) });
const S = (text: string): AttributeValue => ({ S: text });

const item: Item = { s: S('hello'), n: N(5), ss: { SS: ['a', 'b'] }, l: { L: [N(1)] }, yes: { BOOL: true } };

type Filter = NonNullable<Parameters<typeof conditionFromFilter>[0]>;
type Operator = Filter[string]['ComparisonOperator'];

describe('filters', () => {
  test.each<[string, Operator, AttributeValue[], boolean]>([
    ['n', 'EQ', [N(5)], true],
    ['n', 'EQ', [S('5')], false],
    ['ss', 'EQ', [{ SS: ['b', 'a'] }], true],
    ['l', 'EQ', [{ L: [N(1)] }], true],
    ['n', 'NE', [N(5)], false],
    ['gone', 'NE', [N(5)], true],
    ['n', 'LE', [N(5)], true],
    ['n', 'LT', [N(5)], false],
    ['n', 'GE', [N(5)], true],
    ['n', 'GT', [N(4)], true],
    ['n', 'GT', [S('4')], false],
    ['n', 'BETWEEN', [N(5), N(6)], true],
    ['n', 'BETWEEN', [N(6), N(7)], false],
    ['n', 'IN', [N(1), N(5)], true],
    ['gone', 'IN', [N(1)], false],
    ['gone', 'NULL', [], true],
    ['n', 'NULL', [], false],
    ['n', 'NOT_NULL', [], true],
    ['s', 'CONTAINS', [S('ell')], true],
    ['ss', 'CONTAINS', [S('a')], true],
    ['l', 'CONTAINS', [N(1)], true],
    ['s', 'NOT_CONTAINS', [S('x')], true],
    ['s', 'NOT_CONTAINS', [N(1)], true],
    ['s', 'NOT_CONTAINS', [S('ell')], false],
    ['gone', 'CONTAINS', [S('x')], false],
    ['gone', 'NOT_CONTAINS', [S('x')], false],
    ['s', 'BEGINS_WITH', [S('he')], true],
    ['s', 'BEGINS_WITH', [S('lo')], false],
  ])('%s %s %j', (name, ComparisonOperator, AttributeValueList, expected) => {
    const condition = conditionFromFilter({ [name]: { ComparisonOperator, AttributeValueList } });
    expect(evaluateCondition(condition!, item)).toBe(expected);
  });

  test('AND by default, OR on request', () => {
    const filter: Filter = {
      n: { ComparisonOperator: 'EQ', AttributeValueList: [N(5)] },
      s: { ComparisonOperator: 'NULL' },
    };
    expect(evaluateCondition(conditionFromFilter(filter)!, item)).toBe(false);
    expect(evaluateCondition(conditionFromFilter(filter, 'AND')!, item)).toBe(false);
    expect(evaluateCondition(conditionFromFilter(filter, 'OR')!, item)).toBe(true);
    expect(conditionFromFilter(filter)!.paths).toEqual([['n'], ['s']]);
  });

  test('a conditional operator needs two conditions', () => {
    expect(() => conditionFromFilter({ n: { ComparisonOperator: 'NULL' } }, 'OR')).toThrow(
      'ConditionalOperator can only be used when Filter or Expected has two or more elements',
    );
    expect(() => conditionFromExpected(undefined, 'AND')).toThrow(
      'ConditionalOperator cannot be used without Filter or Expected',
    );
    expect(conditionFromExpected({})).toBeUndefined();
  });
});

test.each<[Parameters<typeof conditionFromExpected>[0], boolean]>([
  [{ n: { Value: N(5) } }, true],
  [{ n: { Value: N(6) } }, false],
  [{ gone: { Value: N(6) } }, false],
  [{ n: { Exists: true, Value: N(5) } }, true],
  [{ n: { Exists: false } }, false],
  [{ gone: { Exists: false } }, true],
  [{ yes: { Value: { BOOL: true } } }, true],
  [{ n: { ComparisonOperator: 'GE', Value: N(5) } }, true],
  [
    { n: { ComparisonOperator: 'NOT_NULL' }, s: { ComparisonOperator: 'EQ', AttributeValueList: [S('x')] } },
    false,
  ],
])('expected %j', (expected, outcome) => {
  expect(evaluateCondition(conditionFromExpected(expected)!, item)).toBe(outcome);
});

describe('attribute updates', () => {
  type Updates = Parameters<typeof updateFromAttributeUpdates>[0];
  const run = (updates: Updates, before: Item) => applyUpdate(updateFromAttributeUpdates(updates), before);

  test.each<[Updates, Item, Item]>([
    [{ a: { Value: N(1) } }, {}, { a: N(1) }],
    [{ a: { Action: 'PUT', Value: N(1) }, b: { Action: 'DELETE' } }, { b: N(2) }, { a: N(1) }],
    [{ a: { Action: 'ADD', Value: N(1) } }, {}, { a: N(1) }],
    [{ a: { Action: 'ADD', Value: N(1) } }, { a: N(2) }, { a: N(3) }],
    [{ a: { Action: 'ADD', Value: { SS: ['b'] } } }, { a: { SS: ['a'] } }, { a: { SS: ['a', 'b'] } }],
    [{ a: { Action: 'ADD', Value: { L: [N(2)] } } }, { a: { L: [N(1)] } }, { a: { L: [N(1), N(2)] } }],
    [{ a: { Action: 'DELETE', Value: { SS: ['a'] } } }, { a: { SS: ['a', 'b'] } }, { a: { SS: ['b'] } }],
    [{ a: { Action: 'DELETE', Value: { SS: ['a'] } } }, { a: { SS: ['a'] } }, {}],
    [{}, { a: N(1) }, { a: N(1) }],
  ])('%j', (updates, before, after) => {
    expect({ ...run(updates, before).item }).toEqual(after);
  });

  test('have their own words for a wrong type', () => {
    expect(() => run({ a: { Action: 'ADD', Value: N(1) } }, { a: S('x') })).toThrow(
      'Type mismatch for attribute to update',
    );
  });

  test('create an item unless they only delete', () => {
    expect(applyUpdate(updateFromAttributeUpdates({}), {}, true).creates).toBe(true);
    expect(applyUpdate(updateFromAttributeUpdates({ a: { Action: 'DELETE' } }), {}, true).creates).toBe(
      false,
    );
  });
});
