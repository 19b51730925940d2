import { type Ids, inSpan, isTracing, markWork } from '@stak/kit';
import type { Context, Handler } from 'hono';
import type { ApiEnv, ServerContext } from '../context.ts';
import { isUnchanged, requireHeader } from '../input/etag.ts';
import type { InFlight } from '../input/in-flight.ts';
import { takeInput, takesInput } from '../input/input.ts';
import type { Principal } from '../principal.ts';
import { describeError, problemType, type Statuses } from '../problem.ts';
import {
  admitPrincipal,
  authenticateCaller,
  countProven,
  countRequest,
  type Gate,
  refuseCaller,
} from '../routes/access.ts';
import { addressKey, clientAddress } from '../routes/address.ts';
import { type Guards, guardHandler } from '../routes/guards.ts';
import { type AnyEndpoint, type RouteSpec, routeId } from '../routes/route.ts';
import type { IdempotencyStore } from '../stores/idempotency.ts';
import { runKeyed } from './idempotent-request.ts';
import { OutgoingAnswer } from './outgoing-answer.ts';
import { isRequestId } from './request-id.ts';

// A record of each request that a route has handled, for metrics and access logs.
export type RequestRecord = {
  requestId: string;
  method: string;
  route: string; // `GET /v1/sources/{id}`, or `none`
  status: number;
  code: string | undefined; // of the problem, if it is one
  durationMs: number;
  principal: Principal | undefined;
  address: string | undefined;
};

export type Serving = Gate & {
  guards: Guards;
  server: ServerContext;
  ids: Ids;
  statuses: Statuses;
  baseHeaders: readonly string[]; // name, value, name, value
  trustedProxyHops: number;
  inFlight: InFlight;
  idempotency?: IdempotencyStore;
  observe?: (record: RequestRecord) => void;
};

type ApiContext = Context<ApiEnv>;

// Everything a route does is in this one function: Hono calls a single handler directly, and a chain of middleware
// would cost more than most of these steps.
export function serveEndpoint({ route, handler, prove }: AnyEndpoint, serving: Serving): Handler<ApiEnv> {
  const id = routeId(route);
  const isGuarded = route.auth !== 'public' && route.auth !== 'provider';
  const handle = guardHandler(
    route,
    handler as (c: ApiContext) => Response | Promise<Response>,
    serving.guards,
    serving.server.log,
  );
  const { idempotency } = serving;
  if (route.idempotent && !idempotency) throw new TypeError(`${id}: there is no store for idempotency keys`);

  // A route that describes the header takes the key into its own transaction.
  const takesKey = route.idempotent || 'idempotency-key' in (route.request?.headers?.shape ?? {});
  const isProbe = route.limits?.rate === false; // refusing a probe would take the server down
  const run = async (c: ApiContext): Promise<Response> => {
    if (!isProbe) c.set('flight', serving.inFlight.enter(addressKey(c.get('address'))));
    const entering = isGuarded ? authenticateCaller(c, route, serving) : undefined;
    if (entering) await entering;
    const counting = countRequest(c, route, id, serving);
    if (counting) await counting;
    if (route.conditional === 'required' && c.req.header('if-match') === undefined) throw requireHeader();
    if (takesInput(c, route)) await takeInput(c, route);
    if (prove) {
      const principal = await prove(c as Context<ApiEnv<'provider'>>);
      if (!principal) return refuseCaller(c, serving, true);
      admitPrincipal(c, principal, route);
      const countingProven = countProven(c, route, id, serving);
      if (countingProven) await countingProven;
    }
    markWork(id);
    const key = route.idempotent ? c.req.header('idempotency-key') : undefined;
    return key === undefined ? unlessUnchanged(c, await handle(c)) : runKeyed(c, key, idempotency!, answered);
  };

  // Problems below 500 are responses too, and are stored under their key like any other.
  const answered = async (c: ApiContext): Promise<Response> => {
    try {
      return await handle(c);
    } catch (error) {
      return answerError(c, error, serving, route);
    }
  };

  const serve = async (c: ApiContext): Promise<Response> => {
    markWork(id);
    const startedMs = serving.server.clock.now();
    enter(c, serving);
    c.set('routeId', id);
    let response: Response;
    try {
      response = await run(c);
    } catch (error) {
      response = answerError(c, error, serving, route);
    }
    c.get('flight')?.leave();
    if (!takesKey && c.req.header('idempotency-key') !== undefined)
      response.headers.set('Idempotency-Ignored', 'true');
    // Nobody reads what a client that has left was to get, and a stream that nobody reads or cancels does not end.
    if (c.env?.outgoing?.destroyed) response.body?.cancel().catch(() => {});
    return leave(c, response, startedMs, serving);
  };
  return c => (isTracing() && !isProbe ? serveTraced(c, route.path, serve) : serve(c));
}

