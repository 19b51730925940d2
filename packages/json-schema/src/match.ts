import { isFormat } from './formats.ts';
import * as limits from './limits.ts';

// Customers write these schemas, so they are interpreted and never compiled: generating code for one blocks the thread
// for a fraction of a second, for each customer who sends another one.

export type JsonObject = Record<string, unknown>;
export type Schema = boolean | JsonObject;
export type Mismatch = { pointer: string; keyword: string; detail: string };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the first part of a value that a schema does not allow. Only for schemas that `findProblem` accepts.
 *
 * @example
 * findMismatch({ properties: { amount: { type: 'number' } } }, { amount: 'five' });
 * // { pointer: '/amount', keyword: 'type', detail: 'Does not fit "type": "number"' }
 */
export function findMismatch(schema: Schema, value: unknown): Mismatch | undefined {
  try {
    const mismatch = find(schema, value, { steps: limits.steps });
    if (!mismatch) return undefined;
    const { path, keyword, wanted } = mismatch;
    const pointer = path.reverse().map(name => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    const detail =
      keyword === 'false'
        ? 'Is not allowed'
        : `Does not fit "${keyword}": ${JSON.stringify(wanted).slice(0, limits.shownChars)}`;
    return { pointer: pointer.join(''), keyword, detail };
  } catch (error) {
    // Thrown rather than returned as a mismatch, which `not` would invert.
    if (error instanceof OverBudget)
      return { pointer: '', keyword: 'steps', detail: 'Takes too long to check' };
    throw error;
  }
}

type Budget = { steps: number };
class OverBudget extends Error {}

function spend(budget: Budget, steps = 1): void {
  budget.steps -= steps;
  if (budget.steps < 0) throw new OverBudget();
}

// From the inside out; formatted only for the result.
type Violation = { path: string[]; keyword: string; wanted: unknown };

function find(schema: Schema, value: unknown, budget: Budget): Violation | undefined {
  spend(budget);
  if (schema === true) return undefined;
  if (schema === false) return { path: [], keyword: 'false', wanted: false };
  let hasParts = false;
  for (const keyword of Object.keys(schema)) {
    spend(budget);
    const wanted = schema[keyword];
    if (partKeywords.has(keyword)) hasParts = true;
    else if (keyword === 'allOf') {
      for (const schema of wanted as Schema[]) {
        const mismatch = find(schema, value, budget);
        if (mismatch) return mismatch;
      }
    } else {
      const holds = rules.get(keyword);
      if (holds && !holds(value, wanted as never, budget)) return { path: [], keyword, wanted };
    }
  }
  return hasParts ? findInParts(schema, value, budget) : undefined;
}

const partKeywords = new Set(['properties', 'additionalProperties', 'prefixItems', 'items']);

function findInParts(schema: JsonObject, value: unknown, budget: Budget): Violation | undefined {
  if (Array.isArray(value)) {
    const first = (schema.prefixItems ?? []) as Schema[];
    const others = (schema.items ?? true) as Schema;
    const most = others === true ? Math.min(first.length, value.length) : value.length;
    for (let at = 0; at < most; at += 1) {
      const mismatch = find(first[at] ?? others, value[at], budget);
      if (mismatch) return within(mismatch, String(at));
    }
  } else if (isObject(value)) {
    const properties = (schema.properties ?? {}) as Record<string, Schema>;
    const others = (schema.additionalProperties ?? true) as Schema;
    for (const name of Object.keys(value)) {
      const named = Object.hasOwn(properties, name) ? properties[name]! : others;
      const mismatch = find(named, value[name], budget);
      if (mismatch) return within(mismatch, name);
    }
  }
  return undefined;
}

function within(mismatch: Violation, name: string): Violation {
  mismatch.path.push(name);
  return mismatch;
}

const fits = (schema: Schema, value: unknown, budget: Budget): boolean =>
  find(schema, value, budget) === undefined;

type Holds = (value: unknown, wanted: never, budget: Budget) => boolean;
const ifText = (value: unknown, holds: (text: string) => boolean) =>
  typeof value !== 'string' || holds(value);
const ifNumber = (value: unknown, holds: (number: number) => boolean) =>
  typeof value !== 'number' || holds(value);
const ifList = (value: unknown, holds: (list: unknown[]) => boolean) => !Array.isArray(value) || holds(value);
const ifObject = (value: unknown, holds: (object: JsonObject) => boolean) => !isObject(value) || holds(value);

// Keywords about the value as a whole.
const rules: ReadonlyMap<string, Holds> = new Map<string, Holds>([
  ['type', (value, wanted: string | string[]) => isOfTypes(value, wanted)],
  ['enum', (value, wanted: unknown[], budget) => wanted.some(choice => isSame(value, choice, budget))],
  ['const', (value, wanted: unknown, budget) => isSame(value, wanted, budget)],
  ['format', (value, wanted: string, budget) => ifText(value, text => isFormatOf(wanted, text, budget))],
  [
    'minLength',
    (value, least: number, budget) =>
      ifText(
        value,
        text => text.length >= least && (text.length >= 2 * least || charsOf(text, budget) >= least),
      ),
  ],
  [
    'maxLength',
    (value, most: number, budget) =>
      ifText(
        value,
        text => text.length <= most || (text.length <= 2 * most && charsOf(text, budget) <= most),
      ),
  ],
  ['minimum', (value, least: number) => ifNumber(value, number => number >= least)],
  ['maximum', (value, most: number) => ifNumber(value, number => number <= most)],
  ['exclusiveMinimum', (value, bound: number) => ifNumber(value, number => number > bound)],
  ['exclusiveMaximum', (value, bound: number) => ifNumber(value, number => number < bound)],
  ['multipleOf', (value, unit: number) => ifNumber(value, number => Number.isInteger(number / unit))],
  ['minItems', (value, least: number) => ifList(value, ({ length }) => length >= least)],
  ['maxItems', (value, most: number) => ifList(value, ({ length }) => length <= most)],
  [
    'minProperties',
    (value, least: number, budget) => ifObject(value, object => countOf(object, budget) >= least),
  ],
  [
    'maxProperties',
    (value, most: number, budget) => ifObject(value, object => countOf(object, budget) <= most),
  ],
  [
    'required',
    (value, names: string[], budget) =>
      ifObject(value, object => {
        spend(budget, names.length);
        return names.every(name => Object.hasOwn(object, name));
      }),
  ],
  ['anyOf', (value, options: Schema[], budget) => options.some(option => fits(option, value, budget))],
  [
    'oneOf',
    (value, options: Schema[], budget) => options.filter(option => fits(option, value, budget)).length === 1,
  ],
  ['not', (value, other: Schema, budget) => !fits(other, value, budget)],
]);

// JSON.parse created both, so there are no cycles, and neither nests deeper than a request may.
function isSame(value: unknown, wanted: unknown, budget: Budget): boolean {
  spend(budget);
  if (value === wanted) return true;
  if (typeof value !== 'object' || typeof wanted !== 'object' || value === null || wanted === null)
    return false;
  if (Array.isArray(wanted))
    return (
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((element, at) => isSame(value[at], element, budget))
    );
  if (Array.isArray(value)) return false;
  const names = Object.keys(wanted);
  spend(budget, names.length);
  return (
    countOf(value as JsonObject, budget) === names.length &&
    names.every(
      name =>
        Object.hasOwn(value, name) &&
        isSame((value as JsonObject)[name], (wanted as JsonObject)[name], budget),
    )
  );
}

function isOfTypes(value: unknown, wanted: string | string[]): boolean {
  return typeof wanted === 'string' ? isOfType(value, wanted) : wanted.some(name => isOfType(value, name));
}

function isOfType(value: unknown, name: string): boolean {
  if (name === 'integer') return Number.isInteger(value);
  if (name === 'null') return value === null;
  if (name === 'array') return Array.isArray(value);
  return name === 'object' ? isObject(value) : typeof value === name;
}

function countOf(object: JsonObject, budget: Budget): number {
  const { length } = Object.keys(object);
  spend(budget, Math.ceil(length / limits.charsPerStep));
  return length;
}

function isFormatOf(name: string, text: string, budget: Budget): boolean {
  spend(budget, Math.ceil(Math.min(text.length, limits.formatChars) / limits.charsPerStep));
  return isFormat(name, text);
}

// JSON Schema counts characters, some of which are two code units.
function charsOf(text: string, budget: Budget): number {
  spend(budget, Math.ceil(text.length / limits.charsPerStep));
  let chars = 0;
  for (const _ of text) chars += 1;
  return chars;
}
