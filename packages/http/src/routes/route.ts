import type { RouteConfig, RouteHandler } from '@hono/zod-openapi';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { ZodObject, type ZodType } from 'zod';
import type { ApiEnv } from '../context.ts';
import type { EndUserScope, ProviderPrincipal, Scope } from '../principal.ts';
import type { Problem } from '../problem.ts';
import type { RatePolicy } from '../stores/rate-limit.ts';
import { checkBounded, checkStrict } from './strict-schema.ts';

type Content<S extends ZodType> = { 'application/json': { schema: S } };
export type JsonBody<S extends ZodType = ZodType> = {
  required: true;
  description: string;
  content: Content<S>;
};
export type RawBody = { required: true; description: string; content: { '*/*': { schema: ZodType } } };

type RouteLimits = {
  bodyBytes?: number;
  jsonDepth?: number;
  rate?: RatePolicy | false; // in addition to the caller's own limit; false counts nothing
  isWebhook?: true; // many calls from few addresses: counted like a provider's
};

// `any` is for URLs whose callers choose the method: those of webhooks. The body is not parsed.
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'any';

// HEAD is handled wherever GET is.
const anyMethod = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export const methodsOf = ({ method }: RouteSpec): string[] =>
  method === 'any' ? anyMethod : [method.toUpperCase()];

type Guard =
  | {
      auth: 'public' | 'provider' | 'person';
      scope?: never;
      role?: never;
      isOwn?: never;
      endUserScope?: never;
    }
  // `isOwn`: keys need the scope. People who have signed in act on their own login, with any role.
  | { auth: 'account'; scope: Scope; role?: never; isOwn?: true; endUserScope?: never }
  // `owner` requires more than the scope: for actions that only owners of the account may take.
  | { auth: 'session'; scope: Scope; role?: 'owner'; isOwn?: never; endUserScope?: never }
  // `any` requires only a valid token of an end user.
  | {
      auth: 'user' | 'endUser';
      scope: Scope;
      role?: never;
      isOwn?: never;
      endUserScope: EndUserScope | 'any';
    };

// A request may make this server reach something, now or later: an address that a customer chose, a model that the operator
// pays for, or a mailbox that the caller named. A route that only stores what is sent to an address accepted earlier, or
// that writes to the caller's own mailbox, reaches nothing.
const reaches = ['outside', 'model', 'mail', 'nothing'] as const;
export type Reach = (typeof reaches)[number];

// A route says how much it adds to what its account stores, which `admit` checks against the plan before the handler
// runs.
//   body     as much as it sends
//   edit     no more than before: allowed when the storage is full, as long as not too much is written in a day
//   line     a record of itself only, such as a line in the audit trail: some a day are allowed in a full account
//   nothing  it reads
//   deletes  it frees storage, and is always allowed
//   access   what people need to reach, protect or extend their account, which is always allowed
//   handler  the handler learns whose storage it is, and asks for room itself
// A function returns the bytes of a request that stores more or less than it sends; 0 for an edit.
const storing = ['body', 'edit', 'line', 'nothing', 'deletes', 'access', 'handler'] as const;
type Storing = (typeof storing)[number];
type EstimateBytes = (sentBytes: number, body: never) => number;

// The tenant that a request is about. It is entered before the handler runs, which gets it by `tenantOf(c)`.
//   path                that of the path, which must be active
//   path-suspended-too  that of the path, also while it is suspended
//   path-or-server      that of the path; or the server's own, whose users are the people of accounts
//   caller              that of the caller, if they are an end user; accounts work on what is their own
//   handler             the handler checks it: the caller is not known before, or the tenant may be gone
//   none                none. Keys that are limited to tenants are refused
//   any-key             none, and these keys are not refused
const tenancies = [
  'path',
  'path-suspended-too',
  'path-or-server',
  'caller',
  'handler',
  'none',
  'any-key',
] as const;
export type Tenancy = (typeof tenancies)[number];

export const isInPath = (tenant: Tenancy): boolean => tenant.startsWith('path');

export type RouteSpec = Guard & {
  method: Method;
  path: `/${string}`;
  summary: string;
  description?: string;
  operationId?: string;
  reaches: Reach;
  // The request reaches it only if its body sets one of these fields.
  reachesWith?: readonly string[];
  // Whether each successful request is a line in the account's audit trail, named by its operation: true for what
  // manages, deletes, decides or takes data out, false for reads and regular work. `own`: the service writes lines of its
  // own, with its changes.
  audit: boolean | 'own';
  stores: Storing | EstimateBytes;
  tenant: Tenancy;
  // Whether it is a tool of the MCP server, and of which kind; or, for a stream of events, the path of the list that
  // changes with each of them: a resource that assistants read and watch.
  mcp: 'reads' | 'writes' | false | { watches: `/${string}` };
  tags?: string[];
  request?: { params?: ZodObject; query?: ZodObject; headers?: ZodObject; body?: JsonBody | RawBody };
  responses: RouteConfig['responses'];
  // Error codes of the service's catalogue that this route may return, for the document.
  problems?: readonly string[];
  // Its errors in the form of another protocol, for clients that do not know RFC 9457.
  errorShape?: { schema: ZodType; show(problem: Problem): unknown };
  // A POST that creates something: handled once for each Idempotency-Key.
  idempotent?: true;
  // Whether If-Match may or must be sent.
  conditional?: 'optional' | 'required';
  limits?: RouteLimits;
};

