import { expect, it } from 'vitest';
import { tableErrors } from '../errors.ts';
import { conflict, done, isConflict, progress, retryConflicts } from './conflict.ts';

const failure = (reason: string) =>
  tableErrors.create('table.transaction_failed', 'no', { failures: [{ step: 'one', reason, message: '' }] });

function retry(outcomes: readonly unknown[], atOnce = 0) {
  const waits: number[] = [];
  const clock = { sleep: async (ms: number) => void waits.push(ms) };
  const left = [...outcomes];
  const result = retryConflicts<unknown>(
    { clock, random: () => 1, attempts: 3, atOnce, firstMs: 10, mostMs: 15, busy: () => new Error('busy') },
    async () => {
      const next = left.shift();
      if (next instanceof Error) throw next;
      return next as typeof conflict;
    },
  );
  return { result, waits };
}

it('retries after a conflict, with growing delays', async () => {
  const { result, waits } = retry([failure('conflict'), conflict, done('yes')]);
  expect(await result).toBe('yes');
  expect(waits).toEqual([10, 15]);
});

it('gives up after a number of conflicts, and does not count progress', async () => {
  const { result, waits } = retry([progress, conflict, progress, progress, progress, conflict, conflict], 2);
  await expect(result).rejects.toThrow('busy');
  expect(waits).toEqual([10]);
});

it('throws any error that is not a conflict', async () => {
  const refused = failure('refused');
  expect(isConflict(refused)).toBe(false);
  await expect(retry([refused]).result).rejects.toBe(refused);
});
