import { setImmediate } from 'node:timers/promises';
import { createEngine, type Engine, type PartitionUsage } from '@stak/engine';
import { createLogger, type ManualClock, manualClock, seededRandom } from '@stak/kit';
import {
  createStore,
  createTables,
  type DynamoClient,
  defineTable,
  entity,
  type Store,
  write,
} from '@stak/table';
import { expect } from 'vitest';
import { z } from 'zod';
import {
  type Alarm,
  type ChangeOf,
  type Consumer,
  type ConsumerOptions,
  createConsumer,
  engineSource,
  oncePerEvent,
  type StreamSource,
  type Subscription,
  streamsTable,
} from '../src/index.ts';

// A small table with a stream, and another one on which its changes have an effect.

export const notesTable = defineTable({
  name: 'notes',
  keys: { partition: 'pk', sort: 'sk' },
  ttl: 'expires_at',
  stream: 'NEW_AND_OLD_IMAGES',
});
export const note = entity(notesTable, {
  name: 'Note',
  schema: z.object({ id: z.string(), version: z.number(), expires_at: z.number().optional() }),
  key: { partition: 'note#{id}', sort: 'note' },
});
export const comment = entity(notesTable, {
  name: 'Comment',
  schema: z.object({ id: z.string(), author: z.string(), text: z.string() }),
  key: { partition: 'note#{id}', sort: 'comment#{author}' },
});

const mirrorTable = defineTable({ name: 'mirror', keys: { partition: 'pk' } });
export const mirror = entity(mirrorTable, {
  name: 'Mirror',
  schema: z.object({ id: z.string(), versions: z.array(z.number()) }),
  key: { partition: 'mirror#{id}' },
});

export type NoteChange = ChangeOf<typeof note>;
export type Fixture = Awaited<ReturnType<typeof openFixture>>;

export const silent = createLogger({ level: 'silent' });

export async function openFixture({
  shards = 1,
  clock = manualClock(),
  onUsage,
}: {
  shards?: number;
  clock?: ManualClock;
  onUsage?: (usage: PartitionUsage) => void;
} = {}) {
  const engine = await createEngine({
    path: ':memory:',
    clock,
    sweepIntervalMs: 0,
    streamShards: shards,
    ...(onUsage && { onUsage }),
  });
  await createTables(engine, [notesTable, mirrorTable, streamsTable], { clock });
  const { paced, isBusy } = createPace();
  paces.set(clock, isBusy);
  const client: DynamoClient = paced(engine.client);
  const store = createStore({ client, clock });
  const source = paced(engineSource(engine));
  return { engine, clock, client, store, source, paced };
}

// The clock of a test must not run ahead of the disk, or leases would end before they are written. So calls under
// way are counted, and time stands still for them.
function createPace() {
  let underWay = 0;
  const count = (method: (...args: unknown[]) => Promise<unknown>) =>
    async function counted(...args: unknown[]) {
      underWay += 1;
      try {
        return await method(...args);
      } finally {
        underWay -= 1;
      }
    };
  const paced = <T extends object>(port: T): T => {
    const entries = Object.entries(port).map(([name, method]) =>
      uncounted.includes(name) ? [name, method] : [name, count(method)],
    );
    return Object.fromEntries(entries) as T;
  };
  return { paced, isBusy: () => underWay > 0 };
}

const uncounted = ['position', 'newest', 'waitForChange', 'close', 'shared'];
const paces = new WeakMap<ManualClock, () => boolean>();

async function tick(clock: ManualClock, ms: number): Promise<void> {
  do await setImmediate();
  while (paces.get(clock)?.());
  await clock.advance(ms);
}

const versions = new WeakMap<Engine, Map<string, number>>();

// The next version of a note: 1, 2, 3 and so on.
export async function writeNote({ engine, store }: Fixture, id: string): Promise<void> {
  const counts = versions.get(engine) ?? new Map<string, number>();
  versions.set(engine, counts);
  const version = (counts.get(id) ?? 0) + 1;
  counts.set(id, version);
  await store.put(note, { id, version });
}

export async function writeNotes(fixture: Fixture, ids: readonly string[], rounds = 1): Promise<void> {
  for (let round = 0; round < rounds; round++) for (const id of ids) await writeNote(fixture, id);
}