// The parts of a path that are parameters, `id` in `/v1/sources/{id}`.
const parameterShape = /\{([A-Za-z0-9_]+)\}/g;

const parametersOf = (path: string): string[] => [...path.matchAll(parameterShape)].map(match => match[1]!);

export const routeId = ({ method, path }: RouteSpec): string => `${method.toUpperCase()} ${path}`;

const fields: Readonly<Record<keyof RouteSpec, true>> = {
  auth: true,
  scope: true,
  role: true,
  isOwn: true,
  endUserScope: true,
  method: true,
  path: true,
  summary: true,
  description: true,
  operationId: true,
  reaches: true,
  reachesWith: true,
  audit: true,
  stores: true,
  tenant: true,
  mcp: true,
  tags: true,
  request: true,
  responses: true,
  problems: true,
  errorShape: true,
  idempotent: true,
  conditional: true,
  limits: true,
};
const limitFields: Readonly<Record<keyof RouteLimits, true>> = {
  bodyBytes: true,
  jsonDepth: true,
  rate: true,
  isWebhook: true,
};
const requestFields: Readonly<Record<keyof NonNullable<RouteSpec['request']>, true>> = {
  params: true,
  query: true,
  headers: true,
  body: true,
};

// TypeScript does not refuse excess fields where it infers a type from the value.
type Only<K extends PropertyKey, V> = { readonly [Excess in Exclude<keyof V, K>]: never };
type Exact<R> = Only<keyof RouteSpec, R> &
  (R extends { limits: infer L } ? { limits: Only<keyof RouteLimits, L> } : unknown) &
  (R extends { request: infer Q } ? { request: Only<keyof typeof requestFields, Q> } : unknown);

// Routes that were checked. A copy is another route, and is checked itself.
const checked = new WeakSet<RouteSpec>();

// Defines a route as data: who may call it, what it reaches, its input and its responses. Throws when its module is
// loaded, so a route without a guard, or with a field that nothing reads, never serves a request.
export function route<const R extends RouteSpec>(spec: R & Exact<R>): R {
  const complain = (what: string): never => {
    throw new TypeError(`${routeId(spec)}: ${what}`);
  };
  const { limits = {}, request = {} } = spec as RouteSpec;
  for (const [given, allowed, where] of [
    [spec, fields, ''],
    [limits, limitFields, 'limits.'],
    [request, requestFields, 'request.'],
  ] as const)
    for (const name of Object.keys(given))
      if (!Object.hasOwn(allowed, name)) complain(`"${where}${name}" has no meaning`);
  if (!reaches.includes(spec.reaches)) complain('does not say what it reaches');
  if (![true, false, 'own'].includes(spec.audit)) complain('does not say whether it is audited');
  if (spec.audit === true && (spec.operationId === undefined || spec.auth === 'public'))
    complain('a line in the audit trail needs a name, and a caller');
  checkStoring(spec, complain);
  checkTenancy(spec, complain);
  checkTool(spec, complain);
  const bodyShape = jsonSchemaOf(spec);
  for (const name of spec.reachesWith ?? [])
    if (!(bodyShape instanceof ZodObject) || !Object.hasOwn(bodyShape.shape, name))
      complain(`the body has no field "${name}" to reach something with`);
  if (spec.auth === undefined) complain('does not say whom it is for');
  const isScoped = !['public', 'provider', 'person'].includes(spec.auth);
  if (isScoped && spec.scope === undefined) complain('does not say which scope it needs');
  const isForEndUsers = spec.auth === 'user' || spec.auth === 'endUser';
  if (isForEndUsers && spec.endUserScope === undefined)
    complain('does not say which scope an end user needs');
  if (spec.idempotent && spec.method !== 'post') complain('only a POST takes an Idempotency-Key');
  // Unauthenticated callers would share their keys, and with them their responses.
  if (spec.idempotent && spec.auth === 'public') complain('an Idempotency-Key needs a caller to belong to');
  // A POST may act on an existing resource, like restoring it; one that creates has nothing to match.
  if (spec.conditional && (['get', 'any'].includes(spec.method) || spec.idempotent))
    complain('If-Match is for what is edited');
  if (spec.method === 'get' && spec.request?.body) complain('a GET has no body');

  const declared = Object.keys(spec.request?.params?.shape ?? {});
  const named = parametersOf(spec.path);
  if (named.length !== declared.length || named.some(name => !declared.includes(name)))
    complain('the path and its parameters differ');

  const schema = jsonSchemaOf(spec);
  if (schema && spec.method === 'any') complain('what takes any method takes any body');
  if (schema) {
    for (const path of checkStrict(schema)) complain(`the body lets unknown fields pass at ${path}`);
    for (const path of checkBounded(schema)) complain(`the body takes any number of entries at ${path}`);
  }
  checked.add(spec);
  return spec;
}

