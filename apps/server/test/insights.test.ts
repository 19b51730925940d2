import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '@stak/engine';
import { userMessage } from '@stak/inbox/tables';
import { createIds, createLogger, createSealer, manualClock } from '@stak/kit';
import { createLake, folderObjects } from '@stak/lake';
import { engineSource, streamsTable } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { task } from '@stak/tasks/tables';
import { delivery } from '@stak/webhooks/tables';
import { expect, onTestFinished, test } from 'vitest';
import { followed, insights } from '../src/store/lake/lake-tables.ts';

const day = '2026-01-01';
const noonMs = Date.parse(`${day}T12:00:00Z`);
const noon = noonMs / 1000;
const ann = 'usr_ann';

async function openLake() {
  const folder = await mkdtemp(join(tmpdir(), 'insights-'));
  const clock = manualClock(noonMs);
  const engine = await createEngine({ path: ':memory:', clock });
  const { client } = engine;
  const store = createStore({ client, clock });
  await createTables(engine, [streamsTable, ...followed.map(({ table }) => table)], { clock });
  const lake = createLake({
    store,
    client,
    clock,
    ids: createIds({ clock }),
    log: createLogger({ level: 'silent' }),
    source: engineSource(engine),
    objects: folderObjects(join(folder, 'objects')),
    scratch: join(folder, 'scratch'),
    tables: followed,
    insights,
    tenantsOf: async () => ['acme'],
    sealer: createSealer({ keys: [{ id: 'one', secret: 'a secret that is long enough for a seal' }] }),
    publicUrl: 'http://127.0.0.1',
  });
  onTestFinished(async () => {
    lake.close();
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { store, lake };
}

const principal = {
  kind: 'account',
  accountId: ann,
  scope: 'read',
  via: 'api_key',
  credentialId: 'test',
} as const;

test('services count their own entities', async () => {
  const { store, lake } = await openLake();
  const newDelivery = (connectionId: string, state: 'delivered' | 'failed', attempts: number) =>
    store.put(delivery, {
      ...{ eventId: 'evt_1', connectionId, run: 1, sourceId: 'src_1', userId: ann },
      ...{ state, attempts, receivedAt: noonMs, expiresAt: noon + 3600 },
    } as never);
  await newDelivery('con_1', 'delivered', 1);
  await newDelivery('con_2', 'delivered', 3);
  await newDelivery('con_3', 'failed', 8);
  const [message] = userMessage.examples;
  for (const [id, readat] of [
    ['0mjuxvy9s01aaaaaaaaaaaaa', noon],
    ['0mjuxvy9s01bbbbbbbbbbbbb', null],
  ])
    await store.put(userMessage, {
      ...message,
      ...{ tenant_key: 'acme', id, delivered: noon, seenat: noon, readat },
    } as never);
  const [example] = task.examples;
  const times = { created_at: noon - 3600, updated_at: noon };
  const newTask = (task_id: string, more: object) =>
    store.put(task, { ...example, user_id: ann, task_id, ...times, ...more } as never);
  await newTask('tsk_1', { status: 'completed', completed_at: noon });
  await newTask('tsk_2', { status: 'pending', completed_at: null, due_date: '2025-12-31' });

  for (const { table } of followed) while (await lake.keep(table.name));
  const read = async (name: string) => (await lake.insight(principal, name, 30)).data;
  expect(await read('deliveries')).toEqual([
    { day, state: 'delivered', deliveries: 2, attempts: 4 },
    { day, state: 'failed', deliveries: 1, attempts: 8 },
  ]);
  expect(await read('messages-read')).toEqual([{ day, messages: 2, seen: 2, read: 1, read_rate: 0.5 }]);
  expect(await read('tasks-by-status')).toEqual([
    { status: 'completed', tasks: 1 },
    { status: 'pending', tasks: 1 },
  ]);
  expect(await read('tasks-cycle-time')).toEqual([
    { day, tasks: 1, average_hours: 1, within_a_day: 1, within_a_week: 1 },
  ]);
  expect(await read('tasks-overdue')).toMatchObject([{ overdue: 1 }]);
});
