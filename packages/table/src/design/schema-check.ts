import type { z } from 'zod';
import type { Attributes } from '../client/client.ts';

// Values that a service writes nearly always fit their schema as they are. A check is compiled once from the schema of
// each attribute, and tells so without the objects that Zod makes for every value. Whatever a check does not know, and
// whatever does not pass, is left to Zod: it has the defaults, the transformations and the messages.

/** Whether Zod would return this value unchanged. False means that Zod must be asked. */
export type Check = (value: unknown) => boolean;

type Definition = {
  type: string;
  check?: string;
  checks?: readonly { _zod: { def: Rule } }[];
  innerType?: z.core.$ZodType;
  keyType?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  shape?: Record<string, z.core.$ZodType>;
  catchall?: unknown;
  values?: readonly unknown[];
  entries?: Record<string, unknown>;
  fn?: (value: unknown) => unknown;
  coerce?: boolean;
};
type Rule = {
  check: string;
  format?: string;
  pattern?: RegExp;
  minimum?: number;
  maximum?: number;
  value?: number | bigint | Date;
  inclusive?: boolean;
};

const unknown: Check = () => false;

const definitionOf = (schema: z.core.$ZodType): Definition => schema._zod.def as unknown as Definition;

const deepest = 4; // schemas may contain themselves

function compileCheck(schema: z.core.$ZodType, depth = 0): Check {
  const def = definitionOf(schema);
  if (def.coerce || depth > deepest) return unknown;
  const check = typeCheck(def, depth);
  // A format, such as that of an integer, is a rule of its own.
  const own = def.check === undefined || def.type === 'custom' ? [] : [def as unknown as Rule];
  const rules = [...own, ...(def.checks ?? []).map(({ _zod }) => _zod.def)].map(ruleCheck);
  if (check === unknown || rules.includes(unknown)) return unknown;
  if (rules.length === 0) return check;
  return value => check(value) && rules.every(rule => rule(value));
}

function typeCheck(def: Definition, depth: number): Check {
  switch (def.type) {
    case 'string':
      return value => typeof value === 'string';
    case 'number':
      return value => typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return value => typeof value === 'boolean';
    case 'literal':
      return oneOf(def.values!);
    case 'enum':
      return oneOf(Object.values(def.entries!));
    case 'optional': {
      const inner = compileCheck(def.innerType!, depth);
      return inner === unknown ? unknown : value => value === undefined || inner(value);
    }
    case 'record':
      return recordCheck(def, depth + 1);
    case 'object':
      return objectCheck(def, depth + 1);
    case 'custom':
      return value => def.fn!(value) === true;
    default:
      return unknown;
  }
}

// An enum of numbers also lists its names.
function oneOf(values: readonly unknown[]): Check {
  if (!values.every(value => typeof value === 'string')) return unknown;
  const allowed = new Set<unknown>(values);
  return value => allowed.has(value);
}

function ruleCheck({ check, format, pattern, minimum, maximum, value: bound, inclusive }: Rule): Check {
  switch (check) {
    case 'min_length':
      return value => (value as string).length >= minimum!;
    case 'max_length':
      return value => (value as string).length <= maximum!;
    case 'number_format':
      return format === 'safeint' ? Number.isSafeInteger : unknown;
    case 'string_format': {
      const isStateless = pattern !== undefined && !pattern.global && !pattern.sticky;
      return format === 'regex' && isStateless ? value => pattern.test(value as string) : unknown;
    }
    case 'greater_than':
      if (typeof bound !== 'number') return unknown;
      return inclusive ? value => (value as number) >= bound : value => (value as number) > bound;
    case 'less_than':
      if (typeof bound !== 'number') return unknown;
      return inclusive ? value => (value as number) <= bound : value => (value as number) < bound;
    default:
      return unknown;
  }
}

function recordCheck({ keyType, valueType }: Definition, depth: number): Check {
  const { type, checks = [] } = definitionOf(keyType!);
  const check = compileCheck(valueType!, depth);
  if (type !== 'string' || checks.length > 0 || check === unknown) return unknown;
  return value =>
    isPlain(value) && Object.keys(value).every(name => name !== '__proto__' && check(value[name]));
}

// Zod leaves out what the schema does not name, so an object with more is not returned unchanged.
function objectCheck({ shape }: Definition, depth: number): Check {
  const checks = new Map(Object.entries(shape!).map(([name, schema]) => [name, compileCheck(schema, depth)]));
  if ([...checks.values()].includes(unknown)) return unknown;
  const names = [...checks.keys()];
  return value =>
    isPlain(value) &&
    Object.keys(value).every(name => checks.has(name)) &&
    names.every(name => checks.get(name)!(value[name]));
}

function isPlain(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** An entity's schema, compiled to checks of items and attributes. */
export type SchemaChecks = {
  readonly attributes: ReadonlyMap<string, Check>;
  /** Attributes that an item may lack, or that have a default. */
  readonly mayBeAbsent: ReadonlySet<string>;
  /** Rules over several attributes, or over those that the schema does not name: only Zod knows them. */
  readonly hasOwnRules: boolean;
};

/** Compiles the checks of an entity. */
export function compileChecks(schema: z.ZodObject): SchemaChecks {
  const { checks = [], catchall } = definitionOf(schema);
  const names = Object.keys(schema.shape);
  return {
    attributes: new Map(names.map(name => [name, compileCheck(schema.shape[name]!)])),
    mayBeAbsent: new Set(names.filter(name => schema.shape[name]!._zod.optin !== undefined)),
    hasOwnRules: checks.length > 0 || catchall !== undefined,
  };
}
