import { validationError } from '../errors.ts';
import { keyAttributes } from '../limits.ts';
import type { KeyBounds, RangeCondition } from '../storage/keys.ts';
import { hashAttributes, type KeyAttribute, type KeySchema, rangeAttributes } from '../storage/table.ts';
import { type AttributeValue, typeOf } from '../values/attribute-value.ts';
import type { Comparator } from './ast.ts';
import { bindCondition, type Operand, type Test } from './condition.ts';
import type { Scope } from './scope.ts';

// One test of one attribute; `op` is undefined where a legacy operator has no place in an index.
export type KeyTest = { op: RangeCondition['op'] | undefined; values: AttributeValue[] };

// An expression is split into its tests when it is checked; the legacy parameter is split already.
export type KeyCondition = { test: Test } | { tests: Map<string, KeyTest> };

export function bindKeyCondition(source: string, scope: Scope): KeyCondition {
  return { test: bindCondition('KeyConditionExpression', source, scope).test };
}

// DynamoDB refuses a condition that no key could satisfy after it has parsed all the request's expressions and before
// it looks up the table, so this is a separate step.
export function checkKeyCondition(condition: KeyCondition): Map<string, KeyTest> {
  const tests = 'tests' in condition ? condition.tests : new Map<string, KeyTest>();
  if ('test' in condition) collectTests(condition.test, tests);
  checkConditionCount(tests.size, keyAttributes);
  return tests;
}

// Whether more than two attributes can be queried depends on the index.
export function checkConditionCount(count: number, most: number): void {
  if (count < 1 || count > most) throw validationError('Conditions can be of length 1 or 2 only');
}

export function resolveKeyCondition(condition: KeyCondition, keys: KeySchema): KeyBounds {
  const tests = checkKeyCondition(condition);
  if (keys.more) return resolveComposed(tests, keys);
  checkConditionCount(tests.size, 2);
  if (!keys.range && tests.size > 1) throw notSupported();
  const hash = conditionOn(tests, keys.hash);
  if (!hash) throw missed(keys.hash);
  if (hash.op !== '=') throw notSupported();
  if (tests.size === 1) return { hash: [hash.value], range: [] };
  const range = conditionOn(tests, keys.range!);
  if (!range) throw missed(keys.range!);
  return { hash: [hash.value], range: [range] };
}

// Every hash attribute by equality; range attributes from the left without a gap, all but the last by equality.
function resolveComposed(tests: Map<string, KeyTest>, keys: KeySchema): KeyBounds {
  const hash: AttributeValue[] = [];
  const unequal: string[] = [];
  for (const attribute of hashAttributes(keys)) {
    const test = conditionOn(tests, attribute);
    if (test?.op === '=') hash.push(test.value);
    else unequal.push(attribute.name);
  }
  if (unequal.length > 0) {
    throw validationError(
      `HASH key attributes ${unequal.join(', ')} must have equality conditions specified in the query`,
    );
  }
  const range: RangeCondition[] = [];
  for (const attribute of rangeAttributes(keys)) {
    const test = conditionOn(tests, attribute);
    if (!test) {
      unequal.push(attribute.name);
      continue;
    }
    if (unequal.length > 0) {
      throw validationError(
        `RANGE key attributes ${unequal.join(', ')} must have equality conditions specified in the query ` +
          `because a condition is present on key attribute ${attribute.name}`,
      );
    }
    range.push(test);
    if (test.op !== '=') unequal.push(attribute.name);
  }
  if (tests.size > hash.length + range.length) throw notSupported();
  return { hash, range };
}

function conditionOn(tests: Map<string, KeyTest>, key: KeyAttribute): RangeCondition | undefined {
  const test = tests.get(key.name);
  if (!test) return undefined;
  const { op, values } = test;
  if (op === undefined) {
    throw validationError('Attempted conditional constraint is not an indexable operation');
  }
  if (values.some(value => typeOf(value) !== key.type)) {
    throw validationError(
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    );
  }
  const [first, second] = values as [AttributeValue, AttributeValue];
  return op === 'BETWEEN' ? { op, from: first, to: second } : { op, value: first };
}

const notSupported = () => validationError('Query key condition not supported');
const missed = (key: KeyAttribute) =>
  validationError(`Query condition missed key schema element: ${key.name}`);

function collectTests(test: Test, tests: Map<string, KeyTest>): void {
  switch (test.kind) {
    case 'and':
      for (const part of test.tests) collectTests(part, tests);
      break;
    case 'compare':
      if (test.operator === '<>') throw invalidOperator(test.operator);
      collectComparison(test.operator, test.left, test.right, tests);
      break;
    case 'between':
      if (test.operand.kind !== 'path') throw notFirst('BETWEEN');
      collect('BETWEEN', [test.operand, test.from, test.to], tests);
      break;
    case 'begins_with':
      if (test.operand.kind !== 'path') throw notFirst('begins_with');
      collect('begins_with', [test.operand, test.prefix], tests);
      break;
    case 'or':
    case 'not':
    case 'in':
      throw invalidOperator(test.kind.toUpperCase());
    default:
      throw invalidOperator(test.kind);
  }
}

const mirrored = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

function collectComparison(
  operator: Exclude<Comparator, '<>'>,
  left: Operand,
  right: Operand,
  tests: Map<string, KeyTest>,
): void {
  collect(left.kind === 'path' ? operator : mirrored[operator], [left, right], tests);
}

function collect(op: RangeCondition['op'], operands: Operand[], tests: Map<string, KeyTest>): void {
  let name: string | undefined;
  const values: AttributeValue[] = [];
  for (const operand of operands) {
    if (operand.kind === 'value') {
      values.push(operand.value);
      continue;
    }
    if (operand.kind === 'size') {
      throw validationError('KeyConditionExpressions cannot contain nested operations');
    }
    if (name !== undefined) {
      throw validationError(
        'Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition',
      );
    }
    if (operand.path.length > 1) {
      throw validationError('KeyConditionExpressions cannot have conditions on nested attributes');
    }
    name = operand.path[0] as string;
  }
  if (name === undefined) {
    throw validationError('Invalid condition in KeyConditionExpression: No key attribute specified');
  }
  if (tests.has(name)) {
    throw validationError('KeyConditionExpressions must only contain one condition per key');
  }
  tests.set(name, { op, values });
}

const invalidOperator = (operator: string) =>
  validationError(`Invalid operator used in KeyConditionExpression: ${operator}`);

const notFirst = (operator: string) =>
  validationError(
    `Invalid condition in KeyConditionExpression: ${operator} operator must have the key attribute as its first operand`,
  );
