import { manualClock } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import { describe, expect, it } from 'vitest';
import { openTables } from '../../test/webhooks-fixture.ts';
import * as limits from '../limits.ts';
import { createRateLimiter } from './rate-limiter.ts';

async function open({ isAlwaysSecond = false } = {}) {
  const clock = manualClock();
  const { client } = await openTables('embedded', clock);
  const made = { puts: 0 };
  const counted: DynamoClient = {
    ...client,
    async put(input) {
      made.puts += 1;
      if (isAlwaysSecond)
        throw Object.assign(new Error('another one was first'), { name: 'ConditionalCheckFailedException' });
      return client.put(input);
    },
  };
  const store = createStore({ client: counted, clock });
  const limiter = () => createRateLimiter({ store, clock, random: () => 0.5 });
  return { clock, made, limiter };
}

describe('the rate of a connection', () => {
  it('is used once by each attempt of a process', async () => {
    const { clock, made, limiter } = await open();
    const { take } = limiter();
    const waits = await Promise.all(Array.from({ length: 30 }, () => take('conn_a', 20)));
    expect(waits.filter(waitMs => waitMs === 0)).toHaveLength(20);
    expect(made.puts).toBe(20);
    await clock.advance(1000);
    expect(await take('conn_a', 20)).toBe(0);
  });

  it('is shared by several processes', async () => {
    const { limiter } = await open();
    const processes = [limiter(), limiter(), limiter()];
    const asked = Array.from({ length: 30 }, (_, i) => processes[i % 3]!.take('conn_a', 20));
    const allowed = (await Promise.all(asked)).filter(waitMs => waitMs === 0).length;
    expect(allowed).toBeGreaterThan(0);
    expect(allowed).toBeLessThanOrEqual(20);
  });

  it('delays an attempt if others are always first', async () => {
    const { made, limiter } = await open({ isAlwaysSecond: true });
    const waitMs = await limiter().take('conn_a', 20);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(limits.rateBusyMs);
    expect(made.puts).toBe(limits.rateAttempts);
  });
});
