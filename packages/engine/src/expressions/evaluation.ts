import { type AttributeValue, type Item, newItem, typeOf } from '../values/attribute-value.ts';
import { binaryText, compareBytes, compareScalars, equalValues } from '../values/compare.ts';
import type { Comparator } from './ast.ts';
import type { Condition, Operand, Test } from './condition.ts';
import { includesText } from './includes-text.ts';
import { valueAt } from './path.ts';

const nothing = newItem();

export const evaluateCondition = (condition: Condition, item: Item | undefined): boolean =>
  evaluate(condition.test, item ?? nothing);

function evaluate(test: Test, item: Item): boolean {
  switch (test.kind) {
    case 'and':
      for (const part of test.tests) if (!evaluate(part, item)) return false;
      return true;
    case 'or':
      for (const part of test.tests) if (evaluate(part, item)) return true;
      return false;
    case 'not':
      return !evaluate(test.test, item);
    case 'compare':
      return compare(test.operator, resolve(test.left, item), resolve(test.right, item));
    case 'between': {
      const value = resolve(test.operand, item);
      return compare('>=', value, resolve(test.from, item)) && compare('<=', value, resolve(test.to, item));
    }
    case 'in': {
      const value = resolve(test.operand, item);
      for (const candidate of test.candidates) if (compare('=', value, resolve(candidate, item))) return true;
      return false;
    }
    case 'attribute_exists':
      return resolve(test.operand, item) !== undefined;
    case 'attribute_not_exists':
      return resolve(test.operand, item) === undefined;
    case 'attribute_type': {
      const value = resolve(test.operand, item);
      return value !== undefined && test.type in value;
    }
    case 'begins_with':
      return beginsWith(resolve(test.operand, item), resolve(test.prefix, item));
    case 'contains':
      return contains(resolve(test.operand, item), resolve(test.member, item));
  }
}

function resolve(operand: Operand, item: Item): AttributeValue | undefined {
  switch (operand.kind) {
    case 'path':
      return valueAt(item, operand.path);
    case 'value':
      return operand.value;
    case 'size': {
      const size = sizeOf(resolve(operand.operand, item));
      return size === undefined ? undefined : { N: String(size) };
    }
  }
}

// A string's size is its number of UTF-16 code units, not the bytes that the item size counts.
function sizeOf(value: AttributeValue | undefined): number | undefined {
  if (value === undefined) return undefined;
  if ('S' in value) return value.S.length;
  if ('B' in value) return value.B.length;
  if ('L' in value) return value.L.length;
  if ('M' in value) return Object.keys(value.M).length;
  if ('SS' in value) return value.SS.length;
  if ('NS' in value) return value.NS.length;
  return 'BS' in value ? value.BS.length : undefined;
}

// A missing value equals nothing, not even another missing one, and has no order.
function compare(
  operator: Comparator,
  a: AttributeValue | undefined,
  b: AttributeValue | undefined,
): boolean {
  if (a === undefined || b === undefined) return operator === '<>';
  if (operator === '=') return equalValues(a, b);
  if (operator === '<>') return !equalValues(a, b);
  if (!haveOrder(a, b)) return false;
  const order = compareScalars(a, b);
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

function haveOrder(a: AttributeValue, b: AttributeValue): boolean {
  const type = typeOf(a);
  return (type === 'S' || type === 'N' || type === 'B') && type in b;
}

function beginsWith(value: AttributeValue | undefined, prefix: AttributeValue | undefined): boolean {
  if (value === undefined || prefix === undefined) return false;
  if ('S' in value && 'S' in prefix) return value.S.startsWith(prefix.S);
  if (!('B' in value && 'B' in prefix)) return false;
  return (
    value.B.length >= prefix.B.length && compareBytes(value.B.subarray(0, prefix.B.length), prefix.B) === 0
  );
}

// Part of a string or binary, or member of a set or list.
function contains(value: AttributeValue | undefined, member: AttributeValue | undefined): boolean {
  if (value === undefined || member === undefined) return false;
  if ('L' in value) return value.L.some(element => equalValues(element, member));
  if ('S' in member)
    return 'S' in value ? includesText(value.S, member.S) : 'SS' in value && value.SS.includes(member.S);
  if ('N' in member) return 'NS' in value && value.NS.includes(member.N);
  if (!('B' in member)) return false;
  if ('B' in value) return includesText(binaryText(value.B), binaryText(member.B));
  return 'BS' in value && value.BS.some(element => compareBytes(element, member.B) === 0);
}