/** Throws unless each route was made by `route()`, and no two have one method and path. */
export function checkRoutes(routes: readonly RouteSpec[]): void {
  const taken = new Set<string>();
  for (const spec of routes) {
    const id = routeId(spec);
    if (!checked.has(spec)) throw new TypeError(`${id}: is not made by route()`);
    const position = id.replaceAll(parameterShape, '{}');
    if (taken.has(position)) throw new TypeError(`${id}: another route has this method and path`);
    taken.add(position);
  }
}

type Complain = (what: string) => never;

function checkStoring({ stores, audit, auth, method }: RouteSpec, complain: Complain): void {
  if (typeof stores !== 'function' && !storing.includes(stores)) complain('does not say what it stores');
  const isAdmitted = typeof stores === 'function' || ['body', 'edit', 'line'].includes(stores);
  if (isAdmitted && ['public', 'provider'].includes(auth))
    complain('it has no caller whose plan admits what it stores');
  if (method === 'get' && audit !== false && stores !== 'line')
    complain('a read that is audited stores a line');
  if (stores === 'nothing' && audit === true) complain('what is audited stores a line');
  if (stores === 'deletes' && ['get', 'any'].includes(method)) complain('a read deletes nothing');
}

function checkTool({ mcp, method, path, operationId }: RouteSpec, complain: Complain): void {
  if (typeof mcp !== 'object') {
    if (!['reads', 'writes', false].includes(mcp)) complain('does not say whether it is an MCP tool');
    if (mcp && operationId === undefined) complain('a tool needs a name');
  } else if (method !== 'get' || String(parametersOf(mcp.watches)) !== String(parametersOf(path)))
    complain('what a stream watches has the same parameters');
}

function checkTenancy({ tenant, auth, path }: RouteSpec, complain: Complain): void {
  if (!tenancies.includes(tenant)) complain('does not say which tenant it is about');
  const isNamed = parametersOf(path).includes('tenant_id');
  if (isInPath(tenant) && !isNamed) complain('there is no tenant in the path');
  if (isNamed && !isInPath(tenant) && tenant !== 'handler') complain('the tenant in the path is not entered');
  if (isInPath(tenant) && !['account', 'session', 'user', 'endUser'].includes(auth))
    complain('it has no caller who may enter the tenant');
  if (tenant === 'caller' && !['user', 'endUser'].includes(auth)) complain('its caller is in no tenant');
}

export function jsonSchemaOf(spec: RouteSpec): ZodType | undefined {
  const content = spec.request?.body?.content;
  return content && 'application/json' in content ? content['application/json'].schema : undefined;
}

// For a request: `body: json(NewSource)`. For a response: `201: json(Source, 'The new source')`.
export const json = <S extends ZodType>(schema: S, description = 'JSON'): JsonBody<S> => ({
  required: true,
  description,
  content: { 'application/json': { schema } },
});

// Bytes of any type, unparsed, in `c.get('body')`.
export const raw = (description = 'Anything'): RawBody => ({
  required: true,
  description,
  content: { '*/*': { schema: z.unknown() } },
});

// For a response of `sse()`, with what `data` of an event is.
export const events = (schema: ZodType = z.unknown(), description = 'Events, as they happen') => ({
  description,
  content: { 'text/event-stream': { schema } },
});

export const empty = (description = 'Nothing more to say') => ({ description });

// `c.json(value, 200)` in a handler is type-checked against the route's responses.
export type HandlerOf<R extends RouteSpec> = RouteHandler<Documented<R>, ApiEnv<R['auth']>>;
type Documented<R extends RouteSpec> = Omit<R, 'method'> & { method: 'get' };

// Adds error codes of an injected dependency, such as the check of a tenant.
export const withProblems = <E extends readonly AnyEndpoint[]>(
  endpoints: E,
  problems: readonly string[],
): E =>
  endpoints.map(one => {
    const route = { ...one.route, problems: [...(one.route.problems ?? []), ...problems] };
    if (checked.has(one.route)) checked.add(route);
    return { ...one, route };
  }) as unknown as E;

// Finds the sender whose signature the request carries, from its headers and `c.get('body')`; undefined for none.
export type Prove = (c: Context<ApiEnv<'provider'>>) => Promise<ProviderPrincipal | undefined>;

export type Endpoint<R extends RouteSpec = RouteSpec> = { route: R; handler: HandlerOf<R>; prove?: Prove };
export type AnyEndpoint = { route: RouteSpec; handler: (c: never, next: never) => unknown; prove?: Prove };

export function endpoint<const R extends RouteSpec>(
  spec: R,
  handler: HandlerOf<R>,
  ...[prove]: R['auth'] extends 'provider' ? [prove: Prove] : []
): Endpoint<R> {
  if (spec.auth === 'provider' && !prove)
    throw new TypeError(`${routeId(spec)}: no verifier is given for the signature`);
  return prove ? { route: spec, handler, prove } : { route: spec, handler };
}
