import { subscribe } from 'node:diagnostics_channel';
import { gunzipSync } from 'node:zlib';
import type { ValidateFunction } from 'ajv';
import { afterAll, afterEach } from 'vitest';

// Every answer of every API that a test creates is held against the OpenAPI document of that API: its status, its
// content type and its body. What does not fit fails the test.

type Media = { schema?: unknown };
type Responses = Record<string, { description: string; content?: Record<string, Media> }>;
type Operation = { operationId: string; responses: Responses };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, unknown> };
};
type Route = { method: string; path: string; responses?: Responses; 'x-any-method'?: true };
type Fetch = (request: Request, ...rest: unknown[]) => Response | Promise<Response>;
type App = {
  fetch: Fetch;
  openAPIRegistry: {
    definitions: readonly { type: string; route?: Route }[];
    registerPath(route: Route): void;
  };
  getOpenAPI31Document(about: object): Document;
};
// The routes of a path, by method.
type Path = { pattern: RegExp; routes: Record<string, Route> };
type Described = { operation: Operation; validator: Validator };
type Validator = (schema: unknown) => ValidateFunction;

// Workers keep their modules, but run this one again for each file: what it keeps for all of them is here.
type Shared = {
  failures: string[];
  patterns: Map<string, RegExp>; // of paths
  operations: Map<string, Promise<Described>>; // by what they are made of
  parts: WeakMap<object, number>; // schemas, numbered
  lastPart: number;
  validators: Map<string, ValidateFunction>;
  compile: Promise<(schema: object) => ValidateFunction> | undefined;
};
const global = globalThis as { stakAnswers?: Shared };
const shared = global.stakAnswers ?? watch();

function watch(): Shared {
  const made: Shared = {
    failures: [],
    patterns: new Map(),
    operations: new Map(),
    parts: new WeakMap(),
    lastPart: 0,
    validators: new Map(),
    compile: undefined,
  };
  global.stakAnswers = made;
  subscribe('stak:http:api', message => void checkAnswers((message as { app: App }).app, made.failures));
  return made;
}

function report(): void {
  const found = [...new Set(shared.failures.splice(0))];
  if (found.length > 0) throw new Error(`Answers that the document does not have:\n${found.join('\n')}`);
}
afterEach(report);
afterAll(report);

function checkAnswers(app: App, list: string[]): void {
  const serve = app.fetch;
  let paths: Map<number, Path[]> | undefined;
  const described = new Map<Route, Promise<Described>>();
  app.fetch = async (request, ...rest) => {
    const { method, url } = request; // read first: some requests are gone once they are answered
    const response = await serve(request, ...rest);
    paths ??= readPaths(app);
    const route = findRoute(paths, method, new URL(url).pathname);
    // A preflight is answered before the route, and a method that nobody knows has none.
    const isPreflight = method === 'OPTIONS' && response.status === 204;
    if (!route || isPreflight || response.status === 405) return response;
    const describing = described.get(route) ?? describe(app, route);
    described.set(route, describing);
    const { operation, validator } = await describing;
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
    const bytes = isJson ? Buffer.from(await response.arrayBuffer()) : undefined;
    const isZipped = response.headers.get('content-encoding') === 'gzip' && bytes && bytes.length > 0;
    const text = (isZipped ? gunzipSync(bytes) : bytes)?.toString();
    const complaint = judge(operation, response, text, validator);
    if (complaint) list.push(`${operation.operationId} (${method}): ${complaint}`);
    return bytes === undefined || method === 'HEAD'
      ? response
      : new Response(bytes, { status: response.status, headers: response.headers });
  };
}

function judge(
  found: Operation,
  response: Response,
  text: string | undefined,
  validator: Validator,
): string | undefined {
  const status = String(response.status);
  const documented = found.responses[status];
  if (!documented) return `${status} is not documented: ${text?.slice(0, 300)}`;
  const type = response.headers.get('content-type')?.split(';')[0]?.trim();
  const types = Object.keys(documented.content ?? {});
  if (type === undefined) return types.length > 0 && response.body ? `${status} has no type` : undefined;
  if (!types.includes(type) && !types.includes('*/*'))
    return `${status} is ${type}, not ${types.join(' or ') || 'empty'}`;
  if (text === undefined || text === '' || !types.includes(type)) return undefined;
  const body = JSON.parse(text) as { code?: string };
  const isValid = validator(documented.content?.[type]?.schema ?? {});
  if (!isValid(body))
    return `${status} does not match at ${isValid.errors?.map(one => `${one.instancePath || '/'} (${one.message} ${JSON.stringify(one.params)})`).join(', ')}: ${text.slice(0, 300)}`;
  if (type === 'application/problem+json' && !documented.description.includes(`\`${body.code}\``))
    return `${status} ${body.code} is not documented`;
  return undefined;
}

