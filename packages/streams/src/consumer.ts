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
import { type Counters, createCounters } from './counters.ts';
import { createDeadLetters } from './dead-letters.ts';
import * as limits from './limits.ts';
import { requestRedrive } from './redrive.ts';
import { runConsumer } from './run.ts';
import type { Alarm } from './shard-task.ts';
import type { StreamSource } from './source.ts';
import { type ConsumerStatus, readStatus } from './status.ts';
import { type Subscription, subscribe } from './subscription.ts';
import { createWorkStore } from './work.ts';

/** Options of `createConsumer`. */
export type ConsumerOptions = {
  subscription: Subscription;
  source: StreamSource;
  // For the table `stak-streams`, where the consumer's state is kept.
  client: DynamoClient;
  log: Logger;
  clock?: Clock;
  random?: Random;
  // Tells which owners are gone; without it a lease has to run out.
  owners?: Owners;
  // How long a shard waits for its owner after a crash, where nobody can tell that it is gone.
  leaseMs?: number;
  // How long a place in a shard may go unwritten, and so be repeated after a crash. Unless given, every page of
  // records is written down.
  checkpointMs?: number;
  // A Lambda function reads the stream (see `toLambda`): here its dead letters are redriven, and nothing else.
  isElsewhere?: boolean;
  // Told when records were lost because nobody read them in time, and when one is set aside.
  onAlarm?(alarm: Alarm): void;
};

/** A consumer of a stream, to be run by `superviseWorkers` or with a signal. Made with `createConsumer`. */
export type Consumer = Worker & {
  counters(): Counters;
  shards(): number; // that this process reads now
  status(): Promise<ConsumerStatus>;
  // Dead letters are handled once more, by whichever process runs the consumer.
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
  const leaseMs = options.leaseMs ?? (owners.canTell ? limits.leaseOfKnownMs : limits.leaseMs);

  return {
    name: `stream ${consumer}`,
    run(signal) {
      // Every run is an owner of its own: what an earlier one of this process left behind is not its.
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
