import { setImmediate as endOfIteration } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSemaphore, runAtMost } from './semaphore.ts';

describe('a semaphore', () => {
  it('limits concurrent work, and starts it in order of arrival', async () => {
    const { run } = createSemaphore(2);
    const started: number[] = [];
    const ends: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const all = Array.from({ length: 5 }, (_, n) =>
      run(async () => {
        started.push(n);
        most = Math.max(most, ++running);
        await new Promise<void>(resolve => ends.push(resolve));
        running -= 1;
        return n;
      }),
    );
    for (let n = 0; n < 5; n++) {
      await new Promise(setImmediate);
      ends[n]!();
    }
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(2);
  });

  it('gives the slot of failed work to the next', async () => {
    const { run } = createSemaphore(1);
    const failed = run(() => Promise.reject(new Error('no')));
    const next = run(async () => 'next');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('next');
    expect(await run(async () => 'later')).toBe('later');
  });
});

it('runs a list of work, so many at a time, and waits for all before it throws', async () => {
  let running = 0;
  let most = 0;
  let ended = 0;
  const work = (fails: boolean) => async () => {
    most = Math.max(most, ++running);
    await endOfIteration();
    running -= 1;
    ended += 1;
    if (fails) throw new Error('one failed');
  };
  await expect(runAtMost(2, [work(false), work(true), work(false), work(false)])).rejects.toThrow(
    'one failed',
  );
  expect({ most, ended }).toEqual({ most: 2, ended: 4 });
});
