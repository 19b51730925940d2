import {
  type AnyEndpoint,
  createApi,
  createMemoryIdempotency,
  route as defineRoute,
  type RouteSpec,
  unguarded,
} from '@stak/http';
import { createLogger, systemClock, yieldToEventLoop } from '@stak/kit';
import { annotate } from './reference/annotate.ts';

// Tools are generated from the routes that declare it: a changed operation is a changed tool.

type Schema = { [key: string]: unknown };
// What a key, and a user's token, have to hold.
export type Needs = { scope?: string | undefined; endUserScope?: string | undefined };
export type Tool = {
  name: string;
  title: string;
  description: string;
  inputSchema: Schema & { type: 'object' };
  outputSchema?: Schema & { type: 'object' };
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
  needs: Needs;
  request(input: Record<string, unknown>): { path: string; init: RequestInit };
};

const scopes: readonly string[] = ['read', 'write', 'admin']; // each includes the ones before it

// Whether a caller may use a tool: an assistant is not offered what would be refused.
export function isWithin(caller: { kind?: string; scope?: string }, { needs }: { needs: Needs }): boolean {
  const { kind, scope = '' } = caller;
  if (kind !== 'endUser') return scopes.indexOf(needs.scope ?? 'read') <= scopes.indexOf(scope);
  const { endUserScope } = needs;
  // Tokens from before scopes had a service hold one word, which the operation judges.
  const isHeld = endUserScope === 'any' || scope.split(' ').includes(endUserScope ?? '');
  return endUserScope !== undefined && (isHeld || scopes.includes(scope));
}

type Parameter = { name: string; in: string; required?: boolean; schema?: Schema; description?: string };
type Operation = {
  operationId?: string;
  'x-scope'?: string;
  'x-end-user-scope'?: string;
  summary?: string;
  description?: string;
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; content?: Content };
  responses?: Record<string, { content?: Content }>;
};
type Content = Record<string, { schema?: Schema }>;
type Document = {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
};

const idempotencyKey = {
  type: 'string',
  description:
    'Prevents duplicates: the same key with the same arguments runs once and returns the same result.',
};

// One by one: requests are served in between.
export async function readTools(routes: readonly RouteSpec[]): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  for (const route of routes) {
    if (route.mcp !== 'reads' && route.mcp !== 'writes') continue;
    tools.push(toTool(route, describe(route)));
    await yieldToEventLoop();
  }
  return tools;
}

// The document of one operation: that of the whole API needs a second of the thread that serves requests.
function describe(route: RouteSpec): Document {
  const withoutProblems = defineRoute({ ...route, problems: [] });
  const api = createApi({
    info: { title: '', version: '' },
    endpoints: [{ route: withoutProblems, handler: () => undefined } as unknown as AnyEndpoint],
    authenticate: async () => undefined,
    guards: unguarded,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    idempotency: createMemoryIdempotency({ clock: systemClock }),
  });
  return annotate(api.document()) as Document;
}

// `tasks.listOfUser` is `tasks_list_of_user`: clients accept letters, digits and _.
const nameOf = (operationId: string): string =>
  operationId.replace('.', '_').replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

function toTool({ path, method: verb, mcp, reaches }: RouteSpec, document: Document): Tool {
  const method = verb.toUpperCase();
  const operation = document.paths![path]![verb]!;
  const { operationId = '', summary = '', description, parameters = [], 'x-scope': scope } = operation;
  const given = parameters.filter(parameter => parameter.in === 'path' || parameter.in === 'query');
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const takesKey = parameters.some(
    parameter => parameter.in === 'header' && parameter.name.toLowerCase() === 'idempotency-key',
  );
  const properties: Record<string, Schema> = {};
  for (const { name, schema = {}, description: about } of given)
    properties[name] = { ...schema, ...(about !== undefined && { description: about }) };
  if (body) properties.body = body;
  if (takesKey) properties.idempotency_key = idempotencyKey;
  const required = given
    .filter(parameter => parameter.required || parameter.in === 'path')
    .map(({ name }) => name);
  if (body && operation.requestBody?.required !== false) required.push('body');
  const isRead = mcp === 'reads';
  const outputSchema = outputOf(operation, document);
  return {
    name: nameOf(operationId),
    title: summary,
    description: [summary, description].filter(Boolean).join('. '),
    inputSchema: withDefinitions(
      {
        type: 'object',
        properties,
        required,
        additionalProperties: false,
      },
      document,
    ),
    ...(outputSchema && { outputSchema }),
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: ['DELETE', 'PATCH', 'PUT'].includes(method), // not only additions
      idempotentHint: isRead || method === 'PUT' || method === 'DELETE',
      openWorldHint: reaches !== 'nothing', // what it does is not limited to what is stored here
    },
    needs: { scope, endUserScope: operation['x-end-user-scope'] },
    request(input) {
      checkArguments(input, Object.keys(properties), required);
      return requestOf(path, method, given, input);
    },
  };
}

