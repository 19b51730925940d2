import { type Budget, spend, spendChars } from './budget.ts';
import * as limits from './limits.ts';
import { compileRegex } from './regex.ts';
import type { Operator, Scalar } from './schema.ts';

// `holds` is undefined if it cannot be decided.
export type Verdict = { holds: boolean | undefined; why: string };

export type Test = (values: readonly unknown[], budget: Budget) => Verdict;

// A positive operator holds if any of the values satisfies it, and its negation exactly if it does not: `not_equals` also
// holds if there is no value at all.
export function compileTest(operator: Operator, value: Scalar | undefined): Test {
  if (operator === 'exists') return values => say(values.length > 0, values);
  if (operator === 'not_exists') return values => say(values.length === 0, values);
  if (operator === 'regex') return compileRegexTest(String(value));
  const isNegative = operator.startsWith('not_');
  const satisfies = relations[operator.replace('not_', '') as keyof typeof relations];
  const comparisons = operator.endsWith('contains') ? comparisonsOf(String(value)) : 1;
  return (values, budget) => {
    spend(budget, values.length);
    const found = values.findIndex(one => {
      if (Array.isArray(one)) spend(budget, one.length);
      else if (typeof one === 'string') spendChars(budget, one.length * comparisons);
      return satisfies(one, value);
    });
    return say(found >= 0 !== isNegative, found >= 0 ? [values[found]] : values);
  };
}

// How often a character of the text may be compared. To skip ahead, V8 knows the last 250 characters of what it looks for;
// a text of one letter, with a longer one, is compared in full at every position.
const comparisonsOf = (wanted: string): number => (wanted.length > limits.searchedChars ? wanted.length : 1);

type Relation = (actual: unknown, wanted: Scalar | undefined) => boolean;

const isEqual: Relation = (actual, wanted) => alignTypes(actual, wanted) === wanted;

const ordered =
  (holds: (difference: number) => boolean): Relation =>
  (actual, wanted) => {
    const value = alignTypes(actual, wanted);
    if (typeof value === 'number' && typeof wanted === 'number') return holds(value - wanted);
    if (typeof value === 'string' && typeof wanted === 'string')
      return holds(value === wanted ? 0 : value < wanted ? -1 : 1);
    return false;
  };

const relations = {
  equals: isEqual,
  contains: (actual, wanted) => {
    if (typeof actual === 'string') return actual.includes(String(wanted));
    return Array.isArray(actual) && actual.some(one => isEqual(one, wanted));
  },
  gt: ordered(difference => difference > 0),
  lt: ordered(difference => difference < 0),
  gte: ordered(difference => difference >= 0),
  lte: ordered(difference => difference <= 0),
} satisfies Record<string, Relation>;

// Headers, queries and forms hold text only: `"42"` there corresponds to `42` in JSON.
function alignTypes(actual: unknown, wanted: Scalar | undefined): unknown {
  if (typeof actual !== 'string' || typeof wanted !== 'number') return actual;
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(actual) ? Number(actual) : actual;
}

function compileRegexTest(pattern: string): Test {
  const regex = compileRegex(pattern);
  return (values, budget) => {
    spend(budget, values.length);
    let left = limits.regexTextChars;
    for (const value of values) {
      if (typeof value !== 'string') continue;
      left -= value.length;
      if (left < 0)
        return { holds: undefined, why: `More than ${limits.regexTextChars} characters to match` };
      spend(budget, (value.length * regex.size) / limits.regexStepsPerUnit);
      if (regex.test(value)) return say(true, [value]);
    }
    return say(false, values);
  };
}

const say = (holds: boolean, values: readonly unknown[]): Verdict => ({ holds, why: describeValues(values) });

function describeValues(values: readonly unknown[]): string {
  if (values.length === 0) return 'There is no value';
  const shown = values.slice(0, 3).map(quote);
  const more = values.length > shown.length ? ` and ${values.length - shown.length} more` : '';
  return shorten(`The value is ${shown.join(' or ')}${more}`);
}

// Objects are not printed: a body may nest too deep for that, and rules cannot compare objects.
export function quote(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, limits.whyChars)) : String(value);
}

const shorten = (text: string): string =>
  text.length > limits.whyChars ? `${text.slice(0, limits.whyChars - 1)}…` : text;
