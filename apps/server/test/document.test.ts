import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { httpErrors } from '@stak/http';
import { streamErrors } from '@stak/streams';
import { tableErrors } from '@stak/table';
import { endUserScopes } from '@stak/tenants';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it, onTestFinished } from 'vitest';
import { describeApi, describeReference, serviceErrors } from '../src/compose/document.ts';
import { errorTexts } from '../src/http/reference/error-texts.ts';
import { innerSchemas } from '../src/http/reference/examples.ts';

type Parameter = { name: string; in: string; schema: { maxLength?: number; default?: unknown } };
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
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
const ajv = new Ajv2020({ strict: false, code: { optimize: false } });
addFormats.default(ajv);

it('is a valid OpenAPI 3.1 document', async () => {
  const { valid, errors } = await new Validator().validate(document);
  expect(errors).toBeUndefined();
  expect([valid, document.openapi]).toEqual([true, '3.1.0']);
});

// The client's types, the reference and the guides use these names.
it('names every object that it uses twice', () => {
  const uses = new Map<string, string[]>();
  const visit = (schema: Schema, path: string, isNamed = false): void => {
    const {
      description: _,
      default: __,
      ...rest
    } = schema as Schema & { description?: string; default?: unknown };
    const fields = Object.entries(schema.properties ?? {});
    const key = JSON.stringify(rest);
    if (fields.length > 0 && !isNamed) uses.set(key, [...(uses.get(key) ?? []), path]);
    for (const [name, inner] of fields) visit(inner, `${path} ${name}`);
    for (const inner of innerSchemas(schema as never)) visit(inner as Schema, path);
  };
  for (const { operationId, requestBody, responses } of operations)
    for (const [where, one] of [['body', requestBody] as const, ...Object.entries(responses)])
      for (const { schema } of Object.values(one?.content ?? {})) visit(schema, `${operationId} ${where}`);
  for (const [name, schema] of Object.entries(document.components.schemas)) visit(schema, name, true);
  expect([...uses.values()].filter(({ length }) => length > 1)).toEqual([]);
});