// By the number of their parts, because there are hundreds; what is spelled out before what is a parameter.
function readPaths(app: App): Map<number, Path[]> {
  const byPath = new Map<string, Path['routes']>();
  for (const { route } of app.openAPIRegistry.definitions) {
    if (!route) continue;
    const routes = byPath.get(route.path) ?? {};
    byPath.set(route.path, routes);
    routes[route.method] = route;
  }
  const paths = new Map<number, Path[]>();
  const inOrder = [...byPath].sort(([one], [other]) => one.split('{').length - other.split('{').length);
  for (const [path, routes] of inOrder) {
    const alike = paths.get(countParts(path)) ?? [];
    alike.push({ pattern: patternOf(path), routes });
    paths.set(countParts(path), alike);
  }
  return paths;
}

function findRoute(paths: Map<number, Path[]>, method: string, path: string): Route | undefined {
  const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
  for (const { pattern, routes } of paths.get(countParts(path)) ?? []) {
    if (!pattern.test(path)) continue;
    const route = routes[routes.post?.['x-any-method'] ? 'post' : wanted];
    if (route) return route;
  }
  return undefined;
}

const operationsKept = 2_000;

// Tests open the same few APIs over and over, and call a few of their operations: the part of the document about each is
// made once. It is another one if anything else is answered: another problem, or another schema.
function describe(app: App, route: Route): Promise<Described> {
  const key = JSON.stringify([
    route.method,
    route.path,
    ...Object.entries(route.responses ?? {}).map(([status, { description, content = {} }]) => [
      status,
      description,
      ...Object.entries(content).map(([type, { schema }]) => [type, numberOf(schema)]),
    ]),
  ]);
  const { operations } = shared;
  const describing = operations.get(key) ?? prepare(app, route);
  operations.delete(key);
  operations.set(key, describing); // as the last one
  if (operations.size > operationsKept) operations.delete(operations.keys().next().value!);
  return describing;
}

function numberOf(schema: unknown): number {
  if (typeof schema !== 'object' || schema === null) return 0;
  const number = shared.parts.get(schema) ?? ++shared.lastPart;
  shared.parts.set(schema, number);
  return number;
}

async function prepare(app: App, route: Route): Promise<Described> {
  const alone = new (app.constructor as new () => App)();
  alone.openAPIRegistry.registerPath(route);
  const document = alone.getOpenAPI31Document({ openapi: '3.1.0', info: { title: '', version: '' } });
  return {
    operation: document.paths[route.path]![route.method]!,
    validator: await createValidator(document.components?.schemas ?? {}),
  };
}

async function createValidator(named: Record<string, unknown>): Promise<Validator> {
  shared.compile ??= createCompiler();
  const compile = await shared.compile;
  const known = new WeakMap<object, ValidateFunction>();
  return schema => {
    const before = known.get(schema as object);
    if (before) return before;
    // By its text: most answers are the same problem, and to compile a schema takes longer than to check it.
    const schemas = mentioned(schema, named);
    const text = JSON.stringify(
      schemas === undefined ? schema : { allOf: [schema], components: { schemas } },
    );
    const isValid = shared.validators.get(text) ?? compile(JSON.parse(text) as object);
    shared.validators.set(text, isValid);
    known.set(schema as object, isValid);
    return isValid;
  };
}

// The named schemas that it refers to, and that these refer to.
function mentioned(schema: unknown, named: Record<string, unknown>): Record<string, unknown> | undefined {
  const found = new Map<string, unknown>();
  const look = (at: unknown) => {
    for (const [, name] of JSON.stringify(at).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name!)) continue;
      found.set(name!, named[name!]);
      look(named[name!] ?? {});
    }
  };
  look(schema);
  return found.size > 0 ? Object.fromEntries(found) : undefined;
}

async function createCompiler(): Promise<(schema: object) => ValidateFunction> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const { default: addFormats } = await import('ajv-formats');
  const ajv = new Ajv2020({ strict: false, code: { optimize: false }, addUsedSchema: false });
  addFormats.default(ajv);
  return schema => ajv.compile(schema);
}

const countParts = (path: string): number => path.split('/').length;

function patternOf(path: string): RegExp {
  const pattern =
    shared.patterns.get(path) ??
    new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  shared.patterns.set(path, pattern);
  return pattern;
}
