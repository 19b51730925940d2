import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats, { type FormatName } from 'ajv-formats';
import { tenantErrors } from './errors.ts';
import { isObject, type JsonObject } from './json-object.ts';
import * as limits from './limits.ts';

// Schemas that tenants write run in this process, so they are made of keywords that take time in proportion to the
// schema and the value. `pattern` can take exponential time, `$ref` can recurse without end or reach for another
// document, `uniqueItems` compares everything with everything.

const formats: FormatName[] = [
  'date',
  'date-time',
  'time',
  'email',
  'uri',
  'uuid',
  'ipv4',
  'ipv6',
  'hostname',
];
const dialect = 'https://json-schema.org/draft/2020-12/schema';

type Check = 'schema' | 'schemas' | 'named schemas' | 'value';
const keywords: Readonly<Record<string, Check>> = {
  type: 'value',
  enum: 'value',
  const: 'value',
  title: 'value',
  description: 'value',
  default: 'value',
  examples: 'value',
  deprecated: 'value',
  format: 'value',
  minLength: 'value',
  maxLength: 'value',
  minimum: 'value',
  maximum: 'value',
  exclusiveMinimum: 'value',
  exclusiveMaximum: 'value',
  multipleOf: 'value',
  minItems: 'value',
  maxItems: 'value',
  minProperties: 'value',
  maxProperties: 'value',
  required: 'value',
  properties: 'named schemas',
  additionalProperties: 'schema',
  items: 'schema',
  prefixItems: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  allOf: 'schemas',
  not: 'schema',
};

const refused = (detail: string) => tenantErrors.create('tenants.schema_refused', detail);

// Throws unless it is a schema of an object, within bounds.
export function checkSchema(schema: JsonObject): void {
  if (Buffer.byteLength(JSON.stringify(schema)) > limits.schemaBytes)
    throw refused(`The schema has more than ${limits.schemaBytes} bytes.`);
  const { $schema = dialect, ...rest } = schema;
  if ($schema !== dialect) throw refused(`The only dialect is ${dialect}.`);
  if (rest.type !== 'object')
    throw refused('Custom properties are an object: the schema needs type "object".');
  countParts(rest, '#', 1);
  const meta = openMetaSchema();
  if (!meta.validateSchema(rest)) throw refused(meta.errorsText(meta.errors, { dataVar: '#' }));
}

function countParts(schema: unknown, place: string, depth: number): number {
  if (typeof schema === 'boolean') return 1;
  if (!isObject(schema)) throw refused(`${place} is not a schema.`);
  if (depth > limits.schemaDepth) throw refused(`The schema nests deeper than ${limits.schemaDepth} levels.`);
  let parts = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    const check = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    if (check === undefined) throw refused(`${place}: the keyword "${keyword.slice(0, 50)}" is not taken.`);
    if (keyword === 'format' && !formats.includes(value as FormatName))
      throw refused(`${place}: the formats are ${formats.join(', ')}.`);
    // Each of them is compared with the value.
    if (check === 'value' && Array.isArray(value)) parts += value.length;
    for (const [inner, name] of schemasIn(check, value)) {
      parts += countParts(inner, `${place}/${keyword}${name}`.slice(0, 200), depth + 1);
    }
    if (parts > limits.schemaParts) throw refused(`The schema has more than ${limits.schemaParts} parts.`);
  }
  return parts;
}

function schemasIn(check: Check, value: unknown): [schema: unknown, name: string][] {
  if (check === 'schema') return [[value, '']];
  if (check === 'schemas' && Array.isArray(value)) return value.map((inner, i) => [inner, `/${i}`]);
  if (check === 'named schemas' && isObject(value))
    return Object.entries(value).map(([name, inner]) => [inner, `/${name}`]);
  return [];
}

// Knows the schema of schemas. Made for the first tenant that defines something: it takes a while.
let metaSchema: Ajv2020 | undefined;

function openMetaSchema(): Ajv2020 {
  metaSchema ??= new Ajv2020({ logger: false });
  return metaSchema;
}

export function isFormat(name: string, text: string): boolean {
  const format = addFormats.get(name as FormatName, 'fast');
  const validate = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (validate instanceof RegExp) return validate.test(text);
  return typeof validate !== 'function' || validate(text as never) === true;
}
