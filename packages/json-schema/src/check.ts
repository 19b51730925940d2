import { formatNames } from './formats.ts';
import { isObject, type JsonObject } from './match.ts';

export type SchemaBounds = {
  bytes: number;
  parts: number; // nested schemas, and values that they list
  depth: number;
  object?: string; // how error messages call what must be of type "object"
};

const dialect = 'https://json-schema.org/draft/2020-12/schema';
const typeNames = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isTypeName = (value: unknown): boolean => isText(value) && typeNames.includes(value as string);

// The supported keywords and the values that they take. They all take time in proportion to the schema and the value:
// `pattern` can take exponential time, `$ref` can recurse without end or load another document, `uniqueItems` compares
// all pairs.
const values: ReadonlyMap<string, (value: unknown) => boolean> = new Map<string, (value: unknown) => boolean>(
  [
    [
      'type',
      value =>
        isTypeName(value) || (isNames(value) && (value as []).length > 0 && (value as []).every(isTypeName)),
    ],
    ['enum', Array.isArray],
    ['const', () => true],
    ['title', isText],
    ['description', isText],
    ['default', () => true],
    ['examples', Array.isArray],
    ['deprecated', value => typeof value === 'boolean'],
    ['format', value => formatNames.includes(value as never)],
    ['multipleOf', value => isNumber(value) && (value as number) > 0],
    ['required', isNames],
    ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map(name => [name, isNumber] as const),
    ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map(
      name => [name, isCount] as const,
    ),
  ],
);
const one = ['additionalProperties', 'items', 'not'];
const several = ['prefixItems', 'anyOf', 'oneOf', 'allOf'];

class Refusal extends Error {}

/**
 * Returns why a schema is refused, or undefined if it can be used.
 *
 * @example
 * findProblem({ type: 'string', pattern: '(a+)+$' }, { bytes: 16_384, parts: 500, depth: 16 });
 * // '#: the keyword "pattern" is not supported.'
 */
export function findProblem(schema: JsonObject, bounds: SchemaBounds): string | undefined {
  try {
    if (Buffer.byteLength(JSON.stringify(schema)) > bounds.bytes)
      throw new Refusal(`The schema has more than ${bounds.bytes} bytes.`);
    const { $schema = dialect, ...rest } = schema;
    if ($schema !== dialect) throw new Refusal(`The only dialect is ${dialect}.`);
    if (bounds.object !== undefined && rest.type !== 'object')
      throw new Refusal(`${bounds.object} are an object: the schema needs type "object".`);
    countParts(rest, '#', 1, bounds);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

function countParts(schema: unknown, path: string, depth: number, bounds: SchemaBounds): number {
  if (typeof schema === 'boolean') return 1;
  if (!isObject(schema)) throw new Refusal(`${path} is not a schema.`);
  if (depth > bounds.depth) throw new Refusal(`The schema is more than ${bounds.depth} levels deep.`);
  let parts = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${path}/${keyword}`.slice(0, 200);
    // Each value of a list is compared with the checked value.
    if (Array.isArray(value) && values.has(keyword)) parts += value.length;
    for (const [inner, name] of schemasIn(keyword, value, path))
      parts += countParts(inner, `${at}${name}`.slice(0, 200), depth + 1, bounds);
    if (parts > bounds.parts) throw new Refusal(`The schema has more than ${bounds.parts} parts.`);
  }
  return parts;
}

function schemasIn(keyword: string, value: unknown, path: string): [schema: unknown, name: string][] {
  if (one.includes(keyword)) return [[value, '']];
  const isFine = values.get(keyword);
  if (isFine) {
    if (isFine(value)) return [];
    const hint = keyword === 'format' ? ` The formats are ${formatNames.join(', ')}.` : '';
    throw new Refusal(`${path}: "${keyword}" has a value that is not allowed.${hint}`);
  }
  if (several.includes(keyword)) {
    if (!Array.isArray(value) || value.length === 0)
      throw new Refusal(`${path}/${keyword} lists no schemas.`);
    return value.map((inner, i) => [inner, `/${i}`]);
  }
  if (keyword !== 'properties')
    throw new Refusal(`${path}: the keyword "${keyword.slice(0, 50)}" is not supported.`);
  if (!isObject(value)) throw new Refusal(`${path}/properties holds no schemas.`);
  return Object.entries(value).map(([name, inner]) => [inner, `/${name}`]);
}
