import { createHash } from 'node:crypto';
import type { FollowedEntity } from '../tables.ts';

// An entity's attributes as columns, by its schema. Anything other than a single value stays JSON.

type ColumnType = 'VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN' | 'JSON';
export type Column = { name: string; type: ColumnType };

type Definition = {
  type: string;
  innerType?: { _zod: { def: Definition } };
  in?: { _zod: { def: Definition } }; // of a pipe
  out?: { _zod: { def: Definition } };
  checks?: { _zod: { def: { check?: string; format?: string } } }[];
  format?: string;
  check?: string;
  values?: unknown[];
  options?: { _zod: { def: Definition } }[];
};

export function columnsOf({ entity, omit = [], text }: FollowedEntity): Column[] {
  const hidden = new Set(omit);
  return Object.entries((text ?? entity).schema.shape)
    .filter(([name]) => !hidden.has(name))
    .map(([name, schema]) => ({ name, type: typeOf(definitionOf(schema)) }));
}

export const signatureOf = (columns: readonly Column[]): string =>
  createHash('sha256')
    .update(JSON.stringify(columns.map(({ name, type }) => [name, type])))
    .digest('hex')
    .slice(0, 16);

const definitionOf = (schema: unknown): Definition => (schema as { _zod: { def: Definition } })._zod.def;

function typeOf(def: Definition): ColumnType {
  switch (def.type) {
    case 'string':
    case 'enum':
    case 'template_literal':
      return 'VARCHAR';
    case 'number':
      return isWhole(def) ? 'BIGINT' : 'DOUBLE';
    case 'boolean':
      return 'BOOLEAN';
    case 'literal':
      return typeOfLiterals(def.values ?? []);
    case 'union':
      return typeOfUnion(def.options ?? []);
    case 'pipe':
      return typeOfPipe(def);
    default:
      return def.innerType ? typeOf(definitionOf(def.innerType)) : 'JSON';
  }
}

const isWhole = ({ format, checks = [] }: Definition): boolean =>
  [format, ...checks.map(check => check._zod.def.format)].some(one => one !== undefined && /int/.test(one));

function typeOfLiterals(values: readonly unknown[]): ColumnType {
  if (values.every(value => typeof value === 'string')) return 'VARCHAR';
  return values.every(value => typeof value === 'boolean') ? 'BOOLEAN' : 'JSON';
}

function typeOfUnion(options: readonly { _zod: { def: Definition } }[]): ColumnType {
  const types = new Set(options.map(option => typeOf(definitionOf(option))));
  const [only] = types;
  return types.size === 1 && only !== undefined ? only : 'JSON';
}

// A transform may return anything; its input gives the type, and most only trim or lowercase it.
function typeOfPipe(def: Definition): ColumnType {
  const out = def.out && definitionOf(def.out);
  if (out && out.type !== 'transform') return typeOf(out);
  return def.in ? typeOf(definitionOf(def.in)) : 'JSON';
}
