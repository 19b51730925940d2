import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';
import { isReaching, isStored } from '../routes/guards.ts';
import { type Endpoint, type HandlerOf, type RouteSpec, routeId } from '../routes/route.ts';

// A route that takes any bytes from anybody, such as a webhook, needs none of what Hono gives a handler. Its handler is
// a function of plain values, so that the server can call it without making a Request and a Response: see
// `plain-serving.ts`.

export type HeaderPair = readonly [name: string, value: string];

export type PlainRequest = {
  params: Readonly<Record<string, string>>;
  method: string;
  path: string;
  query: string; // without the question mark
  headers: readonly HeaderPair[]; // in their order and spelling
  body: Uint8Array;
  address: string | undefined;
};

export type PlainAnswer = { status: number; contentType: string; body: string };
export type PlainHandler = (request: PlainRequest) => Promise<PlainAnswer>;

export type PlainRoute = RouteSpec & {
  auth: 'public';
  method: 'any';
  tenant: 'none';
  idempotent?: never;
  conditional?: never;
};

// Known by the handler that Hono would call: an endpoint whose handler was replaced is served by Hono.
const plainHandlers = new WeakMap<object, PlainHandler>();

export const plainHandlerOf = ({ handler }: { handler: object }): PlainHandler | undefined =>
  plainHandlers.get(handler);

/** An endpoint whose handler takes and returns plain values. */
export function plainEndpoint<const R extends PlainRoute>(spec: R, handle: PlainHandler): Endpoint<R> {
  if (spec.request?.query || spec.request?.headers)
    throw new TypeError(`${routeId(spec)}: a plain handler gets its query and headers as they are`);
  if (isReaching(spec) || isStored(spec) || spec.audit === true)
    throw new TypeError(`${routeId(spec)}: no guard stands before a plain handler`);
  const handler = async (c: Context<ApiEnv>): Promise<Response> => {
    const { status, contentType, body } = await handle(plainRequestOf(c));
    return new Response(body, { status, headers: { 'Content-Type': contentType } });
  };
  plainHandlers.set(handler, handle);
  return { route: spec, handler: handler as unknown as HandlerOf<R> };
}

function plainRequestOf(c: Context<ApiEnv>): PlainRequest {
  const { pathname, search } = new URL(c.req.url);
  const { incoming } = c.env ?? {};
  return {
    params: c.req.param(),
    method: c.req.method,
    path: pathname,
    // A parser encodes quotation marks and the like, which the sender may have signed as they are.
    query: queryOf(incoming?.url ?? search),
    // A request made in process has neither order nor spelling.
    headers: incoming ? pairsOf(incoming.rawHeaders) : [...c.req.raw.headers],
    body: c.get('body'),
    address: c.get('address'),
  };
}

export function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}

export function pairsOf(rawHeaders: readonly string[]): HeaderPair[] {
  const pairs: HeaderPair[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) pairs.push([rawHeaders[i]!, rawHeaders[i + 1]!]);
  return pairs;
}
