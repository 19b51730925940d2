import { createRecentMap } from '@stak/kit';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats, { type FormatName } from 'ajv-formats';
import { tenantErrors } from './errors.ts';
import { isObject, type JsonObject } from './json-object.ts';
import * as limits from './limits.ts';

// Schemas that tenants write are compiled to code and run in this process, so they are made of keywords that
// take time in proportion to the schema and the value. `pattern` can take exponential time, `$ref` can recurse
// without end or reach for another document, `uniqueItems` compares everything with everything.

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

// Throws unless it is a schema of an object, within bounds, and compiles.
export function checkSchema(schema: JsonObject, schemas: CompiledSchemas): void {
  if (Buffer.byteLength(JSON.stringify(schema)) > limits.schemaBytes)
    throw refused(`The schema has more than ${limits.schemaBytes} bytes.`);
  const { $schema = dialect, ...rest } = schema;
  if ($schema !== dialect) throw refused(`The only dialect is ${dialect}.`);
  if (rest.type !== 'object')
    throw refused('Custom properties are an object: the schema needs type "object".');
  countNodes(rest, '#', 1);
  try {
    schemas.compile(JSON.stringify(schema));
  } catch (error) {
    throw refused(error instanceof Error ? error.message : 'The schema does not compile.');
  }
}

function countNodes(schema: unknown, place: string, depth: number): number {
  if (typeof schema === 'boolean') return 1;
  if (!isObject(schema)) throw refused(`${place} is not a schema.`);
  if (depth > limits.schemaDepth) throw refused(`The schema nests deeper than ${limits.schemaDepth} levels.`);
  let nodes = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    const check = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    if (check === undefined) throw refused(`${place}: the keyword "${keyword.slice(0, 50)}" is not taken.`);
    for (const [inner, name] of schemasIn(check, value)) {
      nodes += countNodes(inner, `${place}/${keyword}${name}`.slice(0, 200), depth + 1);
      if (nodes > limits.schemaNodes) throw refused(`The schema has more than ${limits.schemaNodes} parts.`);
    }
  }
  return nodes;
}

function schemasIn(check: Check, value: unknown): [schema: unknown, name: string][] {
  if (check === 'schema') return [[value, '']];
  if (check === 'schemas' && Array.isArray(value)) return value.map((inner, i) => [inner, `/${i}`]);
  if (check === 'named schemas' && isObject(value))
    return Object.entries(value).map(([name, inner]) => [inner, `/${name}`]);
  return [];
}

export type CompiledSchemas = { compile(text: string): ValidateFunction };

// By text, so that a schema that changed is another one, in every process.
export function createCompiledSchemas(): CompiledSchemas {
  const ajv = new Ajv2020({ strictTypes: false, ownProperties: true, logger: false });
  addFormats(ajv, { mode: 'fast', formats });
  const compiled = createRecentMap<string, ValidateFunction>(limits.compiledSchemas);
  return {
    compile(text) {
      const known = compiled.get(text);
      if (known) return known;
      const schema = JSON.parse(text) as JsonObject;
      const validate = ajv.compile(schema);
      // Ajv would keep it for good; what is used is kept above.
      ajv.removeSchema(schema);
      compiled.set(text, validate);
      return validate;
    },
  };
}
