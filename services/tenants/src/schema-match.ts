import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from './json-object.ts';
import { isFormat } from './json-schema.ts';
import * as limits from './limits.ts';

// Tenants write these schemas, so they are read and never compiled: making code from one takes a fraction of a
// second in which nobody else is served, and it would be made again for whoever sends another one.

export type Schema = boolean | JsonObject;
export type Mismatch = { pointer: string; detail: string };

type Budget = { steps: number };
type Holds = (value: unknown, wanted: never, budget: Budget) => boolean;

const ifText = (value: unknown, holds: (text: string) => boolean) =>
  typeof value !== 'string' || holds(value);
const ifNumber = (value: unknown, holds: (number: number) => boolean) =>
  typeof value !== 'number' || holds(value);
const ifList = (value: unknown, holds: (list: unknown[]) => boolean) => !Array.isArray(value) || holds(value);
const ifObject = (value: unknown, holds: (object: JsonObject) => boolean) => !isObject(value) || holds(value);

// Keywords that say something about the value as a whole.
const rules: Readonly<Record<string, Holds>> = {
  type: (value, wanted: string | string[]) => [wanted].flat().some(name => isOfType(value, name)),
  enum: (value, wanted: unknown[], budget) => wanted.some(one => isSame(value, one, budget)),
  const: (value, wanted: unknown, budget) => isSame(value, wanted, budget),
  format: (value, wanted: string) => ifText(value, text => isFormat(wanted, text)),
  minLength: (value, least: number) => ifText(value, text => text.length >= least && charsOf(text) >= least),
  maxLength: (value, most: number) => ifText(value, text => text.length <= most || charsOf(text) <= most),
  minimum: (value, least: number) => ifNumber(value, number => number >= least),
  maximum: (value, most: number) => ifNumber(value, number => number <= most),
  exclusiveMinimum: (value, bound: number) => ifNumber(value, number => number > bound),
  exclusiveMaximum: (value, bound: number) => ifNumber(value, number => number < bound),
  multipleOf: (value, unit: number) => ifNumber(value, number => Number.isInteger(number / unit)),
  minItems: (value, least: number) => ifList(value, ({ length }) => length >= least),
  maxItems: (value, most: number) => ifList(value, ({ length }) => length <= most),
  minProperties: (value, least: number) => ifObject(value, object => Object.keys(object).length >= least),
  maxProperties: (value, most: number) => ifObject(value, object => Object.keys(object).length <= most),
  required: (value, names: string[]) =>
    ifObject(value, object => names.every(name => Object.hasOwn(object, name))),
  anyOf: (value, options: Schema[], budget) => options.some(one => fits(one, value, budget)),
  oneOf: (value, options: Schema[], budget) => options.filter(one => fits(one, value, budget)).length === 1,
  not: (value, other: Schema, budget) => !fits(other, value, budget),
};

// The first thing about a value that a schema does not allow. The schema has passed `checkSchema`.
export function findMismatch(
  schema: Schema,
  value: unknown,
  pointer = '',
  budget: Budget = { steps: limits.schemaSteps },
): Mismatch | undefined {
  spend(budget);
  if (typeof schema === 'boolean') return schema ? undefined : { pointer, detail: 'Is not allowed' };
  for (const [keyword, wanted] of Object.entries(schema)) {
    const holds = rules[keyword];
    if (holds && !holds(value, wanted as never, budget))
      return { pointer, detail: `Does not fit "${keyword}": ${JSON.stringify(wanted).slice(0, 200)}` };
  }
  for (const [inner, part, name] of partsOf(schema, value)) {
    const found = findMismatch(inner, part, name === undefined ? pointer : `${pointer}/${name}`, budget);
    if (found) return found;
  }
  return undefined;
}

// What is said about parts of the value, or by other schemas about all of it.
function* partsOf(
  { properties = {}, additionalProperties = true, prefixItems = [], items = true, allOf = [] }: JsonObject,
  value: unknown,
): Generator<[schema: Schema, part: unknown, name?: string]> {
  for (const schema of allOf as Schema[]) yield [schema, value];
  if (Array.isArray(value))
    for (const [i, part] of value.entries())
      yield [(prefixItems as Schema[])[i] ?? (items as Schema), part, String(i)];
  else if (isObject(value))
    for (const [name, part] of Object.entries(value)) {
      const named = Object.hasOwn(properties as JsonObject, name);
      const schema = named ? (properties as Record<string, Schema>)[name]! : (additionalProperties as Schema);
      yield [schema, part, name.replaceAll('~', '~0').replaceAll('/', '~1')];
    }
}

const fits = (schema: Schema, value: unknown, budget: Budget): boolean =>
  findMismatch(schema, value, '', budget) === undefined;

// Not a mismatch, which `not` would turn into its opposite.
export class TooMuchToCheck extends Error {}

function spend(budget: Budget): void {
  budget.steps -= 1;
  if (budget.steps < 0) throw new TooMuchToCheck();
}

function isSame(value: unknown, wanted: unknown, budget: Budget): boolean {
  spend(budget);
  return value === wanted || (typeof wanted === 'object' && isDeepStrictEqual(value, wanted));
}

function isOfType(value: unknown, name: string): boolean {
  if (name === 'integer') return Number.isInteger(value);
  if (name === 'null') return value === null;
  if (name === 'array') return Array.isArray(value);
  return name === 'object' ? isObject(value) : typeof value === name;
}

// JSON Schema counts characters, and some are two code units.
function charsOf(text: string): number {
  let chars = 0;
  for (const _ of text) chars += 1;
  return chars;
}
