import {
  type Clock,
  createRecentMap,
  currentTraceparent,
  cutText,
  inSpan,
  isTraced,
  type Logger,
  markWork,
  type Owners,
  parseUrl,
  type Random,
  type Semaphore,
} from '@stak/kit';
import { maySendHeader, type Outbound, type OutboundResult, readRetryAfter } from '@stak/outbound';
import { retryWhileLeased } from '@stak/table';
import type { AttemptCounts } from '../analytics/attempt-counts.ts';
import type { BaseDeps } from '../deps.ts';
import type { HeaderPair, HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import type { Connection } from '../main-table.ts';
import { connectionSecretContext, type Secrets } from '../signatures/secrets.ts';
import { signDelivery } from '../signatures/signing.ts';
import type { Delivery } from '../tables.ts';
import type { Rules } from '../transforms/rules.ts';
import type { TransformOutcome } from '../transforms/transform.ts';
import type { AnswerWatch } from './answer-watch.ts';
import type { Breaker } from './breaker.ts';
import { type DeliveryRef, postponeDelivery } from './queue.ts';
import { type Result, writeResult } from './result.ts';
import { politeDelayMs, type RetryConfig, retryDelayMs } from './retry.ts';

// Tells the dispatcher that a destination has answered, or failed to: how long that took, how much of it was at
// most the delay of this thread, whose the connection is, and how many it takes at a time.
export type Answer = {
  latencyMs: number;
  ownMs: number;
  userId: string;
  concurrency: number;
  // The destination is well: the next request need not wait until this result is written.
  isWell: boolean;
};
// Tells the dispatcher that the result is written: how long to leave the connection alone, and the delivery that
// is first in its order now.
export type Report = { waitMs?: number; next?: DeliveryRef };
export type AttemptRun = { signal: AbortSignal; onAnswer(answer: Answer): void };

export type SendDeps = { clock: Clock; secrets: Secrets; rules: Rules; outbound: Outbound };
export type AttemptDeps = BaseDeps &
  SendDeps & {
    attemptCounts: AttemptCounts;
    breaker: Breaker;
    recording: Semaphore; // for results that are written
    owners: Pick<Owners, 'aliveUntilMs'>;
    answerWatch: AnswerWatch;
  };

const unsent: ReadonlySet<string> = new Set(['aborted', 'closed', 'busy']);

// One attempt at a delivery that this process has leased, in the trace of the request that brought the event, even
// if another process received it.
export const attemptDelivery = (
  deps: AttemptDeps,
  claimed: Delivery,
  connection: Connection,
  request: HookRequest,
  run: AttemptRun,
): Promise<Report> =>
  inSpan(
    'deliver webhook',
    {
      traceparent: claimed.trace,
      attributes: {
        'stak.event_id': claimed.eventId,
        'stak.connection_id': claimed.connectionId,
        'stak.attempt': claimed.attempts + 1,
      },
    },
    () => attempt(deps, claimed, connection, request, run),
  );

// Filter, transform, sign, send, and record the result.
async function attempt(
  deps: AttemptDeps,
  claimed: Delivery,
  connection: Connection,
  request: HookRequest,
  run: AttemptRun,
): Promise<Report> {
  markWork('webhook delivery', connection.connectionId);
  const attemptedAt = deps.clock.now();
  const outgoing = await applyRules(deps, claimed, connection, request);
  if (outgoing === undefined)
    return finishDelivery(deps, claimed, { state: 'filtered', rulesVersion: connection.version });
  if (outgoing === 'busy') {
    await postponeDelivery(deps, claimed, deps.clock.now() + limits.busyMs);
    return { waitMs: limits.busyMs };
  }
  if ('error' in outgoing) {
    const { destinationUrl } = connection;
    const made = { destinationUrl, statusCode: 0, latencyMs: 0, error: outgoing.error, attemptedAt };
    return finishDelivery(deps, claimed, failureOf(deps, claimed, connection, made));
  }
  if ((claimed.dueAt ?? 0) - deps.clock.now() < limits.leaseSpareMs) return {}; // too little of the lease is left
  if (deps.clock.now() >= (deps.owners.aliveUntilMs?.() ?? Infinity)) return {}; // another process may have taken it over
  const { response, ownMs } = await sendWatched(deps, outgoing, run.signal);
  if (!response.ok && unsent.has(response.reason)) return {}; // due again when the lease ends
  run.onAnswer({
    latencyMs: response.latencyMs,
    ownMs,
    userId: connection.userId,
    concurrency: concurrencyOf(connection),
    isWell: isDelivered(response) && connection.breaker === 'closed',
  });
  const { next } = await record(deps, claimed, connection, { response, attemptedAt, signal: run.signal });
  return { next };
}

async function sendWatched(deps: AttemptDeps, outgoing: OutgoingRequest, signal: AbortSignal) {
  const watch = deps.answerWatch;
  watch.mark();
  const sentMs = watch.now();
  const response = await send(deps, outgoing, signal);
  watch.mark();
  return { response, ownMs: watch.now() - Math.max(sentMs, watch.lookedMs()) };
}

// Undefined if the connection's filters do not match. `busy` if its rules cannot run now: the connection is not at
// fault, so that costs it no attempt.
async function applyRules(
  deps: SendDeps & { log: Logger },
  claimed: Delivery,
  connection: Connection,
  request: HookRequest,
): Promise<OutgoingRequest | { error: string } | 'busy' | undefined> {
  try {
    const rules = await inSpan('filter and transform', {}, () =>
      deps.rules.run(connection, request, { filter: claimed.attempts === 0 }),
    );
    if (rules.ok && !rules.transformed) return undefined;
    const outcome = rules.ok ? rules.transformed! : rules;
    if (!outcome.ok && outcome.reason === 'busy') return 'busy';
    if (!outcome.ok)
      return {
        error: cutText(`The transform failed: ${outcome.reason}: ${outcome.message}`, limits.errorChars),
      };
    return outcome.dropped ? undefined : buildRequest(deps, connection, request, outcome, claimed.eventId);
  } catch (error) {
    // A secret that cannot be opened, or a filter of an older version: it needs a repair. The event waits.
    deps.log.error({ err: error, connection_id: connection.connectionId }, 'a connection cannot be used');
    return { error: 'The connection cannot be used as it is' };
  }
}

export type OutgoingRequest = { url: string; method: string; headers: HeaderPair[]; body: Uint8Array };

// Headers of the connection that brought the request, or that may be wrong for the transformed body. And
// `accept-encoding`: otherwise a destination may compress its response, and we would store it unreadable.
const droppedHeaders =
  /^(?:host|accept-encoding|content-length|content-type|content-encoding|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|authorization|cookie|proxy-.*|x-forwarded-.*|forwarded|x-real-ip|x-stak-.*|x-ferryhook-.*|webhook-(?:id|timestamp|signature))$/i;

// Whether a header is sent to destinations. Senders use the same few names again and again.
const passedOn = createRecentMap<string, boolean>(limits.headerNames);
function isPassedOn(name: string): boolean {
  const known = passedOn.get(name);
  if (known !== undefined) return known;
  const isPassed = !droppedHeaders.test(name) && maySendHeader(name);
  if (name.length <= limits.headerNameChars) passedOn.set(name, isPassed);
  return isPassed;
}

// The request to the destination, signed.
export function buildRequest(
  { clock, secrets }: SendDeps,
  connection: Connection,
  request: HookRequest,
  transformed: Extract<TransformOutcome, { ok: true; dropped: false }>,
  eventId: string,
): OutgoingRequest {
  const given = transformed.headers ?? request.headers;
  const isSame = transformed.body === request.body;
  let { contentType } = transformed;
  const encodings: string[] = [];
  for (const [name, value] of request.headers) {
    if (name.length === 12 && name.toLowerCase() === 'content-type') contentType ??= value;
    else if (isSame && name.length === 16 && name.toLowerCase() === 'content-encoding') encodings.push(value);
  }
  const headers: HeaderPair[] = given.filter(([name]) => isPassedOn(name));
  if (contentType !== undefined) headers.push(['content-type', contentType]);
  if (encodings.length > 0) headers.push(['content-encoding', encodings.join(', ')]);
  headers.push(
    ...signDelivery({
      secrets: secrets.open(connection.signingSecret, connectionSecretContext(connection.connectionId)),
      eventId,
      timestampS: Math.floor(clock.now() / 1000),
      body: transformed.body,
    }),
  );
  // A GET is delivered as a POST: its content is in the query, and destinations expect a body.
  const method = request.method === 'GET' || request.method === 'HEAD' ? 'POST' : request.method;
  const url = withQuery(connection.destinationUrl, request.query);
  return { url, method, headers, body: transformed.body };
}

function withQuery(destination: string, query: string): string {
  if (query === '') return destination;
  const url = parseUrl(destination);
  if (!url) return destination; // refused when it is sent
  url.search = url.search === '' ? query : `${url.search}&${query}`;
  return url.href;
}

export const send = (
  { outbound }: SendDeps,
  outgoing: OutgoingRequest,
  signal?: AbortSignal,
): Promise<OutboundResult> => {
  const request = { timeoutMs: limits.timeoutMs, signal, ...outgoing };
  return isTraced() ? sendTraced(outbound, request) : outbound.send(request);
};

function sendTraced(outbound: Outbound, request: Parameters<Outbound['send']>[0]): Promise<OutboundResult> {
  const address = URL.canParse(request.url) ? new URL(request.url).host : 'unknown';
  const attributes = { 'http.request.method': request.method, 'server.address': address };
  return inSpan(`${request.method} ${address}`, { kind: 'client', attributes }, async span => {
    const response = await outbound.send({ ...request, headers: withTrace(request.headers) });
    if (response.status !== undefined) span.setAttribute('http.response.status_code', response.status);
    return response;
  });
}

// The destination continues our trace, not that of the sender.
function withTrace(headers: readonly HeaderPair[] = []): HeaderPair[] {
  const traceparent = currentTraceparent()!;
  return [...headers.filter(([name]) => name.toLowerCase() !== 'traceparent'), ['traceparent', traceparent]];
}

async function record(
  deps: AttemptDeps,
  claimed: Delivery,
  connection: Connection,
  { response, attemptedAt, signal }: { response: OutboundResult; attemptedAt: number; signal: AbortSignal },
): Promise<Finished> {
  const isSuccess = isDelivered(response);
  const made = {
    destinationUrl: connection.destinationUrl,
    statusCode: response.status ?? 0,
    responseBody: responseText(response),
    latencyMs: Math.round(response.latencyMs),
    error: describeFailure(response),
    attemptedAt,
  };
  const result = isSuccess
    ? { state: 'delivered' as const, attempt: made }
    : failureOf(deps, claimed, connection, made, response);
  const { clock, recording } = deps;
  // No other process knows that the request was made.
  const finished = await retryWhileLeased(() => recording.run(() => finishDelivery(deps, claimed, result)), {
    clock,
    untilMs: () => claimed.dueAt ?? 0,
    signal,
  });
  if (finished.isWritten) deps.attemptCounts.attempted(claimed, made.latencyMs, isSuccess);
  if (isSuccess) await deps.breaker.succeeded(connection);
  else if (response.status === 410)
    await deps.breaker.disable(connection, 'The destination answered 410 Gone');
  else await deps.breaker.failed(connection, made.error ?? 'The destination failed');
  return finished;
}

const permanent: ReadonlySet<string> = new Set(['invalid_url', 'invalid_request', 'blocked_port']);

// The result of a failed attempt: another attempt later, or none.
function failureOf(
  { clock, random }: { clock: Clock; random: Random },
  claimed: Delivery,
  connection: Connection,
  made: NonNullable<Result['attempt']>,
  response?: OutboundResult,
): Result {
  const failed = (error = made.error): Result => ({ state: 'failed', attempt: made, error });
  if (response && (response.ok ? response.status === 410 : permanent.has(response.reason))) return failed();
  const retry = JSON.parse(connection.retryConfig) as RetryConfig;
  const delayMs = retryDelayMs(retry, claimed.attempts + 1, random);
  if (delayMs === undefined) return failed();
  const nowMs = clock.now();
  const retryAfter = response?.ok
    ? response.headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
    : undefined;
  const nextAt = nowMs + politeDelayMs(delayMs, readRetryAfter(retryAfter, nowMs));
  return { state: 'retrying', attempt: made, error: made.error, nextAt };
}

type Finished = { isWritten: boolean; next?: DeliveryRef };

// Writes the result and counts it. Nothing is written when the lease was lost.
export async function finishDelivery(
  deps: AttemptDeps,
  claimed: Delivery,
  result: Result,
): Promise<Finished> {
  const written = await writeResult(deps, claimed, result);
  if (!written) {
    const { eventId: event_id, connectionId: connection_id } = claimed;
    deps.log.debug({ event_id, connection_id }, 'a result came too late');
    return { isWritten: false };
  }
  if (result.attempt && result.state !== 'retrying')
    deps.attemptCounts.finished(claimed, result.state === 'delivered');
  return { isWritten: true, next: written.next };
}

// A destination that is being probed gets one request at a time.
export const concurrencyOf = ({ breaker, maxConcurrency }: Connection): number =>
  breaker === 'closed' ? maxConcurrency : 1;

const isDelivered = (response: OutboundResult): boolean =>
  response.ok && response.status >= 200 && response.status < 300;

const utf8 = new TextDecoder('utf-8');

export const responseText = (response: OutboundResult): string | undefined => {
  if (!response.ok || response.body.length === 0) return undefined;
  // A character has at most four bytes, so the rest need not be decoded.
  return cutText(utf8.decode(response.body.subarray(0, limits.responseChars * 4)), limits.responseChars);
};

export function describeFailure(response: OutboundResult): string | undefined {
  if (isDelivered(response)) return undefined;
  if (response.ok) return `The destination answered ${response.status}`;
  return cutText(`${response.reason}: ${response.message}`, limits.errorChars);
}
