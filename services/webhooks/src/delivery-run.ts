import type { OutboundResult } from '@stak/outbound';
import type { Breaker } from './breaker.ts';
import type { Config } from './config.ts';
import type { Counters } from './counters.ts';
import {
  claimDelivery,
  holdDelivery,
  parkDelivery,
  postponeDelivery,
  readLine,
  readRequest,
} from './deliveries.ts';
import { type Result, writeResult } from './delivery-result.ts';
import type { Base } from './deps.ts';
import type { Report } from './dispatcher.ts';
import { type Delivery, delivery } from './events-table.ts';
import type { HookRequest } from './filters/request-view.ts';
import type { DeliveryRef, Intake } from './intake.ts';
import * as limits from './limits.ts';
import type { Connection } from './main-table.ts';
import {
  describeAnswer,
  filterRequest,
  isDelivered,
  type PipelineDeps,
  prepare,
  responseText,
  send,
  transformRequest,
} from './pipeline.ts';
import { takeRate } from './rate.ts';
import { politeDelayMs, type RetryConfig, readRetryAfter, retryDelayMs } from './retry.ts';

export type RunDeps = Base &
  PipelineDeps & {
    config: Config;
    counters: Counters;
    breaker: Breaker;
    intake: Pick<Intake, 'ensureArmed' | 'offer'>;
  };

// Claims what is due and makes one attempt.
export async function runDue(
  deps: RunDeps,
  ref: DeliveryRef,
  owner: string,
  signal: AbortSignal,
): Promise<Report> {
  const claimed = await claimDelivery(deps.store, ref, owner, deps.clock.now());
  if (!claimed) return {};
  if (claimed.queueId !== undefined && !(await isFirst(deps, claimed))) return {};
  const config = await deps.config.of(claimed.sourceId);
  const connection = config?.connections.find(one => one.connectionId === ref.connectionId);
  if (!connection) {
    await finish(deps, claimed, undefined, { state: 'cancelled', error: 'The connection was deleted' });
    return {};
  }
  if (config!.source.status !== 'active' || connection.status !== 'active' || connection.breaker === 'open') {
    if (connection.breaker === 'open') await deps.intake.ensureArmed(connection);
    await holdDelivery(deps.store, claimed, deps.clock.now(), claimed.version);
    return {};
  }
  if (connection.ratePerSecond !== undefined) {
    const waitMs = await takeRate(deps, connection.connectionId, connection.ratePerSecond);
    if (waitMs > 0) {
      await postponeDelivery(deps.store, claimed, deps.clock.now() + waitMs);
      return { waitMs };
    }
  }
  const request = await readRequest(deps.store, claimed.eventId);
  if (!request) {
    await deps.store.delete(delivery, claimed);
    return {};
  }
  return attemptDelivery(deps, claimed, connection, request, signal);
}

async function isFirst({ store }: RunDeps, claimed: Delivery): Promise<boolean> {
  const [first] = await readLine(store, claimed.connectionId);
  if (!first || first.queueId === claimed.queueId) return true;
  await parkDelivery(store, claimed, claimed.version);
  return false;
}

// One attempt at what is claimed: filter, transform, sign, send, and write what came of it.
export async function attemptDelivery(
  deps: RunDeps,
  claimed: Delivery,
  connection: Connection,
  request: HookRequest,
  signal: AbortSignal,
): Promise<Report> {
  const attemptedAt = deps.clock.now();
  if (claimed.attempts === 0 && !filterRequest(connection, request).matched) {
    await finish(deps, claimed, connection, { state: 'filtered' });
    return {};
  }
  const shaped = await transformRequest(deps, connection, request);
  if (!shaped.ok) {
    const error = `The transform failed: ${shaped.reason}: ${shaped.message}`.slice(0, limits.errorChars);
    const nothing = { destinationUrl: connection.destinationUrl, statusCode: 0, latencyMs: 0, error, attemptedAt };
    await finish(deps, claimed, connection, later(deps, claimed, connection, nothing));
    return {};
  }
  if (shaped.dropped) {
    await finish(deps, claimed, connection, { state: 'filtered' });
    return {};
  }
  if ((claimed.dueAt ?? 0) - deps.clock.now() < limits.leaseSpareMs) return {}; // it took too long to get here
  const outgoing = prepare(deps, connection, request, shaped, claimed.eventId);
  const answer = await send(deps, outgoing, signal);
  if (!answer.ok && (answer.reason === 'aborted' || answer.reason === 'closed')) return {}; // the lease ends by itself
  await record(deps, claimed, connection, answer, attemptedAt);
  return { latencyMs: answer.latencyMs, concurrency: concurrencyOf(connection) };
}

async function record(
  deps: RunDeps,
  claimed: Delivery,
  connection: Connection,
  answer: OutboundResult,
  attemptedAt: number,
): Promise<void> {
  const isSuccess = isDelivered(answer);
  const made = {
    destinationUrl: connection.destinationUrl,
    statusCode: answer.status ?? 0,
    responseBody: responseText(answer),
    latencyMs: Math.round(answer.latencyMs),
    error: describeAnswer(answer),
    attemptedAt,
  };
  const result = isSuccess
    ? { state: 'delivered' as const, attempt: made }
    : later(deps, claimed, connection, made, answer);
  if (await finish(deps, claimed, connection, result)) deps.counters.attempted(claimed, made.latencyMs, isSuccess);
  if (isSuccess) await deps.breaker.succeeded(connection);
  else if (answer.status === 410) await deps.breaker.disable(connection, 'The destination answered 410 Gone');
  else await deps.breaker.failed(connection, made.error ?? 'The destination failed');
}

// A destination that is being probed gets one at a time.
export const concurrencyOf = ({ breaker, maxConcurrency }: Connection): number =>
  breaker === 'closed' ? maxConcurrency : 1;

const hopeless: ReadonlySet<string> = new Set(['invalid_url', 'invalid_request', 'blocked_port']);

// Whether and when there is another attempt.
function later(
  { clock, random }: RunDeps,
  claimed: Delivery,
  connection: Connection,
  made: NonNullable<Result['attempt']>,
  answer?: OutboundResult,
): Result {
  const over = (error = made.error): Result => ({ state: 'failed', attempt: made, error });
  if (answer && (answer.ok ? answer.status === 410 : hopeless.has(answer.reason))) return over();
  const retry = JSON.parse(connection.retryConfig) as RetryConfig;
  const delayMs = retryDelayMs(retry, claimed.attempts + 1, random);
  if (delayMs === undefined) return over();
  const nowMs = clock.now();
  const asked = answer?.ok ? answer.headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1] : undefined;
  const nextAt = nowMs + politeDelayMs(delayMs, readRetryAfter(asked, nowMs));
  if (nextAt >= claimed.expiresAt * 1000) return over(`${made.error}; the event would be gone before the next attempt`);
  return { state: 'retrying', attempt: made, error: made.error, nextAt };
}

// Writes the result, counts it, and lets those know who wait for it. False when the claim was lost.
async function finish(
  deps: RunDeps,
  claimed: Delivery,
  connection: Connection | undefined,
  result: Result,
): Promise<boolean> {
  const written = await writeResult(deps, claimed, result);
  if (!written) {
    deps.log.debug({ event_id: claimed.eventId, connection_id: claimed.connectionId }, 'a result came too late');
    return false;
  }
  if (written.moved) deps.counters.moved(claimed, claimed.receivedAt, written.moved.from, written.moved.to);
  if (connection && result.attempt && result.state !== 'retrying')
    deps.counters.finished(claimed, result.state === 'delivered');
  if (written.next) deps.intake.offer(written.next);
  return true;
}
