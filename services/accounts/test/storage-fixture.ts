import { createEngine } from '@stak/engine';
import { createIds, createLogger, manualClock, manualOwners, type Random, systemClock } from '@stak/kit';
import { createCatchUp, engineSource, type Subscription, type UnknownChange } from '@stak/streams';
import {
  type Attributes,
  createStore,
  createTables,
  type DynamoClient,
  defineTable,
  entity,
  itemBytes,
  ownedByItem,
  ownedByKey,
  ownedByNobody,
} from '@stak/table';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { createStorage, type PlanName, type Storage, storageTable } from '../src/index.ts';

export const notes = defineTable({
  name: 'notes',
  keys: { partition: 'pk', sort: 'sk' },
  ttl: 'ends_at',
  stream: 'NEW_AND_OLD_IMAGES',
});
export const note = entity(notes, {
  name: 'note',
  schema: z.object({ user: z.string(), id: z.string(), text: z.string(), ends_at: z.number().optional() }),
  key: { partition: 'USER#{user}', sort: 'NOTE#{id}' },
});
export const shared = entity(notes, {
  name: 'shared note',
  schema: z.object({ team: z.string(), id: z.string(), text: z.string() }),
  key: { partition: 'TEAM#{team}', sort: 'NOTE#{id}' },
});
export const lock = entity(notes, {
  name: 'lock',
  schema: z.object({ name: z.string(), user: z.string().optional() }),
  key: { partition: 'LOCK#{name}', sort: 'LOCK' },
});
export const own = entity(notes, {
  name: 'own',
  schema: z.object({ name: z.string(), text: z.string() }),
  key: { partition: 'OWN', sort: '{name}' },
});

export const owners = [
  ownedByKey(note, ({ user }) => ({ kind: 'account', id: user }) as const),
  ownedByKey(shared, ({ team }) => ({ kind: 'tenant', id: team }) as const),
  ownedByItem(lock, ({ user }) =>
    user === undefined ? undefined : ({ kind: 'account', id: user } as const),
  ),
  ownedByNobody(own),
];

export const teams = new Map([
  ['red', 'ann'],
  ['blue', 'ann'],
  ['green', 'bob'],
]);

type Options = {
  limit?: number | null;
  tables?: readonly (typeof notes)[];
  // The stream is elsewhere, and does not say how far it is. What it is waited for ends when this resolves.
  settles?: () => Promise<void>;
};

export async function open({ limit = 1_000_000, tables = [notes], settles }: Options = {}) {
  const clock = manualClock();
  const engine = await createEngine({ path: ':memory:', clock, sweepIntervalMs: 0 });
  onTestFinished(() => engine.close());
  await createTables(engine, [...tables, storageTable]);
  const store = createStore({ client: engine.client, clock });
  const { position: _, waitForChange: __, ...polled } = engineSource(engine);
  const source = settles ? polled : engineSource(engine);
  const notices: { accountId: string; percent: number }[] = [];
  // A process of its own, with what it remembers. Nobody waits for a manual clock.
  const processes = manualOwners();
  const start = (
    client: DynamoClient = engine.client,
    known = teams,
    declared = owners,
    name = 'here',
  ): Storage =>
    createStorage({
      store: createStore({ client, clock: { now: clock.now, sleep } }),
      client,
      source,
      clock: { now: clock.now, sleep: settles ? settlingSleep(settles) : sleep, after: systemClock.after },
      ids: createIds({ clock }),
      owners: processes.as(name),
      log: createLogger({ level: 'silent' }),
      tables,
      services: [{ service: 'notes', owners: declared }],
      accountOf: { tenant: async id => known.get(id) },
      planOf: async (): Promise<PlanName> => 'free',
      limitOf: () => limit,
      notify: async ({ accountId, percent }) => void notices.push({ accountId, percent }),
    });
  const recount = (storage: Storage) => storage.countWhereNeeded(new AbortController().signal);
  const stream = createCatchUp({ source, table: notes.name }, new Map());
  const changes: UnknownChange[] = [];
  const readStream = () => stream.read(change => changes.push(change));
  const shardId = async () => [...stream.reached().keys()][0]!;
  const deliver = async (storage: Storage, some: readonly UnknownChange[]) => {
    if (some.length > 0) await handle(storage.subscriptions[0]!, some, await shardId());
  };
  const deliverAll = async (storage: Storage) => {
    await readStream();
    await deliver(storage, changes);
  };
  return {
    engine,
    clock,
    store,
    processes,
    start,
    notices,
    recount,
    changes,
    readStream,
    deliver,
    deliverAll,
  };
}

const settlingSleep = (settles: () => Promise<void>) => (ms: number, signal?: AbortSignal) =>
  ms === 3000 ? settles() : sleep(ms, signal);

// Short waits are over at once, long ones when nobody needs them any more.
const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
    if (ms <= 3000) setImmediate(resolve);
  });

const handle = async (subscription: Subscription, changes: readonly UnknownChange[], shardId: string) => {
  const context = { consumer: subscription.name, shardId, attempt: 1, signal: new AbortController().signal };
  await subscription.handleBatch!(changes as never, context);
};

// Counts by a scan what an account stores.
export async function scanned({ engine }: Fixture, account: string) {
  const { Items = [] } = await engine.client.scan({ TableName: notes.name });
  const ofAccount = (item: Attributes) => {
    const [kind, id] = String(item.pk).split('#');
    if (kind === 'USER') return id === account;
    if (kind === 'TEAM') return teams.get(id!) === account;
    return kind === 'LOCK' && item.user === account;
  };
  const mine = Items.filter(ofAccount);
  return { bytes: mine.reduce((sum, item) => sum + itemBytes(item), 0), items: mine.length };
}

export const counted = async (storage: Storage, account: string) => {
  const { bytes, items } = await storage.read(account);
  return { bytes, items };
};

export type Fixture = Awaited<ReturnType<typeof open>>;

export async function writeSomething({ store, clock }: Fixture, random: Random): Promise<void> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const id = String(Math.floor(random() * 12));
  const text = 'ä'.repeat(Math.floor(random() * 300));
  const user = pick(['ann', 'bob']);
  const team = pick([...teams.keys()]);
  await pick([
    () => store.put(note, { user, id, text }),
    () => store.put(note, { user, id, text, ends_at: Math.floor(clock.now() / 1000) + 60 }),
    () => store.delete(note, { user, id }),
    () => store.put(shared, { team, id, text }),
    () => store.delete(shared, { team, id }),
    () => store.put(lock, random() < 0.3 ? { name: id } : { name: id, user }),
    () => store.delete(lock, { name: id }),
    () => store.put(own, { name: id, text }),
  ])();
}
