import { cutText, markWork } from '@stak/kit';
import type { OutboundResult } from '@stak/outbound';
import type { Breaker } from './breaker.ts';
import type { Config } from './config.ts';
import type { Counters } from './counters.ts';
import { claimDelivery, holdDelivery, postponeDelivery, readRequest } from './deliveries.ts';
import { type Result, writeResult } from './delivery-result.ts';
import type { Base } from './deps.ts';
import type { Report } from './dispatcher.ts';
import { type Delivery, delivery } from './events-table.ts';
import type { HookRequest } from './filters/request-view.ts';
import type { DeliveryRef, Intake } from './intake.ts';
import * as limits from './limits.ts';
import { isFirst } from './line.ts';
import { unlessLost } from './lost-write.ts';
import type { Connection } from './main-table.ts';
import {
  describeAnswer,
  isDelivered,
  type Outgoing,
  type PipelineDeps,
  prepare,
  responseText,
  send,
} from './pipeline.ts';
import { takeRate } from './rate.ts';
import { keepHeld, keepOwed, keptForAttempt } from './retention.ts';
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
  const { store, clock } = deps;
  const due = await claimDelivery(store, ref, owner, clock.now());
  const claimed = due && (await keepClaimed(deps, due));
  if (!claimed) return {};
  if (claimed.queueId !== undefined && !(await isFirst(deps, claimed))) return {};
  const found = await findConfig(deps, claimed);
  if (!found) {
    await finish(deps, claimed, { state: 'cancelled', error: 'The connection was deleted' });
    return {};
  }
  const { source, connection } = found;
  if (source.status !== 'active' || connection.status !== 'active' || connection.breaker === 'open') {
    if (connection.breaker === 'open') await deps.intake.ensureArmed(connection);
    const { version } = claimed;
    await holdDelivery(store, claimed, clock.now(), { expiresAt: await keepHeld(deps, claimed), version });
    return {};
  }
  if (connection.ratePerSecond !== undefined) {
    const waitMs = await takeRate(deps, connection.connectionId, connection.ratePerSecond);
    if (waitMs > 0) {
      await postponeDelivery(store, claimed, clock.now() + waitMs);
      return { waitMs };
    }
  }
  const request = await readRequest(store, claimed.eventId);
  if (request) return attemptDelivery(deps, claimed, connection, request, signal);
  await unlessLost(store.delete(delivery, claimed, { ifVersion: claimed.version })); // its event is gone
  return {};
}

// Whatever it has waited for: it is not to expire while it is worked on, or while it waits once more.
async function keepClaimed(deps: RunDeps, claimed: Delivery): Promise<Delivery | undefined> {
  const expiresAt = await keepOwed(deps, claimed, keptForAttempt(deps.clock.now(), claimed.expiresAt));
  if (expiresAt === claimed.expiresAt) return claimed;
  const { eventId, connectionId, run, version } = claimed;
  const key = { eventId, connectionId, run };
  return unlessLost(deps.store.update(delivery, key, { set: { expiresAt } }, { ifVersion: version }));
}

// What this process remembers may be older than the delivery: before anything is cancelled, it looks again.
async function findConfig({ config }: RunDeps, { sourceId, userId, connectionId }: Delivery) {
  for (const look of [config.of, config.fresh]) {
    const known = await look(sourceId, userId);
    const connection = known?.connections.find(one => one.connectionId === connectionId);
    if (connection) return { source: known!.source, connection };
  }
  return undefined;
}

const unsent: ReadonlySet<string> = new Set(['aborted', 'closed', 'busy']);

// One attempt at what is claimed: filter, transform, sign, send, and write what came of it.
export async function attemptDelivery(
  deps: RunDeps,
  claimed: Delivery,
  connection: Connection,
  request: HookRequest,
  signal: AbortSignal,
): Promise<Report> {
  markWork('webhook delivery', connection.connectionId);
  const attemptedAt = deps.clock.now();
  const shaped = await shape(deps, claimed, connection, request);
  if (shaped === undefined) {
    await finish(deps, claimed, { state: 'filtered' });
    return {};
  }
  if (shaped === 'busy') {
    await postponeDelivery(deps.store, claimed, deps.clock.now() + limits.busyMs);
    return { waitMs: limits.busyMs };
  }
  if ('error' in shaped) {
    const { destinationUrl } = connection;
    const made = { destinationUrl, statusCode: 0, latencyMs: 0, error: shaped.error, attemptedAt };
    await finish(deps, claimed, later(deps, claimed, connection, made));
    return {};
  }
  if ((claimed.dueAt ?? 0) - deps.clock.now() < limits.leaseSpareMs) return {}; // it took too long to get here
  const answer = await send(deps, shaped, signal);
  if (!answer.ok && unsent.has(answer.reason)) return {}; // due again when the lease ends
  await record(deps, claimed, connection, answer, attemptedAt);
  return { latencyMs: answer.latencyMs, concurrency: concurrencyOf(connection) };
}

// Undefined for what this connection does not want; `busy` when its rules could not be run now, which is no fault of
// the connection and costs it no attempt.
async function shape(
  deps: RunDeps,
  claimed: Delivery,
  connection: Connection,
  request: HookRequest,
): Promise<Outgoing | { error: string } | 'busy' | undefined> {
  try {
    const rules = await deps.rules.run(connection, request, { filter: claimed.attempts === 0 });
    if (rules.ok && !rules.shaped) return undefined;
    const outcome = rules.ok ? rules.shaped! : rules;
    if (!outcome.ok && outcome.reason === 'busy') return 'busy';
    if (!outcome.ok)
      return {
        error: cutText(`The transform failed: ${outcome.reason}: ${outcome.message}`, limits.errorChars),
      };
    return outcome.dropped ? undefined : prepare(deps, connection, request, outcome, claimed.eventId);
  } catch (error) {
    // A secret that does not open, a filter of an older version: somebody has to repair it, and the event waits.
    deps.log.error({ err: error, connection_id: connection.connectionId }, 'a connection cannot be used');
    return { error: 'The connection cannot be used as it is' };
  }
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
  if (await finish(deps, claimed, result)) deps.counters.attempted(claimed, made.latencyMs, isSuccess);
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
  const asked = answer?.ok
    ? answer.headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
    : undefined;
  const nextAt = nowMs + politeDelayMs(delayMs, readRetryAfter(asked, nowMs));
  return { state: 'retrying', attempt: made, error: made.error, nextAt };
}

// Writes the result, counts it, and lets those know who wait for it. False when the claim was lost.
async function finish(deps: RunDeps, claimed: Delivery, result: Result): Promise<boolean> {
  const written = await writeResult(deps, claimed, result);
  if (!written) {
    deps.log.debug(
      { event_id: claimed.eventId, connection_id: claimed.connectionId },
      'a result came too late',
    );
    return false;
  }
  if (result.attempt && result.state !== 'retrying')
    deps.counters.finished(claimed, result.state === 'delivered');
  if (written.next) deps.intake.offer(written.next);
  return true;
}
