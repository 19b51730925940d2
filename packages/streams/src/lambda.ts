import { type Logger, systemClock, systemRandom } from '@stak/kit';
import { readChange } from './change.ts';
import * as limits from './limits.ts';
import { handlePage } from './page.ts';
import { recordFromJson } from './record-json.ts';
import type { StreamRecord } from './source.ts';
import { type HandlerContext, handleOne, type Subscription, subscribe } from './subscription.ts';

export type LambdaEvent = { Records: StreamRecord[] };
export type LambdaAnswer = { batchItemFailures: { itemIdentifier: string }[] };
type LambdaContext = { getRemainingTimeInMillis?(): number };

// The subscription as a Lambda function for an event source mapping with ReportBatchItemFailures. Lambda keeps the
// checkpoints, repeats from the record that is named, and sets aside by the mapping's own settings.
export function toLambda(
  subscription: Subscription,
  { log }: { log: Logger },
): (event: LambdaEvent, lambda?: LambdaContext) => Promise<LambdaAnswer> {
  const { name, concurrency = limits.concurrency } = subscribe(subscription);

  return async (event, lambda) => {
    const records = event.Records.map(recordFromJson);
    const over = new AbortController();
    const context: HandlerContext = { consumer: name, attempt: 1, signal: over.signal };
    const hasTime = () => (lambda?.getRemainingTimeInMillis?.() ?? Infinity) > limits.lambdaReserveMs;
    if (subscription.handleBatch && (await handleWhole(subscription, records, context, log)))
      return { batchItemFailures: [] };

    const done = await handlePage(records, {
      attempts: 1,
      concurrency,
      clock: systemClock,
      random: systemRandom,
      signal: over.signal,
      mayGoOn: () => !over.signal.aborted && hasTime(),
      async handle(record) {
        try {
          await handleOne(subscription, record, context);
        } catch (error) {
          log.error({ err: error, consumer: name, eventId: record.eventID }, 'record failed');
          // Everything from here on comes again, so nothing after it is begun.
          over.abort();
          throw error;
        }
      },
      setAside: () => Promise.resolve(),
      onRetry: () => {},
    });
    const next = records[done];
    return { batchItemFailures: next ? [{ itemIdentifier: next.dynamodb?.SequenceNumber ?? '' }] : [] };
  };
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
    log.warn({ err: error, consumer: context.consumer }, 'batch failed, going on record by record');
    return false;
  }
}
