import type { Ids } from '@stak/kit';
import type { Context, Handler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { clientAddress } from './address.ts';
import { admitPrincipal, authenticateCaller, countRequest, type Gate } from './admission.ts';
import type { ApiEnv, ServerContext } from './context.ts';
import { isUnchanged, requireHeader } from './etag.ts';
import type { IdempotencyStore } from './idempotency.ts';
import { takeInput } from './input.ts';
import { runKeyed } from './keyed-request.ts';
import { type Principal, unauthenticated } from './principal.ts';
import { describeError, problemType, type Statuses } from './problem.ts';
import { isRequestId } from './request-id.ts';
import { type AnyEndpoint, type RouteSpec, routeId } from './route.ts';

// One for each request that a route has answered, for metrics and access logs.
export type RequestRecord = {
  requestId: string;
  route: string; // `GET /v1/sources/{id}`, or `none`
  status: number;
  durationMs: number;
  principal: Principal | undefined;
  address: string | undefined;
};

export type Serving = Gate & {
  server: ServerContext;
  ids: Ids;
  statuses: Statuses;
  baseHeaders: readonly (readonly [string, string])[];
  trustedProxyHops: number;
  idempotency?: IdempotencyStore;
  observe?: (record: RequestRecord) => void;
};

type ApiContext = Context<ApiEnv>;

// Everything a route does lies in this one function: Hono calls a lone handler directly, and a chain of
// middleware would cost more than most of these steps.
export function serveEndpoint({ route, handler, prove }: AnyEndpoint, serving: Serving): Handler<ApiEnv> {
  const id = routeId(route);
  const handle = handler as (c: ApiContext) => Response | Promise<Response>;
  const { idempotency } = serving;
  if (route.idempotent && !idempotency) throw new TypeError(`${id}: there is no store for idempotency keys`);

  const admit = async (c: ApiContext): Promise<void> => {
    if (route.auth === 'public' || route.auth === 'provider') return countRequest(c, route, id, serving);
    await authenticateCaller(c, route, serving);
    await countRequest(c, route, id, serving);
  };

  const run = async (c: ApiContext): Promise<Response> => {
    await admit(c);
    if (route.conditional === 'required' && c.req.header('if-match') === undefined) throw requireHeader();
    await takeInput(c, route);
    if (prove) {
      const principal = await prove(c as Context<ApiEnv<'provider'>>);
      if (!principal) throw unauthenticated(true);
      admitPrincipal(c, principal, route);
    }
    const key = route.idempotent ? c.req.header('idempotency-key') : undefined;
    return key === undefined ? unlessUnchanged(c, await handle(c)) : runKeyed(c, key, idempotency!, answered);
  };

  // Problems below 500 are answers too, and kept under their key like any other.
  const answered = async (c: ApiContext): Promise<Response> => {
    try {
      return await handle(c);
    } catch (error) {
      return answerError(c, error, serving, route);
    }
  };

  return async c => {
    const startedMs = serving.server.clock.now();
    enter(c, serving);
    c.set('routeId', id);
    let response: Response;
    try {
      response = withBaseHeaders(c, await run(c), serving);
    } catch (error) {
      response = answerError(c, error, serving, route);
    }
    leave(c, response, startedMs, serving, id);
    return response;
  };
}

export function enter(c: ApiContext, serving: Serving): void {
  const given = c.req.header('x-request-id');
  const requestId = isRequestId(given) ? given : serving.ids.next('req');
  const socket = c.env?.remoteAddress ?? c.env?.incoming?.socket.remoteAddress;
  const hops = serving.trustedProxyHops;
  c.set('requestId', requestId);
  c.set('address', clientAddress(socket, hops > 0 ? c.req.header('x-forwarded-for') : undefined, hops));
  c.set('server', serving.server);
  for (const [name, value] of serving.baseHeaders) c.header(name, value);
  c.header('X-Request-Id', requestId);
}

export function leave(
  c: ApiContext,
  response: Response,
  startedMs: number,
  serving: Serving,
  id: string,
): void {
  serving.observe?.({
    requestId: c.get('requestId'),
    route: id,
    status: response.status,
    durationMs: serving.server.clock.now() - startedMs,
    principal: c.get('principal'),
    address: c.get('address'),
  });
}

// What `c.json()` makes has the headers that were set on the context. A Response from elsewhere has not, and may
// refuse to be changed.
function withBaseHeaders(c: ApiContext, response: Response, serving: Serving): Response {
  const isForeign = !response.headers.has('x-request-id');
  const result = isForeign ? new Response(response.body, response) : response;
  if (isForeign || c.get('rateHeaders')) setHeaders(c, result.headers, serving);
  return result;
}

function setHeaders(c: ApiContext, headers: Headers, serving: Serving): void {
  if (!headers.has('x-request-id')) {
    for (const [name, value] of serving.baseHeaders) if (!headers.has(name)) headers.set(name, value);
    headers.set('X-Request-Id', c.get('requestId'));
  }
  for (const [name, value] of Object.entries(c.get('rateHeaders') ?? {})) headers.set(name, value);
}

// A fresh response: what the handler had set before it failed is of no use.
export function answerError(c: ApiContext, error: unknown, serving: Serving, route?: RouteSpec): Response {
  const requestId = c.get('requestId');
  const { problem, headers, isBug } = describeError(error, requestId, serving.statuses);
  const line = { err: error, request_id: requestId, route: route && routeId(route) };
  if (isBug) serving.server.log.error(line, 'a request failed');
  else if (problem.status >= 500) serving.server.log.warn(line, 'a request could not be served');
  const response = new Response(JSON.stringify(problem), {
    status: problem.status as ContentfulStatusCode,
    headers: { 'Content-Type': problemType },
  });
  setHeaders(c, response.headers, serving);
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

function unlessUnchanged(c: ApiContext, response: Response): Response {
  if (response.status !== 200) return response;
  const ifNoneMatch = c.req.header('if-none-match');
  if (ifNoneMatch === undefined || (c.req.method !== 'GET' && c.req.method !== 'HEAD')) return response;
  const etag = response.headers.get('etag');
  if (etag === null || !isUnchanged(ifNoneMatch, etag)) return response;
  c.header('ETag', etag);
  c.header('Content-Type', undefined);
  return c.body(null, 304);
}
