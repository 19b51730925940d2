import type { ValidateFunction } from 'ajv/dist/2020.js';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';

// Schemas that tenants write are compiled to code and run in this process, so they are made of keywords that take time
// in proportion to schema and value: no patterns, no references.

type Inside = 'schema' | 'schemas' | 'named schemas' | 'value';
const values =
  `type enum const title description default examples deprecated minLength maxLength minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems minProperties maxProperties required`.split(
    /\s+/,
  );
const keywords = new Map<string, Inside>([
  ...values.map((keyword): [string, Inside] => [keyword, 'value']),
  ['properties', 'named schemas'],
  ['additionalProperties', 'schema'],
  ['items', 'schema'],
  ['prefixItems', 'schemas'],
  ['anyOf', 'schemas'],
  ['oneOf', 'schemas'],
  ['allOf', 'schemas'],
  ['not', 'schema'],
]);

export type JsonSchema = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const refused = (detail: string) => agentErrors.create('agents.skill_refused', detail);

// Throws unless it is a schema of an object and within bounds.
export function checkSchema(schema: JsonSchema): void {
  if (Buffer.byteLength(JSON.stringify(schema)) > limits.schemaBytes)
    throw refused(`The schema has more than ${limits.schemaBytes} bytes.`);
  if (schema.type !== 'object') throw refused('Parameters are an object: the schema needs type "object".');
  countNodes(schema, '#', 1);
}

function countNodes(schema: unknown, place: string, depth: number): number {
  if (typeof schema === 'boolean') return 1;
  if (!isObject(schema)) throw refused(`${place} is not a schema.`);
  if (depth > limits.schemaDepth) throw refused(`The schema nests deeper than ${limits.schemaDepth} levels.`);
  let nodes = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    const inside = keywords.get(keyword);
    if (!inside) throw refused(`${place}: the keyword "${keyword.slice(0, 50)}" is not taken.`);
    for (const inner of schemasIn(inside, value)) {
      nodes += countNodes(inner, `${place}/${keyword}`.slice(0, 200), depth + 1);
      if (nodes > limits.schemaNodes) throw refused(`The schema has more than ${limits.schemaNodes} parts.`);
    }
  }
  return nodes;
}

function schemasIn(inside: Inside, value: unknown): unknown[] {
  if (inside === 'schema') return [value];
  if (inside === 'schemas' && Array.isArray(value)) return value;
  return inside === 'named schemas' && isObject(value) ? Object.values(value) : [];
}

export type CompiledSchemas = { compile(schema: JsonSchema): Promise<ValidateFunction> };

// By text, so that a schema that changed is another one, in every process.
export function createCompiledSchemas(): CompiledSchemas {
  const compiled = new Map<string, ValidateFunction>();
  return {
    async compile(schema) {
      const text = JSON.stringify(schema);
      const known = compiled.get(text);
      if (known) return known;
      const { Ajv2020 } = await import('ajv/dist/2020.js');
      const ajv = new Ajv2020({ strict: false, ownProperties: true, logger: false });
      let validate: ValidateFunction;
      try {
        validate = ajv.compile(schema);
      } catch (error) {
        throw refused(error instanceof Error ? error.message : 'The schema does not compile.');
      }
      compiled.set(text, validate);
      if (compiled.size > limits.compiledSchemas) compiled.delete(compiled.keys().next().value!);
      return validate;
    },
  };
}
