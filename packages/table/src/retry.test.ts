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
