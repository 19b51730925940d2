import { seededRandom } from '@stak/kit';
import { createConsumer } from '@stak/streams';
import { expect, test } from 'vitest';
import { crashing } from './crashing.ts';
import { expectEveryChangeOnce, expectSameAsTable, readState } from './evidence.ts';
import {
  ann,
  type Backend,
  capture,
  keep,
  openBackend,
  openLake,
  silent,
  until,
  watchCapture,
} from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

// A process is killed at every step it ever makes, and another one takes over.

async function writeSome({ store }: Backend, round: number): Promise<void> {
  const user_id = 'usr_ann';
  await store.put(chore, newChore(user_id, `new-${round}`));
  await store.put(chore, newChore(user_id, 'same', { title: `round ${round}` }));
  await store.update(chore, { user_id, task_id: `new-${round}` }, { set: { status: 'in_progress' } });
  if (round % 2 === 0) await store.delete(chore, { user_id, task_id: `new-${round}` });
}

async function captureFor(backend: Backend, lifetime: number): Promise<string | undefined> {
  const process = crashing(lifetime);
  const objects = process.wrap(backend.objects);
  const source = process.wrap(backend.source, ['position', 'newest', 'waitForChange']);
  const client = process.wrap(backend.client);
  const lake = openLake(backend, { objects });
  const stopping = new AbortController();
  const [subscription] = lake.subscriptions;
  const consumer = createConsumer({
    subscription: subscription!,
    source,
    client,
    clock: backend.clock,
    random: seededRandom(1),
    log: silent,
  });
  const running = consumer.run(stopping.signal);
  const isCaptured = watchCapture(backend);
  await until(backend, async () => process.isDead() || (await isCaptured()), 2000);
  stopping.abort();
  if (!process.isDead()) await Promise.race([running, process.death]);
  return process.isDead() ? process.lastCall() : undefined;
}

test('killed at any step of the capture, no change is missing or duplicated', async () => {
  const backend = await openBackend({ shards: 2 });
  // Each life is a step longer than the one before, and begins where that one ended. Two shards take their steps in
  // any order, so it begins anew until every kind of step was the last of some life.
  const calls = ['put', 'putIfAbsent', 'get', 'update', 'getRecords'];
  const unseen = new Set(calls.flatMap(call => [`before ${call}`, `after ${call}`]));
  let lifetime = 0;
  for (let round = 0; round < 30 || unseen.size > 0; round++) {
    expect(round, `never killed ${[...unseen]}`).toBeLessThan(400);
    await writeSome(backend, round);
    if (round % 5 === 4) await backend.engine.rollShards('chores');
    const at = await captureFor(backend, lifetime);
    if (at !== undefined) unseen.delete(at);
    lifetime = at === undefined && round > 30 ? 0 : lifetime + 1;
  }
  const lake = openLake(backend);
  await capture(backend, lake);
  await expectEveryChangeOnce(backend);
  await expectSameAsTable(backend, lake, ann, () => true);
}, 60_000);

async function keepFor(backend: Backend, lifetime: number): Promise<string | undefined> {
  const process = crashing(lifetime);
  // Reading leaves nothing behind: to be killed while reading is to be killed before the next write.
  const objects = process.wrap(backend.objects, ['get', 'list', 'locate']);
  const lake = openLake(backend, { objects, client: process.wrap(backend.client) });
  await Promise.race([keep(lake), process.death]);
  return process.isDead() ? process.lastCall() : undefined;
}

test('killed at any step of a backfill or a compaction, the lake still equals the table', async () => {
  const backend = await openBackend();
  const killedAt = new Set<string>();
  for (let round = 0; ; round++) {
    if (round < 2 || round % 20 === 0) {
      await writeSome(backend, round);
      await capture(backend, openLake(backend));
    }
    if (round === 20) await openLake(backend).backfill('chores');
    const at = await keepFor(backend, round);
    if (at !== undefined) killedAt.add(at);
    else if (round > 40) break;
    expect(round).toBeLessThan(200);
  }
  const lake = openLake(backend);
  await keep(lake);
  await expectSameAsTable(backend, lake, ann, () => true);
  await expectEveryChangeOnce(backend);
  expect((await readState(backend)).backfill).toBeUndefined();
  for (const call of ['putFile', 'putIfAbsent', 'scan'])
    expect([...killedAt].filter(at => at.endsWith(call))).not.toEqual([]);
}, 60_000);
