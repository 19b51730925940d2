import { Validator } from '@seriousme/openapi-schema-validator';
import { endUserScopes } from '@stak/tenants';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { describeApi } from '../src/document.ts';

type Parameter = { name: string; in: string; schema: { maxLength?: number; default?: unknown } };
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  security: Record<string, string[]>[];
};

const document = JSON.parse(JSON.stringify(describeApi())) as {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
const operations = Object.values(document.paths).flatMap(item => Object.values(item));
const parameters = operations.flatMap(({ operationId, parameters: all = [] }) =>
  all.map(one => ({ ...one, operationId })),
);
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

it('is a valid OpenAPI 3.1 document', async () => {
  const { valid, errors } = await new Validator().validate(document);
  expect(errors).toBeUndefined();
  expect([valid, document.openapi]).toEqual([true, '3.1.0']);
});

// OpenAPI 3.1 leaves schemas to JSON Schema, and so does its validator.
it('holds valid schemas of JSON Schema 2020-12, whose defaults fit', () => {
  const seen: object[] = [];
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('schema' in value && typeof value.schema === 'object') seen.push(value.schema!);
    for (const inner of Object.values(value)) collect(inner);
  };
  collect(document.paths);
  const schemas = [...seen, ...Object.values(document.components.schemas)];
  expect(schemas.length).toBeGreaterThan(300);
  for (const schema of schemas)
    expect(ajv.validateSchema(schema), `${ajv.errorsText()}: ${JSON.stringify(schema)}`).toBe(true);
  for (const { operationId, name, schema } of parameters)
    if (schema.default !== undefined)
      expect(ajv.validate(schema, schema.default), `${operationId} ${name}`).toBe(true);
});

it('says how long a cursor may be', () => {
  const cursors = parameters.filter(({ name }) => name === 'cursor');
  expect(cursors.length).toBeGreaterThan(10);
  for (const { operationId, schema } of cursors) expect(schema.maxLength, operationId).toBe(4096);
});

type Schema = {
  $ref?: string;
  type?: string | string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
} & Partial<Record<'anyOf' | 'oneOf' | 'allOf' | 'prefixItems', Schema[]>>;
const bounds = ['maxLength', 'enum', 'const', 'format', 'pattern'] as const;

// Every text in a schema that may be of any length, by its place.
function unbounded(given: Schema, place: string, above: readonly Schema[] = []): string[] {
  const schema = given.$ref ? (document.components.schemas[given.$ref.split('/').at(-1)!] as Schema) : given;
  if (above.includes(schema)) return [];
  const inner = (one: Schema, name: string) => unbounded(one, `${place}${name}`, [...above, schema]);
  const { additionalProperties: others } = schema;
  return [
    ...([schema.type].flat().includes('string') && !bounds.some(name => name in schema) ? [place] : []),
    ...(['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const).flatMap(name =>
      (schema[name] ?? []).flatMap(one => inner(one, '')),
    ),
    ...(schema.items ? inner(schema.items, '[]') : []),
    ...(typeof others === 'object' ? inner(others, '.*') : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => inner(one, `.${name}`)),
  ];
}

// Headers are bounded together, by Node. So are rules, templates and conversations, by the size of a body.
const boundedTogether = /^(webhooks\.(create|edit|test)Connection|agents\.importConversation)\b/;

it('says how long every text may be that a caller sends', () => {
  const named = parameters
    .filter(one => one.in !== 'header')
    .flatMap(({ operationId, name, schema }) => unbounded(schema as Schema, `${operationId} ${name}`));
  const sent = operations.flatMap(({ operationId, requestBody }) => {
    const body = requestBody?.content['application/json']?.schema;
    return body && !boundedTogether.test(operationId) ? unbounded(body, operationId) : [];
  });
  expect([...named, ...sent]).toEqual([]);
});

it('asks end users for scopes that can be minted, and for each of them somewhere', () => {
  const asked = operations.flatMap(({ security }) => security.flatMap(({ endUser = [] }) => endUser));
  expect([...new Set(asked)].sort()).toEqual([...endUserScopes].sort());
});
