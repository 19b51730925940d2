import { requestRecount } from '@stak/accounts';
import type { Clock } from '@stak/kit';
import { handOver, listConsumers, listShards, readStatus, type StreamSource } from '@stak/streams';
import { type AnyTable, createStore, type DynamoClient, type Store } from '@stak/table';
import { countCheckpoint, ferryhookEvents } from '@stak/webhooks';
import { UsageError } from '../../config/errors.ts';
import { countedTables } from '../storage.ts';
import type { Migration } from './migrate.ts';
import type { Move, PausableStore } from './move.ts';

// The last step of a migration. All writes to the old store are paused; the remaining changes are written to the new
// one; and then one commit records in the old store that it has moved. Before that commit nothing has happened: the
// pause ends by itself.

export type SwitchOptions = {
  migration: Migration;
  from: { client: DynamoClient; source: StreamSource; embedded: PausableStore };
  to: { client: DynamoClient; source: StreamSource };
  tables: readonly AnyTable[];
  move: Move;
  isServed: boolean;
  pauseMs?: number; // how long writes may be paused; then they continue, whether or not the store has moved
  clock: Clock;
  say(line: string): void;
};

const usualPauseMs = 8_000; // shorter than callers repeat a request
export const longestPauseMs = 10 * 60_000; // callers get 503 all the time
const reserveMs = 500; // for the commit
const attempts = 5;
const lagMs = 5_000; // of consumers, some of which gather changes for a second or two: the rest is handed over
const restMost = 1000; // unhandled changes of a consumer, if no server runs
const consumersMs = 10 * 60_000; // for consumers that are further behind
const lookMs = 500;
const sayMs = 10_000;

// Storage is counted again in the new store.
const isCountedAgain = (consumer: string): boolean => consumer.startsWith('storage-');

/** Returns how long writes were paused. */
export async function switchOver(options: SwitchOptions): Promise<number> {
  const { migration, clock, say, pauseMs = usualPauseMs } = options;
  for (let attempt = 1; ; attempt++) {
    const consumers = await untilConsumersAreClose(options);
    await migration.followCopies();
    const changes = await migration.follow(); // so that little is left
    const startMs = clock.now();
    say(`Switching, attempt ${attempt} of ${attempts}: writes pause for up to ${seconds(pauseMs)}.`);
    const lastMs = startMs + pauseMs - reserveMs;
    try {
      await moveTheRest(options, consumers, lastMs);
      return clock.now() - startMs;
    } catch (error) {
      await options.from.embedded.writePause.end(options.move.id);
      // A late failure may be caused by that.
      if (clock.now() <= lastMs || attempt === attempts) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      say(
        `Writes continue after ${seconds(clock.now() - startMs)}, and the switch is tried again: ${reason}.`,
      );
      say(
        `${changes} changes were made since the last look: with fewer writes, or a longer --pause, it succeeds.`,
      );
    }
  }
}

async function moveTheRest(
  { migration, from, to, tables, move, clock, pauseMs = usualPauseMs }: SwitchOptions,
  consumers: readonly string[],
  lastMs: number,
): Promise<void> {
  let stepMs = clock.now();
  const inTime = (step: string) => {
    const tookMs = clock.now() - stepMs;
    stepMs = clock.now();
    if (stepMs > lastMs)
      throw new UsageError(
        `the pause of writes was over before the store had moved; ${step} took ${seconds(tookMs)}. Nothing was switched: run it again with a longer --pause, such as --pause 30s, or when less is written`,
      );
  };
  const { writePause } = from.embedded;
  await writePause.start(move.id, pauseMs);
  await migration.follow();
  inTime('copying the last changes');
  await migration.requireAlike();
  inTime('comparing the tables');
  const stores = { old: createStore({ client: from.client }), new: createStore({ client: to.client }) };
  const streamed = tables.filter(({ stream }) => stream !== undefined);
  const namers = new Map<string, (shardId: string) => string>();
  for (const { name } of streamed) {
    const taken = new Set((await listShards(to.source, name)).map(({ shardId }) => shardId));
    // State that is keyed by shard names must not be taken for a shard of the new store.
    namers.set(name, shardId => (taken.has(shardId) ? `${shardId}-${move.id}` : shardId));
  }
  await moveCheckpoints(stores, from.source, namers.get(ferryhookEvents.name)!);
  inTime('reading the shards of the new store');
  await migration.followCopies(); // what follows is written to tables without a stream
  const ends = new Map<string, Awaited<ReturnType<Migration['endsOf']>>>();
  for (const table of streamed) ends.set(table.name, await migration.endsOf(table));
  inTime('finding the ends of the streams');
  await Promise.all(
    consumers.map(async consumer => {
      const { table } = await readStatusOf(stores.old, from.source, clock, consumer);
      await handOver(
        {
          from: { store: stores.old, source: from.source },
          to: stores.new,
          shards: ends.get(table) ?? [],
          nameOf: namers.get(table) ?? (shardId => shardId),
          clock,
          withLetters: !isCountedAgain(consumer),
        },
        consumer,
      );
    }),
  );
  inTime('handing over the consumers');
  await Promise.all(countedTables.map(({ name }) => requestRecount(stores.new, clock.now(), name)));
  inTime('requesting the count of storage');
  await writePause.makeFinal(move.id, move);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const readStatusOf = (store: Store, source: StreamSource, clock: Clock, consumer: string) =>
  readStatus({ store, source, clock }, consumer);

// The position up to which events are counted, for those that were handed over.
async function moveCheckpoints(
  stores: { old: Store; new: Store },
  source: StreamSource,
  nameOf: (shardId: string) => string,
): Promise<void> {
  for (const { shardId } of await listShards(source, ferryhookEvents.name)) {
    const checkpoint = await stores.old.get(countCheckpoint, { shard: shardId }, { consistent: true });
    if (checkpoint) await stores.new.put(countCheckpoint, { ...checkpoint, shard: nameOf(shardId) });
  }
}

// Returns the running consumers, as soon as none of them is far behind. A consumer that no longer runs, because this
// version does not have it, is left behind; without a running server, it waits for all of them.
async function untilConsumersAreClose(options: SwitchOptions): Promise<string[]> {
  const { from, isServed, clock, say, migration } = options;
  const store = createStore({ client: from.client });
  const lastMs = clock.now() + consumersMs;
  const names = await listConsumers(store);
  for (let saidMs = clock.now(); ; ) {
    const statuses = await Promise.all(names.map(name => readStatusOf(store, from.source, clock, name)));
    const meant = statuses.filter(({ members }) => members > 0 || !isServed);
    const late = meant.find(
      ({ consumer, shards }) =>
        !isCountedAgain(consumer) && shards.some(({ behind }) => behind && isFar(options, behind)),
    );
    if (!late) return meant.map(({ consumer }) => consumer);
    if (!isServed || clock.now() > lastMs)
      throw new UsageError(
        `${late.consumer} has many changes to handle: start the server, and wait until stak streams status says that it is up to date`,
      );
    if (clock.now() - saidMs > sayMs) {
      say(`Waiting for ${late.consumer} to handle what has changed.`);
      saidMs = clock.now();
    }
    await migration.follow();
    await clock.sleep(lookMs);
  }
}

const isFar = (
  { isServed, clock }: SwitchOptions,
  { records, oldestAt }: { records: number; oldestAt?: string },
): boolean =>
  isServed ? oldestAt !== undefined && clock.now() - Date.parse(oldestAt) > lagMs : records >= restMost;
