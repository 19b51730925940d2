import { manualClock, seededRandom, systemClock } from '@stak/kit';
import { createStore } from '@stak/table';
import { expect, it } from 'vitest';
import { tenantDay } from '../src/main-table.ts';
import { createMessageCounter } from '../src/usage/counter.ts';
import { openFixture, targets } from './agents-fixture.ts';

const key = { tenant_id: 'acme', date: '2026-01-01' };
const ttl = 2_000_000_000;

async function open() {
  const { target } = await openFixture(targets.embedded);
  const clock = { ...manualClock(), sleep: (ms: number) => systemClock.sleep(ms / 100) };
  const plain = createStore({ client: target.client, clock, random: seededRandom(1) });
  const messages = async () => (await plain.get(tenantDay, key, { consistent: true }))?.messages;
  return { target, clock, plain, messages };
}

it('counts a message once if the answer is lost and another process counts in between', async () => {
  const { target, clock, plain, messages } = await open();
  const other = createMessageCounter({ store: plain });
  let isLosing = true;
  const lose = async <T>(output: Promise<T>): Promise<T> => {
    const result = await output;
    if (!isLosing) return result;
    isLosing = false;
    await other(key, ttl, 100);
    throw Object.assign(new Error('no answer'), { name: 'TimeoutError' });
  };
  const client = {
    ...target.client,
    mayLoseAnswers: true,
    update: (input: Parameters<typeof target.client.update>[0]) => lose(target.client.update(input)),
    transactWrite: (input: Parameters<typeof target.client.transactWrite>[0]) =>
      lose(target.client.transactWrite(input)),
  };
  const count = createMessageCounter({ store: createStore({ client, clock, random: seededRandom(2) }) });
  expect(await count(key, ttl, 100)).toBe(true);
  expect([isLosing, await messages()]).toEqual([false, 2]);
  await target.close();
});

it('admits as many as there is room for, over several processes', async () => {
  const { target, plain, messages } = await open();
  const counters = Array.from({ length: 4 }, () => createMessageCounter({ store: plain }));
  const admitted = await Promise.all(Array.from({ length: 80 }, (_, i) => counters[i % 4]!(key, ttl, 33)));
  expect(admitted.filter(Boolean)).toHaveLength(33);
  expect(await messages()).toBe(33);
  await target.close();
});
