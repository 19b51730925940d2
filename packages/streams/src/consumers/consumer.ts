import {
  type Clock,
  createIds,
  createNotifier,
  type Logger,
  type Owners,
  type Random,
  systemClock,
  systemRandom,
  unknownOwners,
  type Worker,
} from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import * as limits from '../limits.ts';
import type { StreamSource } from '../source/source.ts';
import { type Counters, createCounters } from '../work/counters.ts';
import { createDeadLetters } from '../work/dead-letters.ts';
import { requestRedrive } from '../work/redrive.ts';
import { runConsumer } from '../work/run-consumer.ts';
import type { Alarm } from '../work/shard-task.ts';
import { type Subscription, subscribe } from '../work/subscription.ts';
import { createWorkStore } from '../work/work-store.ts';
import { type ConsumerStatus, readStatus } from './status.ts';

/** Options of `createConsumer`. */
export type ConsumerOptions = {
  subscription: Subscription;
  source: StreamSource;
  // For the table `stak-streams`, which holds the consumer's state.
  client: DynamoClient;
  log: Logger;
  clock?: Clock;
  random?: Random;
  // Detects which owners are gone. Without it, other processes wait until a lease expires.
  owners?: Owners;
  // How long a shard waits after its owner crashed, if `owners` cannot detect that.
  leaseMs?: number;
  // The longest time between two checkpoints of a shard, and so what a crash repeats. By default, every page of records
  // is checkpointed.
  checkpointMs?: number;
  // A Lambda function reads the stream (see `toLambda`), and this consumer only redrives its dead letters.
  isElsewhere?: boolean;
  // Called when records were removed before they were read, and when a record becomes a dead letter.
  onAlarm?(alarm: Alarm): void;
};

/** A consumer of a stream, to be run by `superviseWorkers` or with a signal. Made with `createConsumer`. */
export type Consumer = Worker & {
  counters(): Counters;
  shards(): number; // shards that this process reads now
  status(): Promise<ConsumerStatus>;
  // Handles the dead letters once more, in any process that runs the consumer.
  redrive(): Promise<void>;
};

/**
 * Handles every change of a table, in order for each item, at least once. Any number of processes may run the same
 * consumer: they share its shards.
 *
 *     const consumer = createConsumer({ subscription, source: engineSource(engine), client: engine.client, log });
 *     await consumer.run(signal);
 */
export function createConsumer(options: ConsumerOptions): Consumer {
  const { source, client, clock = systemClock, random = systemRandom } = options;
  const subscription = subscribe(options.subscription);
  const consumer = subscription.name;
  const store = createStore({ client, clock, random });
  const log = options.log.child({ consumer });
  const counters = createCounters();
  const held = new Set<string>();
  const wake = createNotifier(clock);
  const owners = options.owners ?? unknownOwners(createIds({ clock, random }));
  const leaseMs = options.leaseMs ?? (owners.canDetect ? limits.leaseOfKnownMs : limits.leaseMs);

  return {
    name: `stream ${consumer}`,
    run(signal) {
      // Each run is a separate owner: leases of an earlier run of this process are not its own.
      const works = createWorkStore({
        store,
        clock,
        consumer,
        owner: owners.next(),
        node: source.shared?.id,
        leaseMs,
      });
      const letters = createDeadLetters({ store, clock, consumer });
      const { onAlarm = () => {}, checkpointMs = 0, isElsewhere = false } = options;
      return runConsumer(
        {
          subscription,
          source,
          works,
          letters,
          clock,
          random,
          log,
          counters,
          onAlarm,
          checkpointMs,
          leaseMs,
          owners,
          isElsewhere,
          wake,
          held,
        },
        signal,
      );
    },
    counters: () => ({ ...counters }),
    shards: () => held.size,
    status: () => readStatus({ store, source, clock }, consumer),
    async redrive() {
      await requestRedrive(store, clock, consumer);
      wake.notify();
    },
  };
}
