import { createRequire } from 'node:module';
import { createRecentMap } from '@stak/kit';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FormatName } from 'ajv-formats';
import { inboxErrors } from './errors.ts';
import * as limits from './limits.ts';

// Schemas that hosts write are compiled to code and run in this process, so they are made of keywords that take
// time in proportion to the schema and the value. `pattern` can take exponential time, `$ref` can recurse without
// end or reach for another document, `uniqueItems` compares everything with everything.

const addFormats = createRequire(import.meta.url)('ajv-formats') as (
  ajv: Ajv2020,
  options: { mode: 'fast'; formats: FormatName[] },
) => void;

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
const plain =
  'type enum const title description default examples deprecated format minLength maxLength minimum maximum ' +
  'exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems minProperties maxProperties required';
const keywords = new Map<string, 'value' | 'schema' | 'list' | 'named'>([
  ...plain.split(' ').map(name => [name, 'value'] as const),
  ...['additionalProperties', 'items', 'not'].map(name => [name, 'schema'] as const),
  ...['prefixItems', 'anyOf', 'oneOf', 'allOf'].map(name => [name, 'list'] as const),
  ['properties', 'named'],
]);

export type JsonSchema = Record<string, unknown>;
export type BodyChecks = {
  // Throws unless it is a schema, within bounds, that compiles.
  checkSchema(schema: JsonSchema): void;
  checkBody(schema: JsonSchema, body: unknown): void;
};

const refused = (detail: string) => inboxErrors.create('inbox.schema_refused', detail);

export function createBodyChecks(): BodyChecks {
  const ajv = new Ajv2020({ strict: false, addUsedSchema: false, validateSchema: true, logger: false });
  addFormats(ajv, { mode: 'fast', formats });
  const compiled = createRecentMap<string, ValidateFunction>(limits.cachedSchemas);

  const compile = (schema: JsonSchema): ValidateFunction => {
    const key = JSON.stringify(schema);
    const known = compiled.get(key);
    if (known) return known;
    const { $schema: _, ...rest } = schema;
    const made = ajv.compile(rest);
    ajv.removeSchema(rest); // it would keep every schema for good
    compiled.set(key, made);
    return made;
  };

  return {
    checkSchema(schema) {
      if (Buffer.byteLength(JSON.stringify(schema)) > limits.schemaBytes)
        throw refused(`The schema has more than ${limits.schemaBytes} bytes.`);
      const { $schema = dialect, ...rest } = schema;
      if ($schema !== dialect) throw refused(`The only dialect is ${dialect}.`);
      countNodes(rest, '#', 1);
      try {
        compile(schema);
      } catch (error) {
        throw refused(error instanceof Error ? error.message : 'It does not compile.');
      }
    },
    checkBody(schema, body) {
      const validate = compile(schema);
      if (validate(body)) return;
      const errors = (validate.errors ?? []).map(error => ({
        in: 'body' as const,
        pointer: `#/message/body${error.instancePath}`,
        code: error.keyword,
        detail: error.message ?? 'It is not as the schema says',
      }));
      throw inboxErrors.create('inbox.body_invalid', "The body does not fit the inbox's schema.", { errors });
    },
  };
}

function countNodes(schema: unknown, path: string, depth: number): number {
  if (typeof schema === 'boolean') return 1;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw refused(`${path} is not a schema.`);
  if (depth > limits.schemaDepth) throw refused(`The schema is more than ${limits.schemaDepth} levels deep.`);
  let nodes = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    const kind = keywords.get(keyword);
    const place = `${path}/${keyword}`;
    if (kind === undefined) throw refused(`${place}: this keyword is not supported here.`);
    if (kind === 'schema') nodes += countNodes(value, place, depth + 1);
    if (kind === 'list' || kind === 'named') {
      if (typeof value !== 'object' || value === null) throw refused(`${place} holds no schemas.`);
      for (const [name, inner] of Object.entries(value))
        nodes += countNodes(inner, `${place}/${name}`, depth + 1);
    }
  }
  if (nodes > limits.schemaNodes) throw refused(`The schema has more than ${limits.schemaNodes} parts.`);
  return nodes;
}
