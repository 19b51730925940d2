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

it('asks end users for scopes that can be minted, and for each of them somewhere', () => {
  const asked = operations.flatMap(({ security }) => security.flatMap(({ endUser = [] }) => endUser));
  expect([...new Set(asked)].sort()).toEqual([...endUserScopes].sort());
});
