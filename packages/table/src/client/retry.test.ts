import { manualClock } from '@stak/kit';
import { expect, test } from 'vitest';
import { isUnanswered, isUnavailable, withRetry } from './retry.ts';

const patience = { clock: manualClock(), random: () => 0 };

// As the embedded engine says it, in process and over HTTP.
test.each([{}, { $metadata: { httpStatusCode: 507 } }])(
  'a full disk is no mystery: nothing was written, and the caller hears it at once (%j)',
  async more => {
    let calls = 0;
    const attempt = () => {
      calls += 1;
      return Promise.reject(
        Object.assign(new Error('the disk is full'), { name: 'StoreFullException', ...more }),
      );
    };
    const failure = await withRetry(patience, attempt, { mayRepeat: true }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'store.full',
      message: expect.stringContaining('nothing was changed'),
    });
    expect(calls).toBe(1);
    // Workers go on when there is room again.
    expect([isUnavailable(failure), isUnavailable((failure as Error).cause)]).toEqual([true, true]);
    expect(isUnanswered((failure as Error).cause)).toBe(false);
  },
);

test('an S3-compatible store that throttles with 429 is unavailable, whatever the name of its error', () => {
  const error = Object.assign(new Error('slow down'), { name: 'RateLimited' });
  expect(isUnavailable(error)).toBe(false);
  expect(isUnavailable(Object.assign(error, { $metadata: { httpStatusCode: 429 } }))).toBe(true);
});

test('a clock that is set forward does not end the patience of a call', async () => {
  const clock = manualClock();
  let calls = 0;
  const attempt = async () => {
    if (++calls > 2) return 'done';
    clock.set(clock.now() + 60_000);
    throw Object.assign(new Error('too many requests'), { name: 'ThrottlingException' });
  };
  const ready = { ...clock, sleep: async () => {} };
  expect(await withRetry({ clock: ready, random: () => 0 }, attempt, { mayRepeat: true })).toBe('done');
});

test('a call gives up when its time is over, even if the clock was set back', async () => {
  const clock = manualClock();
  const attempt = async () => {
    await clock.advance(7_000);
    clock.set(0);
    throw Object.assign(new Error('too many requests'), { name: 'ThrottlingException' });
  };
  const failed = withRetry({ clock, random: () => 0 }, attempt, { mayRepeat: true });
  await expect(failed).rejects.toMatchObject({ code: 'table.busy' });
});

test.each(['ExpiredToken', 'ExpiredTokenException', 'CredentialsProviderError'])(
  '%s passes: the caller may come again, and nothing was written',
  async name => {
    let calls = 0;
    const attempt = () => {
      calls += 1;
      return calls < 3
        ? Promise.reject(Object.assign(new Error('no credentials'), { name }))
        : Promise.resolve('done');
    };
    const clock = { now: () => 0, sleep: async () => {} };
    expect(await withRetry({ clock, random: () => 0 }, attempt, { mayRepeat: false })).toBe('done');
    calls = Number.NEGATIVE_INFINITY;
    const failure = await withRetry({ clock, random: () => 0 }, attempt, { mayRepeat: false }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      code: 'table.busy',
      message: expect.stringContaining('no valid credentials'),
      details: { retryAfterS: 1 },
    });
  },
);