// The caller's trace continues here, if the request is part of one.
const serveTraced = (
  c: ApiContext,
  path: string,
  serve: (c: ApiContext) => Promise<Response>,
): Promise<Response> => {
  const attributes = { 'http.request.method': c.req.method, 'http.route': path };
  const options = { kind: 'server', attributes, traceparent: c.req.header('traceparent') } as const;
  return inSpan(`${c.req.method} ${path}`, options, async span => {
    const response = await serve(c);
    span.setAttributes({
      'http.response.status_code': response.status,
      'stak.request_id': c.get('requestId'),
    });
    return response;
  });
};

export function enter(c: ApiContext, serving: Serving): void {
  const given = c.req.header('x-request-id');
  const socket = c.env?.remoteAddress ?? c.env?.incoming?.socket.remoteAddress;
  const hops = serving.trustedProxyHops;
  c.set('requestId', isRequestId(given) ? given : serving.ids.next('req'));
  c.set('address', clientAddress(socket, hops > 0 ? c.req.header('x-forwarded-for') : undefined, hops));
  c.set('server', serving.server);
  c.set('ids', serving.ids);
}

export function leave(c: ApiContext, response: Response, startedMs: number, serving: Serving): Response {
  serving.observe?.({
    requestId: c.get('requestId'),
    method: c.req.method,
    route: c.get('routeId') ?? 'none',
    status: response.status,
    code: c.get('problemCode'),
    durationMs: serving.server.clock.now() - startedMs,
    principal: c.get('principal'),
    address: c.get('address'),
  });
  return withHeaders(c, response, serving);
}

// Adds the headers that every response has, unless the handler has set them. A real server writes them with the
// response's own; elsewhere they are added to the Response, whose Headers cost more than the rest of this layer.
function withHeaders(c: ApiContext, response: Response, { baseHeaders }: Serving): Response {
  const headers = [...baseHeaders, 'X-Request-Id', c.get('requestId')];
  const rateHeaders = c.get('rateHeaders');
  if (rateHeaders) for (const name in rateHeaders) headers.push(name, rateHeaders[name]!);
  const outgoing = c.env?.outgoing;
  if (!(outgoing instanceof OutgoingAnswer)) return withCopiedHeaders(response, headers);
  outgoing.setCommonHeaders(headers);
  return response;
}

// A Response from elsewhere may be immutable, so it is copied.
function withCopiedHeaders(response: Response, headers: readonly string[]): Response {
  const copy = new Response(response.body, response);
  for (let i = 0; i < headers.length; i += 2)
    if (!copy.headers.has(headers[i]!)) copy.headers.set(headers[i]!, headers[i + 1]!);
  return copy;
}

// A new response: what the handler had set before it failed is dropped.
export function answerError(c: ApiContext, error: unknown, serving: Serving, route?: RouteSpec): Response {
  const { problem, headers } = problemFor(error, c.get('requestId'), serving, route);
  c.set('problemCode', problem.code);
  const { errorShape } = route ?? {};
  return new Response(JSON.stringify(errorShape ? errorShape.show(problem) : problem), {
    status: problem.status,
    headers: { 'Content-Type': errorShape ? 'application/json' : problemType, ...headers },
  });
}

// Describes an error for the caller, and logs it if it is ours.
export function problemFor(error: unknown, requestId: string, serving: Serving, route?: RouteSpec) {
  const { problem, headers, isBug } = describeError(error, requestId, serving.statuses);
  const line = { err: error, request_id: requestId, route: route && routeId(route) };
  if (isBug) serving.server.log.error(line, 'a request failed');
  else if (problem.status >= 500) serving.server.log.warn(line, 'a request could not be served');
  return { problem, headers };
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
