import {
  argumentsOf,
  contentOf,
  type Document,
  type DocumentOperation,
  type Entry,
  entriesOf,
  isCallable,
  isJson,
  isPublic,
  successesOf,
} from './document.ts';
import type { Operation } from './operation.ts';
import { type NameOf, type Schema, spellOut, typeText } from './schema-type.ts';
import { nameSharedSchemas, pascal } from './shared-schemas.ts';

// The generated module: types, and the table of every operation whose id is `group.name`.
export function generateClient(document: Document): string {
  const entries = entriesOf(document).filter(isCallable);
  const { nameOf, named } = nameSharedSchemas(entries.flatMap(schemasOf));
  const components = Object.entries(document.components?.schemas ?? {}) as [string, Schema][];
  const types = [...components, ...named].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    '// Generated from the OpenAPI document by scripts/generate.ts: change the routes instead.',
    '',
    ...types.map(([name, schema]) => `export type ${name} = ${spellOut(schema, nameOf)};\n`),
    'export type ApiTypes = {',
    ...entries.flatMap(entry => [
      `  /** ${describe(entry)} */`,
      `  '${entry.id}': ${typesOf(entry, nameOf)};`,
    ]),
    '};',
    '',
    'export const operations = {',
    ...entries.map(entry => `  '${entry.id}': ${JSON.stringify(tableEntry(entry))},`),
    '} as const;',
    '',
  ].join('\n');
}

function schemasOf({ id, operation }: Entry): { name: string; schema: Schema }[] {
  const data = successesOf(operation).map(answer => ({ name: `${pascal(id)}Data`, media: answer }));
  const body = { name: `${pascal(id)}Body`, media: contentOf(operation.requestBody?.content) };
  return [...data, body].flatMap(({ name, media }) => (media ? [{ name, schema: media[1] }] : []));
}

function describe({ operation }: Entry): string {
  const { summary = '', 'x-auth': auth, 'x-scope': scope } = operation;
  const caller = auth === undefined ? '' : ` For: ${auth}${scope === undefined ? '' : `, scope ${scope}`}.`;
  return `${summary}.${caller}`.replaceAll('*/', '* /');
}

function typesOf(entry: Entry, nameOf: NameOf): string {
  const { operation } = entry;
  const mustMatch = operation.parameters?.some(
    parameter => parameter.name === 'If-Match' && parameter.required,
  );
  return `{ args: ${argsText(entry, nameOf)}; ${resultText(operation, nameOf)}${mustMatch ? '; mustMatch: true' : ''} }`;
}

function argsText({ id, operation }: Entry, nameOf: NameOf): string {
  const fields = new Map<string, string>();
  const add = (name: string, isRequired: boolean | undefined, type: string) => {
    if (fields.has(name)) throw new TypeError(`${id} has two arguments named ${name}`);
    fields.set(name, `${JSON.stringify(name)}${isRequired ? '' : '?'}: ${type}`);
  };
  for (const { name, required, schema } of argumentsOf(operation))
    add(name, required, typeText(schema ?? {}, nameOf));
  const media = contentOf(operation.requestBody?.content);
  if (media)
    add('body', operation.requestBody?.required, isJson(media[0]) ? typeText(media[1], nameOf) : rawBody);
  return fields.size === 0 ? 'Record<never, never>' : `{ ${[...fields.values()].join('; ')} }`;
}

const rawBody = 'string | Uint8Array<ArrayBuffer> | Blob';

function resultText(operation: DocumentOperation, nameOf: NameOf): string {
  const successes = successesOf(operation);
  const stream = successes.find(media => media?.[0] === 'text/event-stream');
  if (stream) return `event: ${stream[1].type === 'string' ? 'unknown' : typeText(stream[1], nameOf)}`;
  const types = successes.map(media => {
    if (!media) return 'undefined';
    if (isJson(media[0])) return typeText(media[1], nameOf);
    return media[0].startsWith('text/') ? 'string' : 'Uint8Array';
  });
  return `data: ${[...new Set(types)].join(' | ') || 'unknown'}`;
}

function tableEntry(entry: Entry): Operation {
  const { method, path, operation } = entry;
  const headers = argumentsOf(operation).filter(argument => argument.in === 'header');
  const body = contentOf(operation.requestBody?.content);
  return {
    method: method.toUpperCase() as Operation['method'],
    path,
    ...(body && { body: isJson(body[0]) ? 'json' : 'raw' }),
    ...(headers.length > 0 && { headers: headers.map(header => header.name) }),
    ...(operation.parameters?.some(parameter => parameter.name === 'Idempotency-Key') && { isKeyed: true }),
    ...(successesOf(operation).some(media => media?.[0] === 'text/event-stream') && { isStream: true }),
    ...(isPublic(entry) && { isPublic: true }),
  };
}
