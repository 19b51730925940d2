import { includesText } from '../expressions/includes-text.ts';
import { notPlain, plainSize } from '../storage/plain-item.ts';
import { compareStrings } from '../values/compare.ts';
import type { NativeItem } from '../values/marshal.ts';
import { checkPath, equalPlain, isBytes, type Path, unsupported, valueAt } from './values.ts';

// Conditions and filters as data. `evaluateTest` mirrors `expressions/evaluation.ts`.

/** A condition on an item. `and`, `or` and `not` have `tests`; all others a path, and most of them a value. */
export type Test = {
  readonly op:
    | 'and'
    | 'or'
    | 'not'
    | '='
    | '<>'
    | '<'
    | '<='
    | '>'
    | '>='
    | 'in' // one of the values of a list
    | 'begins_with'
    | 'contains'
    | 'attribute_exists'
    | 'attribute_not_exists';
  readonly path?: Path;
  readonly value?: unknown;
  readonly tests?: readonly Test[];
};

// An expression has at most 4096 bytes and 300 operators. What could come close to that is left to its parser.
const mostTests = 60;
const mostCandidates = 100;
const mostSteps = 200;

type ConditionSize = { tests: number; steps: number; nested: string[] | undefined };

/**
 * Refuses what the wire operations refuse before they read an item, and what is not supported here. Returns the
 * attributes that the test reaches into.
 */
export function checkTest(test: Test): readonly string[] | undefined {
  const seen: ConditionSize = { tests: 0, steps: 0, nested: undefined };
  check(test, seen);
  if (seen.tests > mostTests || seen.steps > mostSteps) throw unsupported;
  return seen.nested;
}

function check({ op, path, value, tests }: Test, seen: ConditionSize): void {
  seen.tests++;
  if (tests) {
    if (tests.length === 0) throw unsupported;
    for (const test of tests) check(test, seen);
    return;
  }
  if (path === undefined) throw unsupported;
  checkPath(path);
  if (typeof path === 'string') seen.steps++;
  else {
    seen.steps += path.length;
    seen.nested ??= [];
    seen.nested.push(path[0]!);
  }
  switch (op) {
    case 'attribute_exists':
    case 'attribute_not_exists':
      return;
    case 'in':
      if (!Array.isArray(value) || value.length === 0 || value.length > mostCandidates) throw unsupported;
      seen.steps += value.length;
      for (const candidate of value) checkScalar(candidate);
      return;
    case 'begins_with':
      if (typeof value !== 'string') throw unsupported;
      checkScalar(value);
      return;
    case '=':
    case '<>':
      if (!isBytes(value) && plainSize(value, 1) === notPlain) throw unsupported;
      return;
    default:
      if (typeof value !== 'string' && typeof value !== 'number') throw unsupported;
      checkScalar(value);
  }
}

function checkScalar(value: unknown): void {
  if (typeof value === 'object' && value !== null) throw unsupported;
  if (plainSize(value, 1) === notPlain) throw unsupported;
}

export function evaluateTest(test: Test, item: NativeItem): boolean {
  switch (test.op) {
    case 'and':
      for (const part of test.tests!) if (!evaluateTest(part, item)) return false;
      return true;
    case 'or':
      for (const part of test.tests!) if (evaluateTest(part, item)) return true;
      return false;
    case 'not':
      return !evaluateTest(test.tests![0]!, item);
  }
  const value = valueAt(item, test.path!);
  switch (test.op) {
    case 'attribute_exists':
      return value !== undefined;
    case 'attribute_not_exists':
      return value === undefined;
    // A missing value equals nothing, and has no order.
    case '<>':
      return value === undefined || !equalPlain(value, test.value);
    case '=':
      return value !== undefined && equalPlain(value, test.value);
    case 'in':
      return value !== undefined && (test.value as unknown[]).some(candidate => equalPlain(value, candidate));
    case 'begins_with':
      return typeof value === 'string' && value.startsWith(test.value as string);
    case 'contains':
      if (Array.isArray(value)) return value.some(member => equalPlain(member, test.value));
      return typeof value === 'string' && typeof test.value === 'string' && includesText(value, test.value);
    default:
      return isOrdered(test.op, value, test.value);
  }
}

function isOrdered(op: Test['op'], a: unknown, b: unknown): boolean {
  let order: number;
  if (typeof a === 'string' && typeof b === 'string') order = compareStrings(a, b);
  else if (typeof a === 'number' && typeof b === 'number') order = a - b;
  else return false;
  switch (op) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    default:
      return order >= 0;
  }
}
