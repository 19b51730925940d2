import type { Clock, Logger, Owners } from '@stak/kit';
import { createConsumer, createDeadLetterWatch, createMissedWatch, type Subscription } from '@stak/streams';
import type { Store } from '@stak/table';
import type { ServerConfig } from '../config/config.ts';
import { UsageError } from '../config/errors.ts';
import type { Database } from '../store/database.ts';
import type { Services } from './compose.ts';

export const checkpointMs = 1000; // of a stream: what a crash repeats, for one write a second instead of one per change

// The consumers of the tables' streams, and the followers of every process.
export function createConsumers(
  database: Database,
  config: ServerConfig,
  services: Services,
  { store, owners, clock, log }: { store: Store; owners: Owners; clock: Clock; log: Logger },
) {
  const { source } = database;
  const { all } = services;
  const followers = all
    .flatMap(service => service.followers ?? [])
    .filter(({ skipIfPolled }) => source.waitForChange !== undefined || !skipIfPolled);
  const subscriptions = all.flatMap(service => service.subscriptions);
  checkLambdaConsumers(config, subscriptions);
  const letters = createDeadLetterWatch({
    store,
    clock,
    log,
    consumers: [...subscriptions, ...services.lakeConsumers].map(({ name }) => name),
  });
  const missed = createMissedWatch({ store, clock, log });
  const consumers = subscriptions.map(subscription =>
    createConsumer({
      subscription,
      source: database.source,
      client: database.client,
      owners,
      log,
      clock,
      checkpointMs,
      isElsewhere: config.lambdaConsumers.includes(subscription.name),
      onAlarm: ({ kind }) => (kind === 'set_aside' ? letters : missed).note(),
    }),
  );
  const states = () =>
    consumers.map(({ name, counters, shards }) => ({ name, counters: counters(), shards: shards() }));
  return { consumers, followers, letters, missed, states };
}

// The effects of a consumer that does not run would be lost, so a wrong name is an error.
function checkLambdaConsumers(
  { lambdaConsumers, store }: ServerConfig,
  subscriptions: readonly Subscription[],
): void {
  if (lambdaConsumers.length > 0 && store.kind !== 'aws')
    throw new UsageError(
      'STAK_LAMBDA_CONSUMERS needs STAK_STORE=aws: Lambda functions cannot follow a folder',
    );
  const able = subscriptions.filter(({ needsConsumer }) => !needsConsumer).map(({ name }) => name);
  const unable = lambdaConsumers.find(name => !able.includes(name));
  if (unable !== undefined)
    throw new UsageError(
      `STAK_LAMBDA_CONSUMERS: "${unable}" does not run in Lambda; these do: ${able.sort().join(', ')}`,
    );
}
