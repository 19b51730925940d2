import { validationError } from '../errors.ts';
import type { RangeCondition } from '../storage/keys.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import type { Condition, Operand, Test } from './condition.ts';
import type { KeyCondition, KeyTest } from './key-condition.ts';
import type { Action, Update } from './update.ts';

// Converts the parameters that expressions replaced into the same trees. Their arguments are validated: each operator
// has the right number, of the right types.
type ConditionalOperator = 'AND' | 'OR';

type ComparisonOperator =
  | 'EQ'
  | 'NE'
  | 'LE'
  | 'LT'
  | 'GE'
  | 'GT'
  | 'IN'
  | 'BETWEEN'
  | 'NULL'
  | 'NOT_NULL'
  | 'CONTAINS'
  | 'NOT_CONTAINS'
  | 'BEGINS_WITH';

type Comparison = {
  ComparisonOperator: ComparisonOperator;
  AttributeValueList?: AttributeValue[] | undefined;
};

type Expectation = {
  ComparisonOperator?: ComparisonOperator | undefined;
  AttributeValueList?: AttributeValue[] | undefined;
  Value?: AttributeValue | undefined;
  Exists?: boolean | undefined;
};

type AttributeUpdate = { Action?: 'PUT' | 'ADD' | 'DELETE' | undefined; Value?: AttributeValue | undefined };

type EntriesByName<Entry> = { [name: string]: Entry };

export const conditionFromExpected = (
  expected: EntriesByName<Expectation> | undefined,
  operator?: ConditionalOperator,
): Condition | undefined => combine(expected, operator, expectedTest);

// ScanFilter and QueryFilter.
export const conditionFromFilter = (
  filter: EntriesByName<Comparison> | undefined,
  operator?: ConditionalOperator,
): Condition | undefined =>
  combine(filter, operator, (name, { ComparisonOperator, AttributeValueList = [] }) =>
    testOf(name, ComparisonOperator, AttributeValueList),
  );

function combine<Entry>(
  entries: EntriesByName<Entry> = {},
  operator: ConditionalOperator | undefined,
  toTest: (name: string, entry: Entry) => Test,
): Condition | undefined {
  const names = Object.keys(entries);
  checkConditionalOperator(operator, names.length);
  if (names.length === 0) return undefined;
  const tests = names.map(name => toTest(name, entries[name]!));
  return {
    test: { kind: operator === 'OR' ? 'or' : 'and', tests },
    paths: names.map(name => [name]),
  };
}

function checkConditionalOperator(operator: ConditionalOperator | undefined, conditions: number): void {
  if (operator === undefined || conditions > 1) return;
  throw validationError(
    conditions === 0
      ? 'ConditionalOperator cannot be used without Filter or Expected'
      : 'ConditionalOperator can only be used when Filter or Expected has two or more elements',
  );
}

function expectedTest(name: string, expectation: Expectation): Test {
  const { Value, Exists, ComparisonOperator: operator = 'EQ', AttributeValueList: list } = expectation;
  if (Exists === false) return testOf(name, 'NULL', []);
  return testOf(name, operator, list ?? (Value ? [Value] : []));
}

const comparators = { EQ: '=', NE: '<>', LE: '<=', LT: '<', GE: '>=', GT: '>' } as const;

function testOf(name: string, operator: ComparisonOperator, values: AttributeValue[]): Test {
  const operand: Operand = { kind: 'path', path: [name] };
  const operands = values.map((value): Operand => ({ kind: 'value', value }));
  const [first, second] = operands as [Operand, Operand];
  switch (operator) {
    case 'NULL':
      return { kind: 'attribute_not_exists', operand };
    case 'NOT_NULL':
      return { kind: 'attribute_exists', operand };
    case 'CONTAINS':
      return { kind: 'contains', operand, member: first };
    case 'NOT_CONTAINS':
      return notContains(operand, first);
    case 'BEGINS_WITH':
      return { kind: 'begins_with', operand, prefix: first };
    case 'BETWEEN':
      return { kind: 'between', operand, from: first, to: second };
    case 'IN':
      return { kind: 'in', operand, candidates: operands };
    default:
      return { kind: 'compare', operator: comparators[operator], left: operand, right: first };
  }
}

// Unlike NE, NOT_CONTAINS is false for a missing attribute.
function notContains(operand: Operand, member: Operand): Test {
  const test: Test = { kind: 'not', test: { kind: 'contains', operand, member } };
  return { kind: 'and', tests: [{ kind: 'attribute_exists', operand }, test] };
}

const indexable: Partial<Record<ComparisonOperator, RangeCondition['op']>> = {
  EQ: '=',
  LE: '<=',
  LT: '<',
  GE: '>=',
  GT: '>',
  BETWEEN: 'BETWEEN',
  BEGINS_WITH: 'begins_with',
};

export function keyConditionFromConditions(conditions: EntriesByName<Comparison>): KeyCondition {
  const tests = new Map<string, KeyTest>();
  for (const name in conditions) {
    const { ComparisonOperator, AttributeValueList } = conditions[name]!;
    tests.set(name, { op: indexable[ComparisonOperator], values: AttributeValueList ?? [] });
  }
  return { tests };
}

export function updateFromAttributeUpdates(updates: EntriesByName<AttributeUpdate>): Update {
  const actions = Object.keys(updates).map(name => actionOf(name, updates[name]!));
  const targets = actions.map(action => action.path);
  return { actions, targets, paths: targets, mismatch: 'Type mismatch for attribute to update' };
}

function actionOf(name: string, { Action, Value }: AttributeUpdate): Action {
  const path = [name];
  if (!Value) return { kind: 'remove', path };
  if (Action === 'ADD') return { kind: 'add', path, value: Value };
  if (Action === 'DELETE') return { kind: 'delete', path, value: Value };
  return { kind: 'set', path, source: { kind: 'value', value: Value } };
}
