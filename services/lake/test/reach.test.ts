import { seededRandom } from '@stak/kit';
import { createConsumer } from '@stak/streams';
import { expect, onTestFinished, test } from 'vitest';
import type { ObjectStore } from '../src/index.ts';
import { reachAgainMs, unreachableMs } from '../src/limits.ts';
import { expectEveryChangeOnce } from './evidence.ts';
import { type Backend, openBackend, openLake, silent, until, watchCapture } from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

// A node that reaches the tables, but not the store of the lake.
function openNode(backend: Backend, seed: number) {
  let isReached = true;
  const attempts: string[] = [];
  const put: ObjectStore['put'] = async (key, body) => {
    attempts.push(key);
    if (!isReached) throw new Error('connect ETIMEDOUT');
    await backend.objects.put(key, body);
  };
  const lake = openLake({ ...backend, objects: { ...backend.objects, put } });
  const [subscription] = lake.subscriptions;
  const { source, client, clock } = backend;
  const stopping = new AbortController();
  const consumer = createConsumer({
    subscription: subscription!,
    source,
    client,
    clock,
    random: seededRandom(seed), // of the names of lease holders
    log: silent,
  });
  const ended = consumer.run(stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await Promise.all([ended, until(backend, () => consumer.shards() === 0)]);
  });
  return {
    attempts,
    shards: consumer.shards,
    reach(can: boolean) {
      isReached = can;
    },
  };
}

const write = async ({ store }: Backend, names: string) => {
  for (const name of names) await store.put(chore, newChore(`usr_${name}`, name)); // in all shards
};

test('a node that cannot store objects leaves its shards to another one, until it can again', async () => {
  const backend = await openBackend({ shards: 4 });
  const [one, other] = [openNode(backend, 1), openNode(backend, 2)];
  await write(backend, 'ab');
  await until(backend, () => one.shards() === 2 && other.shards() === 2);
  const isCaptured = watchCapture(backend);
  await until(backend, isCaptured);

  one.reach(false);
  await write(backend, 'cdefghijklmnop');
  const failedAt = backend.clock.now();
  await until(backend, isCaptured);
  expect(backend.clock.now() - failedAt).toBeLessThan(2 * unreachableMs);
  expect([one.shards(), other.shards()]).toEqual([0, 4]);

  one.attempts.length = 0;
  await backend.clock.advance(0);
  const from = backend.clock.now();
  await until(backend, () => backend.clock.now() >= from + 4 * reachAgainMs);
  expect(one.attempts.length).toBeGreaterThan(2);
  expect(one.attempts.length).toBeLessThan(6);

  one.reach(true);
  await until(backend, () => one.shards() === 2 && other.shards() === 2);
  await write(backend, 'qr');
  await until(backend, isCaptured);
  await expectEveryChangeOnce(backend);
});

test('a node without others continues when it can store objects again', async () => {
  const backend = await openBackend();
  const only = openNode(backend, 1);
  await until(backend, () => only.shards() === 1);
  only.reach(false);
  await write(backend, 'ab');
  await until(backend, () => only.shards() === 0);
  only.reach(true);
  await until(backend, watchCapture(backend));
  await expectEveryChangeOnce(backend);
});