// OpenAPI 3.1 leaves schemas to JSON Schema, and so does its validator.
it('has valid schemas of JSON Schema 2020-12, with valid defaults', () => {
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

it('states the maximum length of a cursor', () => {
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
function unbounded(given: Schema, path: string, above: readonly Schema[] = []): string[] {
  const schema = given.$ref ? (document.components.schemas[given.$ref.split('/').at(-1)!] as Schema) : given;
  if (above.includes(schema)) return [];
  const inner = (one: Schema, name: string) => unbounded(one, `${path}${name}`, [...above, schema]);
  const { additionalProperties: others } = schema;
  return [
    ...([schema.type].flat().includes('string') && !bounds.some(name => name in schema) ? [path] : []),
    ...(['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const).flatMap(name =>
      (schema[name] ?? []).flatMap(one => inner(one, '')),
    ),
    ...(schema.items ? inner(schema.items, '[]') : []),
    ...(typeof others === 'object' ? inner(others, '.*') : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => inner(one, `.${name}`)),
  ];
}

// Headers are bounded together, by Node. So are rules, templates and conversations, by the size of a body.
const boundedTogether =
  /^(webhooks\.((create|edit|test)Connection|tryRules|whatIf)|agents\.importConversation)\b/;

it('states the maximum length of every text in a request', () => {
  const named = parameters
    .filter(one => one.in !== 'header')
    .flatMap(({ operationId, name, schema }) => unbounded(schema as Schema, `${operationId} ${name}`));
  const sent = operations.flatMap(({ operationId, requestBody }) => {
    const body = requestBody?.content['application/json']?.schema;
    return body && !boundedTogether.test(operationId) ? unbounded(body, operationId) : [];
  });
  expect([...named, ...sent]).toEqual([]);
});

it('requires only scopes that can be minted, and each of them somewhere', () => {
  const asked = operations.flatMap(({ security }) => security.flatMap(({ endUser = [] }) => endUser));
  expect([...new Set(asked)].sort()).toEqual([...endUserScopes].sort());
});

type Described = { description?: string };
type Media = { schema?: Schema; example?: unknown };
type ReferenceOperation = Described & {
  operationId: string;
  tags?: string[];
  parameters?: (Parameter & Described & { example?: unknown })[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Described & { content?: Record<string, Media> }>;
  'x-codeSamples'?: { lang: string; source: string }[];
};
const reference = JSON.parse(JSON.stringify(describeReference())) as {
  tags: { name: string; 'x-displayName': string }[];
  paths: Record<string, Record<string, ReferenceOperation>>;
  components: { schemas: Record<string, object> };
};
const referenceOperations = Object.values(reference.paths).flatMap(item => Object.values(item));

// Every property in a schema that no text explains, by its place.
function unexplained(schema: (Schema & Described) | undefined, path: string): string[] {
  if (!schema) return [];
  return [
    ...Object.entries<Schema & Described>(schema.properties ?? {}).flatMap(([name, field]) => [
      ...(field.$ref || field.description ? [] : [`${path}.${name}`]),
      ...unexplained(field, `${path}.${name}`),
    ]),
    ...innerSchemas(schema as Parameters<typeof innerSchemas>[0]).flatMap(inner =>
      unexplained(inner as Schema, path),
    ),
  ];
}

it('describes every operation, parameter and field', () => {
  const missing = referenceOperations.flatMap(
    ({ operationId, description, parameters: all = [], ...rest }) => [
      ...(description ? [] : [operationId]),
      ...all.filter(one => !one.description).map(({ name }) => `${operationId} ${name}`),
      ...[rest.requestBody, ...Object.values(rest.responses)]
        .flatMap(one => Object.values(one?.content ?? {}))
        .flatMap(({ schema }) => unexplained(schema, operationId)),
    ],
  );
  expect([
    ...missing,
    ...Object.entries(reference.components.schemas).flatMap(([name, schema]) => unexplained(schema, name)),
  ]).toEqual([]);
});

it('describes every group of operations', () => {
  const used = new Set(referenceOperations.flatMap(({ tags = [] }) => tags));
  expect(reference.tags.map(({ name }) => name).sort()).toEqual([...used].sort());
  expect(reference.tags.find(({ name }) => name === 'webhooks')?.['x-displayName']).toBe('Webhooks');
});

it('describes every error, and no others', () => {
  const catalogues = [httpErrors, tableErrors, streamErrors, ...serviceErrors()];
  const codes = catalogues.flatMap(({ statuses }) => Object.keys(statuses));
  expect(codes.filter(code => !errorTexts[code])).toEqual([]);
  expect(Object.keys(errorTexts).filter(code => !codes.includes(code))).toEqual([]);
});

it('has a valid example for every request and response', () => {
  const check = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } });
  for (const [name, schema] of Object.entries(reference.components.schemas))
    check.addSchema(schema, `#/components/schemas/${name}`);
  const wrong: string[] = [];
  const compiled = new Map<string, ReturnType<typeof check.compile>>(); // a schema that stands in ten places, once
  const test = (path: string, { schema, example }: Media) => {
    if (!schema) return;
    if (example === undefined) wrong.push(`${path}: no example`);
    else {
      const text = JSON.stringify(schema);
      const validate = compiled.get(text) ?? check.compile(schema);
      compiled.set(text, validate);
      if (!validate(example)) wrong.push(`${path}: ${check.errorsText(validate.errors)}`);
    }
  };
  for (const { operationId, parameters: all = [], requestBody, responses } of referenceOperations) {
    for (const one of all) test(`${operationId} ${one.name}`, one as Media);
    const contents = [
      requestBody?.content ?? {},
      ...Object.entries(responses).map(([status, { content }]) =>
        Number(status) < 300 ? (content ?? {}) : {},
      ),
    ];
    for (const [type, media] of contents.flatMap(content => Object.entries(content)))
      if (/json/.test(type)) test(`${operationId} ${type}`, media);
  }
  expect(wrong).toEqual([]);
});

it('calls every operation with the client, in a program that compiles', async () => {
  const samples = referenceOperations.map(({ operationId, 'x-codeSamples': all = [] }) => {
    const source = all.find(({ lang }) => lang === 'typescript')?.source;
    return { operationId, source };
  });
  expect(samples.filter(({ source }) => !source).map(({ operationId }) => operationId)).toEqual([]);
  const root = join(import.meta.dirname, '../../..');
  const parent = join(root, 'node_modules/.stak'); // the packages are found from there, and nobody else looks
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'samples-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const { operationId, source } of samples)
    await writeFile(join(folder, `${operationId}.ts`), `${source}\nexport {};\n`);
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noUnusedLocals: false },
    include: ['*.ts'],
    exclude: [],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '--noEmit', '-p', folder], { cwd: root }).catch(
    error => {
      throw new Error(error.stdout);
    },
  );
}, 60_000);
