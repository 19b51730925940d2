import { validationError } from '../errors.ts';
import type { Operand, Test } from '../expressions/condition.ts';
import type { RangeCondition } from '../storage/keys.ts';
import type { KeyAttribute, KeySchema } from '../storage/table.ts';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { equalValues } from '../values/compare.ts';
import { mistypedKey } from './faults.ts';

// The part of a WHERE clause that is about the key.

// The tests that must all hold.
export function conjunctsOf(test: Test | undefined): Test[] {
  if (!test) return [];
  return test.kind === 'and' ? test.tests.flatMap(conjunctsOf) : [test];
}

export const joined = (tests: Test[]): Test | undefined =>
  tests.length > 1 ? { kind: 'and', tests } : tests[0];

const isAttribute = (operand: Operand, name: string): boolean =>
  operand.kind === 'path' && operand.path.length === 1 && operand.path[0] === name;

// The value in `name = value`, whichever stands first.
export function equalityOn(test: Test, name: string): AttributeValue | undefined {
  if (test.kind !== 'compare' || test.operator !== '=') return undefined;
  const { left, right } = test;
  if (isAttribute(left, name) && right.kind === 'value') return right.value;
  return isAttribute(right, name) && left.kind === 'value' ? left.value : undefined;
}

// Every value that the attribute can have where the test holds; undefined if the test leaves that open.
export function valuesAllowed(test: Test, name: string): AttributeValue[] | undefined {
  switch (test.kind) {
    case 'in':
      if (!isAttribute(test.operand, name)) return undefined;
      return allOf(test.candidates.map(operand => (operand.kind === 'value' ? [operand.value] : undefined)));
    case 'or':
      return allOf(test.tests.map(part => valuesAllowed(part, name)));
    case 'and': {
      let least: AttributeValue[] | undefined;
      for (const part of test.tests) {
        const values = valuesAllowed(part, name);
        if (values && (!least || values.length < least.length)) least = values;
      }
      return least;
    }
    default: {
      const value = equalityOn(test, name);
      return value && [value];
    }
  }
}

const allOf = (lists: (AttributeValue[] | undefined)[]): AttributeValue[] | undefined =>
  lists.some(list => !list) ? undefined : (lists.flat() as AttributeValue[]);

const mirrored = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

// The stretch of a partition that the test describes, if it is one.
export function rangeOn(test: Test, { name, type }: KeyAttribute): RangeCondition | undefined {
  const range = describeRange(test, name);
  const values = range ? (range.op === 'BETWEEN' ? [range.from, range.to] : [range.value]) : [];
  if (values.some(value => !(type in value))) throw validationError(mistypedKey(name));
  return range;
}

function describeRange(test: Test, name: string): RangeCondition | undefined {
  switch (test.kind) {
    case 'compare': {
      const { operator: op, left, right } = test;
      if (op === '<>') return undefined;
      if (isAttribute(left, name) && right.kind === 'value') return { op, value: right.value };
      if (!isAttribute(right, name) || left.kind !== 'value') return undefined;
      return { op: mirrored[op], value: left.value };
    }
    case 'between': {
      const { operand, from, to } = test;
      if (!isAttribute(operand, name) || from.kind !== 'value' || to.kind !== 'value') return undefined;
      return { op: 'BETWEEN', from: from.value, to: to.value };
    }
    case 'begins_with': {
      const { operand, prefix } = test;
      if (!isAttribute(operand, name) || prefix.kind !== 'value') return undefined;
      return { op: 'begins_with', value: prefix.value };
    }
    default:
      return undefined;
  }
}

export type Pinned = { key: Item; complete: boolean; conflict?: string; rest: Test[] };

// The one item that the clause identifies, and the remaining conditions.
export function pinKey(
  keys: KeySchema,
  where: Test | undefined,
  valueIn: (test: Test, name: string) => AttributeValue | undefined = equalityOn,
): Pinned {
  const key = newItem();
  const attributes = keys.range ? [keys.hash, keys.range] : [keys.hash];
  let conflict: string | undefined;
  const rest = conjunctsOf(where).filter(test => {
    for (const { name } of attributes) {
      const value = valueIn(test, name);
      if (!value) continue;
      const bound = key[name];
      if (bound && !equalValues(bound, value)) conflict ??= name;
      key[name] ??= value;
      return false;
    }
    return true;
  });
  return { key, complete: attributes.every(({ name }) => key[name] !== undefined), conflict, rest };
}

// A read by key may also say `pk IN ['only one']`.
export function pinSingleRead(keys: KeySchema, where: Test | undefined): Item | undefined {
  const { key, complete, conflict, rest } = pinKey(keys, where, (test, name) => {
    const values = test.kind === 'in' ? valuesAllowed(test, name) : undefined;
    return values?.length === 1 ? values[0] : equalityOn(test, name);
  });
  return complete && !conflict && rest.length === 0 ? key : undefined;
}
