import { seededRandom } from '@stak/kit';
import { createConsumer, type Subscription } from '@stak/streams';
import { write } from '@stak/table';
import { expect, test } from 'vitest';
import { expectEveryChangeOnce, readState } from './evidence.ts';
import { ann, capture, keep, openBackend, openLake, silent, until } from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

test('a change is in an insight within five seconds', async () => {
  const backend = await openBackend();
  const { store, clock, source, client } = backend;
  const lake = openLake(backend);
  const stopping = new AbortController();
  const [subscription] = lake.subscriptions;
  const random = seededRandom(1);
  const consumer = createConsumer({
    subscription: subscription!,
    source,
    client,
    clock,
    random,
    log: silent,
  });
  const ended = consumer.run(stopping.signal);
  for (let i = 1; i <= 6; i++) {
    const writtenAt = clock.now();
    await store.put(chore, newChore('usr_ann', `${i}`));
    const isThere = async () => {
      const { data } = await lake.insight(ann, 'tasks-by-status', 30);
      return data[0]?.tasks === i;
    };
    await until(backend, isThere, 100);
    expect(clock.now() - writtenAt).toBeLessThan(5000);
  }
  stopping.abort();
  await ended;
});

test('changes in quick succession share a file', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  const steps = Array.from({ length: 2500 }, (_, i) => write.put(chore, newChore('usr_ann', `${i}`)));
  await backend.store.batchWrite(steps);
  await capture(backend, lake);
  const files = [...(await readState(backend)).files.values()];
  expect(files.map(({ rows }) => rows)).toEqual([2500]);
  await expectEveryChangeOnce(backend);
});

const large = (task_id: string) => newChore('usr_ann', task_id, { title: 'x'.repeat(40_000) });

test('a batch that is full by size is followed by the next one at once', async () => {
  const backend = await openBackend();
  const { store, clock } = backend;
  let pauses = 0;
  const flushMs = 1234;
  const counting = {
    ...clock,
    sleep(ms: number, signal?: AbortSignal) {
      if (ms === flushMs) pauses += 1;
      return clock.sleep(ms, signal);
    },
  };
  const lake = openLake(backend, { clock: counting, flushMs });
  for (let i = 0; i < 300; i++) await store.put(chore, large(`${i}`));
  await capture(backend, lake);
  expect((await readState(backend)).files.size).toBeGreaterThan(1);
  expect(pauses).toBe(0);
  await store.put(chore, newChore('usr_ann', 'a small one'));
  await capture(backend, lake);
  expect(pauses).toBe(1);
});

test.each([
  0,
  120, // more than DescribeStream lists at once
])('the lake reports its lag, even before the first checkpoint, after %i shards', async earlierShards => {
  const backend = await openBackend();
  const { engine, store, clock, source, client } = backend;
  const lake = openLake(backend);
  await keep(lake);
  for (let i = 0; i < earlierShards; i++) await engine.rollShards('chores');
  for (let i = 0; i < 250; i++) await store.put(chore, large(`${i}`));
  const stopping = new AbortController();
  const [subscription] = lake.subscriptions;
  let isHeld = false;
  const holding = {
    ...subscription!,
    async handleBatch(...[changes, context]: Parameters<NonNullable<Subscription['handleBatch']>>) {
      await subscription!.handleBatch!(changes, context);
      isHeld = true;
      await new Promise(resolve => context.signal.addEventListener('abort', resolve));
    },
  };
  const writtenAt = clock.now();
  const random = seededRandom(1);
  const ended = createConsumer({
    subscription: holding,
    source,
    client,
    clock,
    random,
    log: silent,
  }).run(stopping.signal);
  await until(backend, () => isHeld);
  await clock.advance(3000);
  const [status] = (await lake.status()).tables;
  expect(status!.bronze_rows).toBeGreaterThan(0);
  expect(status).toMatchObject({ caught_up: false, lag_ms: clock.now() - writtenAt });
  stopping.abort();
  await ended;
});
