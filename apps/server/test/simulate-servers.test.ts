import { setImmediate } from 'node:timers/promises';
import { createEngine } from '@stak/engine';
import { createIds, createLogger, manualClock, manualOwners, superviseWorkers } from '@stak/kit';
import { createConsumer, engineSource, type StreamSource } from '@stak/streams';
import { createStore, createTables, defineTable, entity } from '@stak/table';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { looksOf } from '../src/cli/simulate/background.ts';
import { createPresence, serverStreamsTable, servingProcess } from '../src/store/presence.ts';

// Counts what one of many servers reads of all the others, beside what `stak simulate` says.

const consumer = 'webhooks-attempts';
const table = defineTable({ name: 'notes', keys: { partition: 'pk' }, stream: 'NEW_AND_OLD_IMAGES' });
const note = entity(table, {
  name: 'note',
  schema: z.object({ id: z.string() }),
  key: { partition: '{id}' },
});

async function openStore() {
  let reads = 0;
  const clock = manualClock();
  const engine = await createEngine({
    path: ':memory:',
    clock,
    sweepIntervalMs: 0,
    onUsage: ({ table: name, kind, units }) => {
      if (name === serverStreamsTable.name && kind === 'read') reads += units;
    },
  });
  onTestFinished(() => engine.close());
  await createTables(engine, [table, serverStreamsTable], { clock });
  const log = createLogger({ level: 'silent' });
  const store = createStore({ client: engine.client, clock });
  const ids = createIds({ clock });
  // The store in memory answers within a turn of the event loop or two; time stands still for it.
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 250) {
      for (let i = 0; i < 8; i++) await setImmediate();
      await clock.advance(Math.min(left, 250));
    }
  };
  const readsOf = async (ms: number): Promise<number> => {
    reads = 0;
    await pass(ms);
    return reads / (ms / 1000);
  };
  return { engine, clock, log, store, ids, pass, readsOf };
}

const foreverMs = 10 * 365 * 86_400_000;
const expectAbout = (found: number, said: number): void => {
  expect(found).toBeGreaterThan(said * 0.8);
  expect(found).toBeLessThan(said * 1.2);
};

test.each([1, 100, 1000])('each of %d servers reads the reports of all', async servers => {
  const { clock, log, store, ids, pass, readsOf } = await openStore();
  const public_url = 'https://stak.example.com';
  for (let i = 1; i < servers; i++)
    await store.put(servingProcess, {
      id: ids.next('srv'),
      public_url,
      alive_until: clock.now() + foreverMs,
      expires_at: Math.ceil((clock.now() + foreverMs) / 1000),
    });
  const presence = createPresence({ store, clock, ids, log, publicUrl: public_url });
  await presence.begin();
  const working = superviseWorkers([presence.worker], { clock, log });
  onTestFinished(async () => {
    await working.stop();
  });
  await pass(60_000);
  expectAbout(await readsOf(300_000), looksOf(servers).reports);
});

test.each([1, 100, 1000])('each of %d servers reads the members of a consumer', async servers => {
  const { engine, clock, log, ids, pass, readsOf } = await openStore();
  for (let i = 1; i < servers; i++) {
    const id = `${ids.next('own')}@${ids.next('srv')}`;
    await engine.client.put({
      TableName: serverStreamsTable.name,
      Item: {
        pk: `consumer#${consumer}`,
        sk: `member#${id}`,
        consumer,
        owner: id,
        node: ids.next('node'),
        alive_until: clock.now() + foreverMs,
        expires_at: Math.ceil((clock.now() + foreverMs) / 1000),
      },
    });
  }
  const source: StreamSource = engineSource(engine);
  const running = createConsumer({
    subscription: { name: consumer, table, entities: [note], handle: async () => {} },
    source,
    client: engine.client,
    owners: manualOwners().as('server'),
    clock,
    log,
  });
  const ended = new AbortController();
  const run = running.run(ended.signal);
  onTestFinished(async () => {
    ended.abort();
    await run;
  });
  await pass(180_000);
  expectAbout(await readsOf(600_000), looksOf(servers).members);
});

test('the units of all servers together stay below what one key can take', () => {
  for (const servers of [10, 100, 300, 1000, 2000]) {
    const { reports, members } = looksOf(servers);
    expect(servers * reports, `${servers} servers`).toBeLessThan(2_000);
    expect(servers * members, `${servers} servers`).toBeLessThan(1_300);
  }
});
