import { randomUUID } from 'node:crypto';
import { type Clock, createIds, createLogger, seededRandom, systemClock } from '@stak/kit';
import { toLambda } from '@stak/streams';
import { createStore, type DynamoClient } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { createInbox, type Inbox } from '../../src/index.ts';
import { inboxConfig } from '../../src/tables.ts';
import { type EngineKind, openBackend, type StreamRecords } from './backend.ts';
import { type Input, withFaults } from './faults.ts';
import type { Policy } from './model.ts';

export type Sabotage = (input: Input) => Input;
export type Fixture = Awaited<ReturnType<typeof openFixture>>;

const silent = createLogger({ level: 'silent' });
const startMs = Date.UTC(2026, 0, 1);

type Settings = {
  engine: EngineKind;
  policy: Policy;
  recipientsTogether: number;
  sabotage?: Sabotage;
  faults?: Partial<Parameters<typeof createAdversary>[1]>; // of an adversary, besides the usual ones
};

// An inbox in two processes, which share nothing but the table. The test moves the time.
export async function openFixture({ engine, policy, recipientsTogether, sabotage, faults: more }: Settings) {
  let nowMs = startMs;
  const clock: Clock = {
    ...systemClock,
    now: () => nowMs,
    sleep: () => new Promise(resolve => setImmediate(resolve)),
  };
  const backend = await openBackend(engine, startMs);
  const { client } = backend;
  const faults = withFaults(client, sabotage);
  const random = seededRandom(Number(process.env.STAK_ADVERSARY_SEED) || 1);
  const settings = { ...passingFaults, staleIndexes: 0.3, clock, random, ...more };
  const adversary = engine === 'adversary' ? createAdversary(faults.client, settings) : undefined;
  const serving = adversary ?? faults.client;
  const openProcess = (seed: number) => processOf(serving, clock, seed, recipientsTogether);
  const processes: [Inbox, Inbox] = [openProcess(1), openProcess(2)];
  // A table at an address stays from one history to the next. Elsewhere the same seed gives the same keys.
  const tenant_key = engine.startsWith('http') ? randomUUID() : 'acme';
  const inboxId = { tenant_key, inbox_key: 'main' };
  const store = createStore({ client, clock });
  const words = { title: 'Main', description: '', ttl: {}, uid: 'usr_1' };
  await store.put(inboxConfig, { ...inboxId, ...words, late_joiners: policy, unique_host_system_ids: true });
  return {
    inboxId,
    client,
    store,
    faults,
    processes,
    clock,
    counts: () => ({ ...adversary?.counts }),
    now: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms;
    },
    sweep: (lagS: number) => backend.sweep(nowMs - lagS * 1000),
    readRecords: backend.readRecords,
    close: backend.close,
  };
}

function processOf(client: DynamoClient, clock: Clock, seed: number, recipientsTogether: number): Inbox {
  const random = seededRandom(seed);
  return createInbox({
    store: createStore({ client, clock, random }),
    clock,
    random,
    ids: createIds({ clock, random: seededRandom(seed * 77) }),
    log: silent,
    recipientsTogether,
  });
}

export async function handleRecords(inbox: Inbox, records: StreamRecords): Promise<void> {
  for (const subscription of inbox.subscriptions) {
    if (subscription.needsConsumer) continue;
    const handle = toLambda(subscription, { log: silent });
    for (const record of records) {
      // Lambda tries again as well: the first failure may be a crash.
      const isHandled = async () => (await handle({ Records: [record] })).batchItemFailures.length === 0;
      if (!(await isHandled()) && !(await isHandled())) throw new Error(`${subscription.name} failed`);
    }
  }
}
