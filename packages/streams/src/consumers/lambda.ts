import assert from 'node:assert';
import { type Clock, type Logger, type Random, systemClock, systemRandom } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import * as limits from '../limits.ts';
import { readChange } from '../source/change.ts';
import { recordFromJson } from '../source/record-json.ts';
import type { StreamRecord } from '../source/source.ts';
import { createDeadLetters } from '../work/dead-letters.ts';
import { handlePage } from '../work/handle-page.ts';
import {
  concerns,
  type HandlerContext,
  handleOne,
  type Subscription,
  subscribe,
} from '../work/subscription.ts';

/** An event source mapping sends this to a Lambda function. */
export type LambdaEvent = { Records: StreamRecord[] };
/** Lambda expects this with `ReportBatchItemFailures`: it names the first record to retry. */
export type LambdaAnswer = { batchItemFailures: { itemIdentifier: string }[] };
type LambdaContext = { getRemainingTimeInMillis?(): number };

/** Options of `toLambda`. */
export type LambdaOptions = {
  log: Logger;
  /**
   * For the table `stak-streams`. With it, a failed record is retried as in a consumer and then stored as a dead
   * letter. Without it, Lambda retries from that record on and follows the settings of the event source mapping.
   */
  client?: DynamoClient;
  clock?: Clock;
  random?: Random;
};

/**
 * A subscription as a Lambda function, for an event source mapping with `ReportBatchItemFailures`. Lambda keeps the
 * checkpoints.
 *
 *     export const handler = toLambda(realtime, { log, client });
 */
export function toLambda(
  subscription: Subscription,
  options: LambdaOptions,
): (event: LambdaEvent, lambda?: LambdaContext) => Promise<LambdaAnswer> {
  const { log, client, clock = systemClock, random = systemRandom } = options;
  const { name, concurrency = limits.concurrency, needsConsumer = false } = subscribe(subscription);
  assert(!needsConsumer, `${name} runs in a consumer only, not in Lambda`);
  const letters =
    client && createDeadLetters({ store: createStore({ client, clock, random }), clock, consumer: name });
  const attempts = letters ? (subscription.attempts ?? limits.attempts) : 1;

  return async (event, lambda) => {
    const records = eachOnce(event.Records).map(recordFromJson);
    const over = new AbortController();
    const contextOf = (attempt: number): HandlerContext => ({ consumer: name, attempt, signal: over.signal });
    const leftMs = () => (lambda?.getRemainingTimeInMillis?.() ?? Infinity) - limits.lambdaReserveMs;
    const stopClock = endBefore(leftMs(), clock, over);
    try {
      if (subscription.handleBatch && (await handleWhole(subscription, records, contextOf(1), log)))
        return { batchItemFailures: [] };
      const done = await handlePage(records, {
        attempts,
        concurrency,
        clock,
        random,
        signal: over.signal,
        concerns: record => concerns(subscription, record),
        canContinue: () => !over.signal.aborted && leftMs() > 0,
        async handle(record, attempt) {
          try {
            await handleOne(subscription, record, contextOf(attempt));
          } catch (error) {
            log.warn({ err: error, consumer: name, eventId: record.eventID, attempt }, 'record failed');
            // Lambda sends this record and everything after it again, so no other record is started.
            if (!letters) over.abort();
            throw error;
          }
        },
        async setAside(record, error, tried) {
          await letters?.keepOfLambda(record, error, tried);
          log.error(
            { err: error, consumer: name, eventId: record.eventID, attempts: tried },
            'record set aside',
          );
        },
        onRetry: () => {},
      });
      const next = records[done];
      return { batchItemFailures: next ? [{ itemIdentifier: next.dynamodb?.SequenceNumber ?? '' }] : [] };
    } finally {
      stopClock();
    }
  };
}

// A stream may repeat a record in a batch. Batches need not be of one shard, so the order of sequence numbers does not
// show it.
function eachOnce(records: readonly StreamRecord[]): StreamRecord[] {
  const seen = new Set<string>();
  return records.filter(({ eventID, dynamodb }) => {
    const name = `${eventID} ${dynamodb?.SequenceNumber}`;
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  });
}

// If a function runs out of time, Lambda treats the whole batch as failed, so running handlers are stopped before that.
function endBefore(leftMs: number, clock: Clock, over: AbortController): () => void {
  if (!Number.isFinite(leftMs)) return () => {};
  return clock.after(Math.max(0, leftMs), () => over.abort());
}

async function handleWhole(
  subscription: Subscription,
  records: readonly StreamRecord[],
  context: HandlerContext,
  log: Logger,
): Promise<boolean> {
  try {
    const changes = records.map(record => readChange(subscription.entities, record));
    await subscription.handleBatch!(changes, context);
    return true;
  } catch (error) {
    log.warn({ err: error, consumer: context.consumer }, 'batch failed, continuing record by record');
    return false;
  }
}
