import { sampleCalls } from '@stak/client/samples';
import type { ApiDocument } from '@stak/http';
import { errorTexts } from './error-texts.ts';
import { exampleOf, innerSchemas, type Schema } from './examples.ts';
import { fieldTexts } from './field-texts.ts';
import { standardFieldTexts } from './standard-field-texts.ts';

// Routes and schemas contain what is needed to call them. This adds what readers need: a text for everything that has
// none, examples, and the meaning of each error.

type Media = { schema?: Schema; example?: unknown };
type Content = Record<string, Media>;
type Parameter = { name: string; in: string; description?: string; example?: unknown; schema?: Schema };
type Operation = {
  operationId: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
  'x-codeSamples'?: { lang: string; label: string; source: string }[];
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
};

export function annotate(raw: ApiDocument): ApiDocument {
  const document = JSON.parse(JSON.stringify(raw)) as Document;
  const shared = document.components?.schemas ?? {};
  for (const schema of Object.values(shared)) describeFields(schema);
  const operations = Object.values(document.paths).flatMap(item => Object.values(item));
  for (const operation of operations) describeOperation(operation, shared);
  // Readers of the document generate samples for curl, Python and Go themselves, but not for our client.
  const samples = sampleCalls(document);
  for (const operation of operations) {
    const source = samples.get(operation.operationId);
    if (source) operation['x-codeSamples'] = [{ lang: 'typescript', label: 'TypeScript', source }];
  }
  const named = {
    ...document,
    tags: Object.entries(tagTexts).map(([name, description]) => ({
      name,
      'x-displayName': withCapital(name),
      description,
    })),
  };
  return named as unknown as ApiDocument;
}

// Tags are lower-case in routes and addresses; as titles they begin with a capital.
const withCapital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

// In the order in which a new user meets them.
const tagTexts: Readonly<Record<string, string>> = {
  accounts: 'People who use Stak, their sessions, API keys, plan and usage.',
  tenants: 'Your customers, their users, settings, channels and tokens.',
  webhooks:
    'Sources receive webhooks, connections deliver them, events show what happened. Ids are `sourceId` and `connectionId`, and moments of events are milliseconds since 1970, as they have always been.',
  inbox:
    'Messages to users and to everyone, with exact counts and receipts. Its times are seconds since 1970.',
  tasks: 'To-dos with due dates, recurrence, reminders, search and sync. Its times are seconds since 1970.',
  agents: 'Conversations of a tenant’s users with its agent: skills, memory, channels and models.',
  lake: 'Insights: numbers about your data, seconds old. And every change of every table as Parquet files, with SQL over them.',
  tables: 'The tables as they are stored, for operators.',
  system: 'Whether the server runs, and how far everything is.',
};

function describeOperation(operation: Operation, shared: Record<string, Schema>): void {
  for (const parameter of operation.parameters ?? []) {
    parameter.description ??= parameter.schema?.description ?? textOf(parameter.name);
    if (parameter.schema) parameter.example ??= exampleOf(parameter.schema, parameter.name, shared);
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    if (Number(status) >= 400) response.description = explainCodes(response.description);
    if (Number(status) < 300) addExamples(response.content ?? {}, shared);
    for (const { schema } of Object.values(response.content ?? {})) describeFields(schema);
  }
  addExamples(operation.requestBody?.content ?? {}, shared);
  for (const { schema } of Object.values(operation.requestBody?.content ?? {})) describeFields(schema);
}

function addExamples(content: Content, shared: Record<string, Schema>): void {
  for (const [type, media] of Object.entries(content))
    if (media.schema && /json/.test(type)) media.example ??= exampleOf(media.schema, '', shared);
}

// `a.code`, `b.code` becomes a list with the meaning of each.
function explainCodes(description: string): string {
  const codes = [...description.matchAll(/`([a-z]\w*(?:\.\w+)+)`/g)].map(([, code]) => code!);
  if (codes.length === 0) return description;
  return codes.map(code => `- \`${code}\`: ${errorTexts[code] ?? ''}`.trim()).join('\n');
}

// Walks the schemas inside a schema, but not its examples and defaults, which may look like schemas.
function describeFields(schema: Schema | boolean | undefined): void {
  if (typeof schema !== 'object') return;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field.$ref === undefined) field.description ??= textOf(name);
    describeFields(field);
  }
  for (const inner of innerSchemas(schema)) describeFields(inner);
}

const textOf = (name: string): string | undefined =>
  fieldTexts[name] ?? standardFieldTexts[name] ?? fieldTexts[name.toLowerCase().replaceAll('-', '_')];
