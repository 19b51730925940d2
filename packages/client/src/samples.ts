import {
  argumentsOf,
  contentOf,
  type Document,
  type Entry,
  entriesOf,
  isCallable,
  isJson,
  isPublic,
  successesOf,
} from './document.ts';
import type { Schema } from './schema-type.ts';

// Sample programs that call each operation, with the examples of the document as arguments.

const server = 'http://127.0.0.1:8787';
const widest = 80; // characters of a line; a reference shows samples in a narrow column

/** A program for each operation of the document, by the operation's id. */
export const sampleCalls = (document: Document): ReadonlyMap<string, string> =>
  new Map(entriesOf(document).map(entry => [entry.id, sampleOf(entry)]));

function sampleOf(entry: Entry): string {
  if (!isCallable(entry)) return `const response = await fetch('${server}${entry.path}');`;
  const settings = isPublic(entry) ? '' : ", token: 'YOUR_SECRET_TOKEN'"; // as in the samples of other languages
  const call = `client.${entry.id}(${argumentsText(entry)})`;
  const answers = successesOf(entry.operation);
  const isStream = answers.some(media => media?.[0] === 'text/event-stream');
  const hasData = answers.some(media => media !== undefined);
  return [
    "import { createClient } from '@stak/client';",
    '',
    `const client = createClient({ baseUrl: '${server}'${settings} });`,
    isStream
      ? `for await (const { event, data } of ${call}) console.log(event, data);`
      : `${hasData ? 'const { data } = ' : ''}await ${call};`,
  ].join('\n');
}

function argumentsText({ id, operation }: Entry): string {
  const args: Record<string, unknown> = {};
  for (const { name, required, example } of argumentsOf(operation)) if (required) args[name] = example;
  const { requestBody } = operation;
  const [type, schema, example] = contentOf(requestBody?.content) ?? [];
  if (type !== undefined && requestBody?.required)
    args.body = isJson(type) ? shorten(example, schema) : 'the body as it came';
  const match = operation.parameters?.find(parameter => parameter.name === 'If-Match' && parameter.required);
  const options = match ? `, ${literal({ ifMatch: match.example })}` : '';
  const most = widest - `const { data } = await client.${id}(${options});`.length;
  return Object.keys(args).length === 0 && !match ? '' : literal(args, '', most) + options;
}

// The required fields, or one of the optional ones: the samples of other languages have all fields.
function shorten(example: unknown, { properties, required = [] }: Schema = {}): unknown {
  if (properties === undefined || typeof example !== 'object' || example === null) return example;
  const fields = Object.entries(example);
  const needed = fields.filter(([name]) => required.includes(name));
  return Object.fromEntries(needed.length > 0 ? needed : fields.slice(0, 1));
}

// A value as source code.
function literal(value: unknown, indent = '', most = widest - indent.length): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }'];
  const parts = Array.isArray(value)
    ? value.map(element => literal(element, deeper))
    : Object.entries(value).map(
        ([name, one]) => `${isPlainName(name) ? name : quote(name)}: ${literal(one, deeper)}`,
      );
  if (parts.length === 0) return open.trim() + close.trim();
  const line = `${open}${parts.join(', ')}${close}`;
  if (!line.includes('\n') && line.length <= most) return line;
  return `${open.trim()}\n${parts.map(part => `${deeper}${part},\n`).join('')}${indent}${close.trim()}`;
}

const isPlainName = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name);

const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