// Every version of every note has arrived at every consumer, once, in its order.
export async function expectMirrored({ engine, store }: Fixture, consumers = ['mirror']): Promise<void> {
  for (const consumer of consumers)
    for (const [note, count] of versions.get(engine) ?? []) {
      const id = mirrorId(consumer, note);
      const found = await store.get(mirror, { id }, { consistent: true });
      expect([id, found?.versions ?? []]).toEqual([id, Array.from({ length: count }, (_, i) => i + 1)]);
    }
}

export async function isMirrored({ engine, store }: Fixture, consumers = ['mirror']): Promise<boolean> {
  for (const consumer of consumers)
    for (const [note, count] of versions.get(engine) ?? []) {
      const found = await store.get(mirror, { id: mirrorId(consumer, note) }, { consistent: true });
      if ((found?.versions.length ?? 0) < count) return false;
    }
  return true;
}

const mirrorId = (consumer: string, note: string): string =>
  consumer === 'mirror' ? note : `${consumer} ${note}`;

const mirrorNote = (store: Store, clock: ManualClock, consumer: string) =>
  oncePerEvent(
    { store, clock },
    (change: NoteChange) =>
      change.new && {
        'mirror the note': write.update(
          mirror,
          { id: mirrorId(consumer, change.new.id) },
          { append: { versions: [change.new.version] } },
          { upsert: true },
        ),
      },
  );

export const mirroring = (
  { store, clock }: Pick<Fixture, 'store' | 'clock'>,
  more: Partial<Subscription<typeof note>> = {},
): Subscription<typeof note> => ({
  name: 'mirror',
  table: notesTable,
  entities: [note],
  handle: mirrorNote(store, clock, more.name ?? 'mirror'),
  ...more,
});

// A source as AWS is one: nobody is woken, and what it is asked is counted by shard.
export function pollable(fixture: Fixture) {
  const { waitForChange: _wait, position: _position, newest: _newest, ...source } = fixture.source;
  const shardOf = new Map<string, string>();
  const reads: { shard: string; atMs: number }[] = [];
  const polled: StreamSource = {
    ...source,
    async getShardIterator(input) {
      const answer = await source.getShardIterator(input);
      shardOf.set(answer.ShardIterator!, input.ShardId);
      return answer;
    },
    async getRecords(input) {
      const shard = shardOf.get(input.ShardIterator)!;
      reads.push({ shard, atMs: fixture.clock.now() });
      const answer = await source.getRecords(input);
      if (answer.NextShardIterator) shardOf.set(answer.NextShardIterator, shard);
      return answer;
    },
  };
  return { polled, reads };
}

type Options = Partial<ConsumerOptions> & Pick<ConsumerOptions, 'subscription'>;

export type Running = Consumer & { alarms: Alarm[]; stop(): Promise<void>; ended: Promise<void> };

let started = 0;

// A consumer that runs until it is stopped. Each has random numbers of its own, or two processes would have one name.
export function startConsumer(fixture: Fixture, options: Options): Running {
  const alarms: Alarm[] = [];
  const consumer = createConsumer({
    source: fixture.source,
    client: fixture.client,
    clock: fixture.clock,
    random: seededRandom(++started),
    log: silent,
    onAlarm: alarm => alarms.push(alarm),
    ...options,
  });
  const stopping = new AbortController();
  const ended = consumer.run(stopping.signal);
  ended.catch(() => {}); // a test that cares awaits it
  return {
    ...consumer,
    alarms,
    ended,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

// Lets everything go on, and time with it, until the condition holds. Time stands still with `stepMs: 0`.
export async function until(
  clock: ManualClock,
  holds: () => boolean | Promise<boolean>,
  { stepMs = 50, steps = 20_000 } = {},
): Promise<void> {
  for (let step = 0; step < steps; step++) {
    if (await holds()) return;
    await tick(clock, stepMs);
  }
  throw new Error('this never came to hold');
}

// As much time as this, in steps so small that everything due in it is also done in it.
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 20) await tick(clock, 20);
}

export const everyone = async (consumers: readonly Running[]): Promise<void> =>
  void (await Promise.all(consumers.map(consumer => consumer.stop())));
