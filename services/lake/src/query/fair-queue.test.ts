import { expect, test } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

const settle = () => new Promise(setImmediate);

function openQueue(change: Partial<Parameters<typeof createFairQueue>[0]> = {}) {
  const queue = createFairQueue({ atOnce: 2, perAccount: 5, waiting: 20, ...change });
  const running: { account: string; end(): void }[] = [];
  const refused: string[] = [];
  const ask = (account: string) =>
    queue
      .run(account, () => new Promise<void>(end => running.push({ account, end })))
      .catch(error => {
        expect(error).toMatchObject({ code: 'lake.busy', details: { retryAfterS: expect.any(Number) } });
        refused.push(account);
      });
  const names = () => running.map(({ account }) => account);
  // Ends what began first, and lets the next one begin.
  const endFirst = async () => {
    running.shift()!.end();
    await settle();
  };
  return { ask, names, refused, endFirst };
}

test('an account has one job in progress, however many it sends', async () => {
  const { ask, names, refused, endFirst } = openQueue();
  for (let i = 0; i < 30; i++) ask('flood');
  ask('other');
  await settle();
  expect(names()).toEqual(['flood', 'other']);
  expect(refused).toHaveLength(25);
  expect(new Set(refused)).toEqual(new Set(['flood']));
  await endFirst();
  expect(names()).toEqual(['other', 'flood']);
});

test('alternates between accounts', async () => {
  const { ask, names, endFirst } = openQueue({ atOnce: 1 });
  for (const account of ['a', 'a', 'a', 'b', 'b', 'c']) ask(account);
  const order: string[] = [];
  await settle();
  for (let i = 0; i < 6; i++) {
    order.push(...names());
    await endFirst();
  }
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
});

test('if the queue is full, the accounts with most requests are refused', async () => {
  const { ask, names, refused } = openQueue({ atOnce: 1, waiting: 6 });
  for (const account of ['busy', 'a', 'a', 'a', 'a', 'b', 'b']) ask(account);
  await settle();
  expect(refused).toEqual([]);
  ask('c');
  await settle();
  expect([names(), refused]).toEqual([['busy'], ['a']]);
  // Nobody has a longer line than this one would be.
  for (const account of ['d', 'e', 'f', 'g', 'h']) ask(account);
  await settle();
  expect(refused.filter(account => account > 'b')).toEqual(['g', 'h']);
});

test('failed work frees its slot for the next', async () => {
  const queue = createFairQueue({ atOnce: 1, perAccount: 2, waiting: 2 });
  const failing = queue.run('a', () => Promise.reject(new Error('no')));
  const next = queue.run('a', async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
});
