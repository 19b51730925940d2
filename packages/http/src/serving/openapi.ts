import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi';
import * as limits from '../limits.ts';
import { problemSchema, problemType, type Statuses } from '../problem.ts';
import { type AnyEndpoint, jsonSchemaOf, type RouteSpec } from '../routes/route.ts';

export type ApiInfo = { title: string; version: string; description?: string };
export type ApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>;

type Registry = OpenAPIHono['openAPIRegistry'];
type Parameter = {
  name: string;
  in: 'header';
  required: boolean;
  description: string;
  schema: { type: 'string'; minLength?: number; maxLength?: number };
};

const schemes = {
  account: {
    type: 'http',
    scheme: 'bearer',
    description: 'A session of the console, or an API key with the scope `read`, `write` or `admin`.',
  },
  endUser: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A short-lived token that a tenant mints for one of its users, with the scopes it names, such as `inbox:read`.',
  },
} as const;

const securityOf: Record<RouteSpec['auth'], readonly (keyof typeof schemes)[]> = {
  public: [],
  provider: [],
  account: ['account'],
  session: ['account'],
  person: ['account'],
  endUser: ['endUser'],
  user: ['account', 'endUser'],
};

/** Joins documents of a few routes each into one. */
export function joinDocuments(parts: readonly ApiDocument[]): ApiDocument {
  const whole = {
    ...parts[0]!,
    paths: {} as Record<string, object>,
    components: {} as Record<string, object>,
  };
  for (const { paths = {}, components = {} } of parts) {
    for (const [path, item] of Object.entries(paths)) whole.paths[path] = { ...whole.paths[path], ...item };
    for (const [kind, named] of Object.entries(components))
      whole.components[kind] = { ...whole.components[kind], ...named };
  }
  return whole as ApiDocument;
}

export function registerEndpoints(
  registry: Registry,
  endpoints: readonly AnyEndpoint[],
  statuses: Statuses,
): void {
  for (const [name, scheme] of Object.entries(schemes))
    registry.registerComponent('securitySchemes', name, scheme);
  const ids = new Set<string>();
  for (const { route } of endpoints) {
    const operation = describeRoute(route, statuses);
    if (ids.has(operation.operationId!)) throw new TypeError(`Two routes are named ${operation.operationId}`);
    ids.add(operation.operationId!);
    registry.registerPath(operation);
  }
}

function describeRoute(route: RouteSpec, statuses: Statuses): RouteConfig {
  const { path, summary, tags, request } = route;
  const description =
    route.method === 'any' ? `${route.description ?? ''}\n\nTakes any method.`.trim() : route.description;
  const responses: RouteConfig['responses'] = {};
  for (const [status, response] of Object.entries(route.responses)) {
    const { required: _, ...rest } = response as typeof response & { required?: true };
    responses[status] = rest; // `json()` is also for request bodies, and only those can be required
  }
  if (route.method === 'get' && responses[200] && !isStream(route))
    responses[304] ??= { description: 'Not changed since the ETag in `If-None-Match`' };
  for (const [status, codes] of problemsOf(route, statuses))
    responses[status] ??= {
      description: codes.map(code => `\`${code}\``).join(', '),
      content: route.errorShape
        ? { 'application/json': { schema: route.errorShape.schema } }
        : { [problemType]: { schema: problemSchema } },
    };
  return {
    // OpenAPI cannot express any method, so POST stands for it.
    method: route.method === 'any' ? 'post' : route.method,
    path,
    operationId: route.operationId ?? operationIdOf(route),
    summary,
    ...(description === undefined ? {} : { description }),
    ...(tags === undefined ? {} : { tags: [...tags] }),
    ...(request === undefined ? {} : { request }),
    responses,
    parameters: headersOf(route),
    security: securityOf[route.auth].map(name => ({ [name]: scopesOf(route, name) })),
    ...(route.method === 'any' ? { 'x-any-method': true } : {}),
    'x-auth': route.auth,
    ...(route.scope ? { 'x-scope': route.scope } : {}),
    ...(route.role ? { 'x-role': route.role } : {}),
    ...(route.isOwn ? { 'x-own': true } : {}),
    ...(route.endUserScope ? { 'x-end-user-scope': route.endUserScope } : {}),
  };
}

function scopesOf({ scope, endUserScope }: RouteSpec, caller: keyof typeof schemes): string[] {
  const needed = caller === 'account' ? scope : endUserScope;
  return needed === undefined || needed === 'any' ? [] : [needed];
}

// `GET /v1/sources/{id}` is get_v1_sources_id.
const operationIdOf = ({ method, path }: RouteSpec): string =>
  [method, ...path.split(/[^A-Za-z0-9]+/).filter(Boolean)].join('_');

function headersOf(route: RouteSpec): Parameter[] {
  const header = (name: string, required: boolean, description: string, maxLength?: number): Parameter => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string', ...(maxLength !== undefined && { minLength: 1, maxLength }) },
  });
  const { idempotent, conditional } = route;
  const sameAnswer = 'The same key and body get the same answer, for a day.';
  const headers: Parameter[] = [];
  if (idempotent) headers.push(header('Idempotency-Key', false, sameAnswer, limits.idempotencyKeyChars));
  if (conditional)
    headers.push(header('If-Match', conditional === 'required', 'The ETag that was last read.'));
  if (isStream(route))
    headers.push(
      header('Last-Event-ID', false, 'The id of the last event that was read.', limits.eventIdChars),
    );
  return headers;
}

const isStream = ({ responses }: RouteSpec): true | undefined =>
  Object.hasOwn((responses[200] as { content?: object } | undefined)?.content ?? {}, 'text/event-stream') ||
  undefined;

// Most errors follow from the definition of a route.
function problemsOf(route: RouteSpec, statuses: Statuses): Map<number, string[]> {
  const { request, auth } = route;
  const hasCaller = auth !== 'public';
  const rules: [applies: unknown, ...codes: string[]][] = [
    [
      request?.params ?? request?.query ?? request?.headers ?? jsonSchemaOf(route) ?? isStream(route),
      'http.request_invalid',
    ],
    [route.idempotent, 'http.request_invalid'],
    [request?.query && 'cursor' in request.query.shape, 'http.cursor_refused'],
    [jsonSchemaOf(route), 'http.json_invalid', 'http.media_type_refused'],
    [request?.body, 'http.body_too_slow', 'http.body_too_large', 'http.unavailable'],
    [request?.body ?? route.method !== 'get', 'http.body_refused'],
    [hasCaller, 'http.unauthenticated'],
    [hasCaller && auth !== 'provider', 'http.principal_refused', 'http.scope_missing'],
    [route.role !== undefined, 'http.role_missing'],
    [request?.params, 'http.not_found'],
    [route.idempotent, 'http.request_in_flight', 'http.answer_not_kept', 'http.idempotency_mismatch'],
    [route.conditional, 'http.version_mismatch'],
    [route.conditional === 'required', 'http.version_required'],
    [route.limits?.rate !== false, 'http.rate_limited'],
    [true, 'http.headers_too_large', 'http.internal', ...(route.problems ?? [])],
  ];
  const problems = new Map<number, string[]>();
  for (const [applies, ...codes] of rules)
    for (const code of applies ? codes : []) {
      const status = statuses.get(code);
      if (status === undefined) throw new TypeError(`${route.path}: no catalogue has "${code}"`);
      const known = problems.get(status) ?? [];
      if (!known.includes(code)) problems.set(status, [...known, code]);
    }
  return problems;
}
