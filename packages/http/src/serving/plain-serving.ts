import type { IncomingMessage } from 'node:http';
import { isTracing, markWork } from '@stak/kit';
import { readIncomingBody } from '../input/body.ts';
import * as limits from '../limits.ts';
import { problemType } from '../problem.ts';
import { policyWithoutPrincipal, takeOfAddress } from '../routes/access.ts';
import { addressKey, clientAddress } from '../routes/address.ts';
import { type AnyEndpoint, methodsOf, type RouteSpec, routeId } from '../routes/route.ts';
import { rateHeaders } from '../stores/rate-limit.ts';
import type { OutgoingAnswer } from './outgoing-answer.ts';
import { type PlainAnswer, type PlainHandler, pairsOf, plainHandlerOf, queryOf } from './plain.ts';
import { isRequestId } from './request-id.ts';
import { problemFor, type Serving } from './serving.ts';

// Serves routes with a plain handler without Hono, as `serveEndpoint` does with it. Everything unusual (an encoded path,
// a body without a length, a trace) is left to Hono, so that there is one answer to it.

type PlainEndpoint = { prefix: string; param: string; methods: Set<string>; route: RouteSpec } & {
  handle: PlainHandler;
};

const paramShape = /^[A-Za-z0-9_-]{1,40}$/;
const pathShape = /^(\/(?:[a-z]+\/)+)\{(\w+)\}$/;

// Takes the request if it is one of these, and returns whether it did.
export type ServePlain = (incoming: IncomingMessage, outgoing: OutgoingAnswer) => boolean;

export function createPlainServing(endpoints: readonly AnyEndpoint[], serving: Serving): ServePlain {
  const plain = endpoints.flatMap(endpoint => describePlain(endpoint) ?? []);
  return (incoming, outgoing) => {
    const { url = '', method = '' } = incoming;
    for (const endpoint of plain) {
      if (!url.startsWith(endpoint.prefix) || !endpoint.methods.has(method)) continue;
      const at = url.indexOf('?');
      const param = url.slice(endpoint.prefix.length, at < 0 ? url.length : at);
      if (!paramShape.test(param) || !isUsual(incoming, endpoint) || isTracing()) return false;
      void serve(endpoint, param, incoming, outgoing, serving);
      return true;
    }
    return false;
  };
}

function describePlain(endpoint: AnyEndpoint): PlainEndpoint | undefined {
  const handle = plainHandlerOf(endpoint);
  const { route } = endpoint;
  const path = pathShape.exec(route.path);
  if (!handle || !path) return undefined;
  const [, prefix = '', param = ''] = path;
  // A parameter that passes here unchecked has to pass the schema.
  if (!route.request?.params?.safeParse({ [param]: 'a'.repeat(40) }).success)
    throw new TypeError(`${routeId(route)}: the parameter has to accept any short id`);
  return { prefix, param, methods: new Set(methodsOf(route)), route, handle };
}

// Preflights and trace parents are for Hono, and so is a body that is refused.
function isUsual({ headers, method }: IncomingMessage, { route }: PlainEndpoint): boolean {
  if (headers.host === undefined || headers['transfer-encoding'] !== undefined || method === 'OPTIONS')
    return false;
  const length = headers['content-length'];
  return length === undefined || Number(length) <= (route.limits?.bodyBytes ?? limits.bodyBytes);
}

async function serve(
  { route, handle, param: name }: PlainEndpoint,
  param: string,
  incoming: IncomingMessage,
  outgoing: OutgoingAnswer,
  serving: Serving,
): Promise<void> {
  const { clock, log } = serving.server;
  const id = routeId(route);
  const { headers, method = '', url = '' } = incoming;
  const startedMs = clock.now();
  markWork(id);
  const given = headers['x-request-id'];
  const requestId = typeof given === 'string' && isRequestId(given) ? given : serving.ids.next('req');
  const hops = serving.trustedProxyHops;
  const forwarded = hops > 0 ? headers['x-forwarded-for'] : undefined;
  const address = clientAddress(incoming.socket.remoteAddress, forwarded as string | undefined, hops);
  const common = [...serving.baseHeaders, 'X-Request-Id', requestId];
  let flight: ReturnType<Serving['inFlight']['enter']> | undefined;
  let answer: PlainAnswer & { headers?: Readonly<Record<string, string>> };
  let code: string | undefined;
  try {
    flight = serving.inFlight.enter(addressKey(address));
    const { rateLimits } = serving;
    if (rateLimits && route.limits?.rate !== false) {
      const policy = policyWithoutPrincipal(route, rateLimits);
      const taking = takeOfAddress(rateLimits, policy, address, startedMs);
      const verdict = taking instanceof Promise ? await taking : taking;
      for (const [header, value] of Object.entries(rateHeaders(policy, verdict))) common.push(header, value);
    }
    const mostBytes = route.limits?.bodyBytes ?? limits.bodyBytes;
    const hasBody = headers['content-length'] !== undefined && headers['content-length'] !== '0';
    const body = hasBody
      ? await readIncomingBody(incoming, { mostBytes, mostMs: limits.bodyMs, clock, flight })
      : new Uint8Array();
    markWork(id);
    const at = url.indexOf('?');
    answer = await handle({
      params: { [name]: param },
      method,
      path: at < 0 ? url : url.slice(0, at),
      query: queryOf(url),
      headers: pairsOf(incoming.rawHeaders),
      body,
      address,
    });
  } catch (error) {
    const { problem, headers: own } = problemFor(error, requestId, serving, route);
    code = problem.code;
    answer = {
      status: problem.status,
      contentType: problemType,
      body: JSON.stringify(problem),
      headers: own,
    };
  }
  flight?.leave();
  const { status } = answer;
  const durationMs = clock.now() - startedMs;
  serving.observe?.({
    requestId,
    method,
    route: id,
    status,
    code,
    durationMs,
    principal: undefined,
    address,
  });
  if (outgoing.destroyed) return;
  try {
    outgoing.setCommonHeaders(common);
    const length = String(Buffer.byteLength(answer.body));
    outgoing.writeHead(status, {
      'Content-Type': answer.contentType,
      'Content-Length': length,
      ...answer.headers,
    });
    outgoing.end(answer.body);
  } catch (error) {
    log.error({ err: error, request_id: requestId }, 'a response could not be written');
    outgoing.destroy();
  }
}