// What the tool returns, if every success is an object.
function outputOf({ responses = {} }: Operation, document: Document): Tool['outputSchema'] {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const schemas = successes.map(([, { content }]) => content?.['application/json']?.schema);
  const given = schemas.filter(schema => schema !== undefined && isOfObjects(schema, document));
  if (given.length === 0 || given.length < schemas.length) return undefined;
  const schema = given.length === 1 ? given[0] : { anyOf: given };
  return withDefinitions(
    loosen({ ...schema, type: 'object' }) as Schema & { type: 'object' },
    document,
    loosen,
  );
}

function isOfObjects(schema: Schema, document: Document): boolean {
  const { $ref, anyOf, oneOf, type } = schema;
  if (typeof $ref === 'string') {
    const named = document.components?.schemas?.[$ref.slice(component.length)];
    return named !== undefined && isOfObjects(named, document);
  }
  const choices = anyOf ?? oneOf;
  return Array.isArray(choices) ? choices.every(one => isOfObjects(one, document)) : type === 'object';
}

// Clients refuse a result that does not fit, and may keep the schema while the server gets fields: others are allowed.
// Examples are left out, because a client reads the whole list.
function loosen(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(loosen);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(
    ([keyword, value]) =>
      !(keyword === 'additionalProperties' && value === false) &&
      !(keyword === 'examples' && Array.isArray(value)) &&
      !(keyword === 'example' && !isSchema(value)),
  );
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, loosen(value)]));
}

// A field may be called `example`.
const isSchema = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('type' in value || '$ref' in value || 'anyOf' in value);

// An argument that is ignored is worse than an error: `tasks_list` with the status of a task would list the others. The
// operation itself checks the values, and the body.
function checkArguments(
  input: Record<string, unknown>,
  names: readonly string[],
  required: readonly string[],
): void {
  const expected = names.length === 0 ? 'It takes none.' : `It takes ${names.join(', ')}.`;
  const unknown = Object.keys(input).filter(name => !names.includes(name));
  if (unknown.length > 0)
    throw new ToolInputError(
      `There is no argument ${unknown.slice(0, 5).map(quote).join(', ')}. ${expected}`,
    );
  const missing = required.filter(name => input[name] === undefined);
  if (missing.length > 0)
    throw new ToolInputError(`The argument ${missing.map(quote).join(', ')} is missing. ${expected}`);
  for (const [name, value] of Object.entries(input))
    if (name !== 'body' && typeof value === 'object' && value !== null && !isPlainList(value))
      throw new ToolInputError(`${quote(name)} cannot be an object.`);
  if (input.idempotency_key !== undefined && typeof input.idempotency_key !== 'string')
    throw new ToolInputError('"idempotency_key" must be a text.');
}

const quote = (name: string): string => JSON.stringify(name.slice(0, 100));
const isPlainList = (value: object): boolean =>
  Array.isArray(value) && value.every(element => typeof element !== 'object' || element === null);

function requestOf(
  path: string,
  method: string,
  parameters: readonly Parameter[],
  input: Record<string, unknown>,
): { path: string; init: RequestInit } {
  let address = path;
  const query = new URLSearchParams();
  for (const { name, in: location } of parameters) {
    const value = input[name];
    if (location === 'path') address = address.replace(`{${name}}`, segmentOf(name, value));
    else if (Array.isArray(value)) for (const element of value) query.append(name, String(element));
    else if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const headers: Record<string, string> = { accept: 'application/json' };
  if (input.body !== undefined) headers['content-type'] = 'application/json';
  if (typeof input.idempotency_key === 'string') headers['idempotency-key'] = headerOf(input.idempotency_key);
  if (method === 'PATCH' || method === 'PUT') headers['if-match'] = '*'; // an assistant has just read it
  const text = query.size > 0 ? `${address}?${query}` : address;
  return {
    path: text,
    init: { method, headers, ...(input.body !== undefined && { body: JSON.stringify(input.body) }) },
  };
}

// A segment of dots would lead to another operation, which may not be a tool. Half a character cannot be encoded.
export function segmentOf(name: string, value: unknown): string {
  const text = String(value ?? '');
  if (/^\.{0,2}$/.test(text) || !text.isWellFormed())
    throw new ToolInputError(`"${name}" must name something, not ${JSON.stringify(text)}`);
  return encodeURIComponent(text);
}

// Refused here: such a key cannot be sent as a header.
function headerOf(key: string): string {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ToolInputError('"idempotency_key" can have visible ASCII characters only');
  return key;
}

export class ToolInputError extends Error {}

const component = '#/components/schemas/';

// A schema is self-contained: the schemas it refers to are included.
function withDefinitions(
  schema: Schema & { type: 'object' },
  { components }: Document,
  prepare = (named: unknown) => named,
) {
  const definitions: Record<string, unknown> = {};
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        if (key !== '$ref' || typeof inner !== 'string' || !inner.startsWith(component))
          return [key, visit(inner)];
        const name = inner.slice(component.length);
        if (!(name in definitions)) {
          definitions[name] = {}; // so that a recursive schema ends
          definitions[name] = visit(prepare(components?.schemas?.[name]));
        }
        return [key, `#/$defs/${name}`];
      }),
    );
  };
  const visited = visit(schema) as Schema & { type: 'object' };
  return Object.keys(definitions).length === 0 ? visited : { ...visited, $defs: definitions };
}
