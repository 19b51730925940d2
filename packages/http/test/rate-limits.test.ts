import { manualClock } from '@stak/kit';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import {
  type Bucket,
  createMemoryRateLimits,
  empty,
  endpoint,
  judge,
  type RatePolicy,
  route,
  shareRateLimits,
} from '../src/index.ts';
import { openShelf } from './shelf-service.ts';

const policy = (limit: number, windowMs: number): RatePolicy => ({ name: 'test', limit, windowMs });

// Counted out, a millisecond at a time: each one adds `limit` units, and a request takes `windowMs` of them.
function naiveBucket({ limit, windowMs }: RatePolicy) {
  let units = limit * windowMs;
  return {
    tick: () => {
      units = Math.min(limit * windowMs, units + limit);
    },
    take: () => {
      const isAllowed = units >= windowMs;
      if (isAllowed) units -= windowMs;
      return { isAllowed, remaining: Math.floor(units / windowMs) };
    },
  };
}

describe('the rate algorithm', () => {
  it('agrees with a bucket that is counted out', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 100 }),
        (limit, windowMs, waits) => {
          const rate = policy(limit, windowMs);
          const naive = naiveBucket(rate);
          let bucket: Bucket | undefined;
          let nowMs = Date.UTC(2026, 0, 1);
          for (const waitMs of [0, ...waits]) {
            nowMs += waitMs;
            for (let i = 0; i < waitMs; i++) naive.tick();
            const verdict = judge(bucket, rate, nowMs);
            expect(verdict).toMatchObject(naive.take());
            bucket = verdict.bucket;
          }
        },
      ),
    );
  });

  it('reports exactly when there is room again', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 100_000 }),
        (limit, windowMs) => {
          const rate = policy(limit, windowMs);
          let bucket: Bucket | undefined;
          for (let i = 0; i < limit; i++) {
            const verdict = judge(bucket, rate, 0);
            expect(verdict.isAllowed).toBe(true);
            bucket = verdict.bucket;
          }
          const { isAllowed, retryMs, resetMs } = judge(bucket, rate, 0);
          expect([isAllowed, resetMs]).toEqual([false, windowMs]);
          expect(judge(bucket, rate, Math.ceil(retryMs)).isAllowed).toBe(true);
          if (retryMs > 1) expect(judge(bucket, rate, Math.ceil(retryMs) - 1).isAllowed).toBe(false);
        },
      ),
    );
  });

  it('locks no caller out when the clock steps back', () => {
    const rate = policy(10, 1000);
    let bucket: Bucket | undefined;
    for (let i = 0; i < 10; i++) bucket = judge(bucket, rate, 1_000_000).bucket;
    const stepped = judge(bucket, rate, 500_000);
    expect([stepped.isAllowed, stepped.resetMs]).toEqual([false, 1000]);
    expect(judge(stepped.bucket, rate, 500_100).isAllowed).toBe(true);
  });

  it('keeps a limited number of callers, the most recent ones', () => {
    const store = createMemoryRateLimits(4);
    const rate = policy(2, 1000);
    const remaining = (key: string) => {
      const verdict = store.take(key, rate, 0);
      return 'remaining' in verdict ? verdict.remaining : -1;
    };
    expect(['a', 'b', 'c', 'a', 'd'].map(remaining)).toEqual([1, 1, 1, 0, 1]);
    expect(store.size()).toBeLessThanOrEqual(4);
    expect(remaining('a')).toBe(0);
    expect(remaining('b')).toBe(1);
  });
});

describe('rate limits', () => {
  it('are reported in every response, and end in 429', async () => {
    const { call, clock } = openShelf({
      rateLimits: { store: createMemoryRateLimits(), perPrincipal: policy(2, 10_000) },
    });
    const first = await call('/v1/me', { as: 'ann' });
    expect(first.headers.get('ratelimit-limit')).toBe('2');
    expect(first.headers.get('ratelimit-remaining')).toBe('1');
    expect(first.headers.get('ratelimit-reset')).toBe('5');
    expect((await call('/v1/books/none', { as: 'ann' })).headers.get('ratelimit-remaining')).toBe('0');
    const refused = await call('/v1/me', { as: 'annkey' });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect(await refused.json()).toMatchObject({ code: 'http.rate_limited' });
    expect((await call('/v1/me', { as: 'bob' })).status).toBe(200);
    await clock.advance(5000);
    expect((await call('/v1/me', { as: 'ann' })).status).toBe(200);
  });

  it('of an account’s keys do not block its owner, who may have to revoke one', async () => {
    const { call } = openShelf({
      rateLimits: { store: createMemoryRateLimits(), perPrincipal: policy(2, 10_000) },
    });
    const statuses = async (as: string, count: number) => {
      const seen: number[] = [];
      for (let i = 0; i < count; i++) seen.push((await call('/v1/me', { as })).status);
      return seen;
    };
    expect(await statuses('annkey', 3)).toEqual([200, 200, 429]);
    expect(await statuses('ann', 3)).toEqual([200, 200, 429]);
  });

  it('of a route count beside the caller’s, by address if there is no caller', async () => {
    const { call } = openShelf();
    const fail = (address: string) => call('/v1/fail/closed', { method: 'POST', address });
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await fail('192.0.2.1')).status);
    expect(statuses).toEqual([503, 503, 503, 503, 503, 429]);
    expect((await fail('192.0.2.2')).headers.get('ratelimit-limit')).toBe('5');
  });

  it('of a verified value apply to all who send it, and nobody else uses them up or escapes them', async () => {
    const { call } = openShelf({
      rateLimits: { store: createMemoryRateLimits(), perAddress: { ...policy(3, 60_000), by: 'address' } },
    });
    const send = async (id: string, address: string, signature = 'signed 0') => {
      const headers = { 'X-Signature': signature };
      return (await call(`/hooks/${id}`, { method: 'POST', body: '', address, headers })).status;
    };
    const forged: number[] = [];
    for (let i = 0; i < 4; i++) forged.push(await send('a', '192.0.2.1', 'forged'));
    expect(forged).toEqual([401, 401, 401, 429]);
    expect([await send('a', '192.0.2.1'), await send('a', '192.0.2.2')]).toEqual([200, 200]);
    expect([await send('a', '192.0.2.3'), await send('%61', '192.0.2.3')]).toEqual([429, 429]);
    expect(await send('b', '192.0.2.2')).toBe(200);
  });

  it('of providers are by address, whatever they call', async () => {
    const perWebhookAddress = { ...policy(3, 60_000), by: 'address' } as const;
    const { call } = openShelf({ rateLimits: { store: createMemoryRateLimits(), perWebhookAddress } });
    const send = async (id: string, address: string) =>
      (await call(`/hooks/${id}`, { method: 'POST', body: '', address })).status;
    const statuses: number[] = [];
    for (const id of ['a', 'b', 'c', 'd']) statuses.push(await send(id, '2001:db8::1'));
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect(await send('e', '2001:db8::ffff:1')).toBe(429);
    expect(await send('e', '2001:db8:0:1::1')).toBe(401);
  });

  it('count bad tokens against the address, and good ones never', async () => {
    const { call } = openShelf({
      rateLimits: { store: createMemoryRateLimits(), perAddress: { ...policy(3, 60_000), by: 'address' } },
    });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await call('/v1/me', { as: `guess${i}` })).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await call('/v1/me', { as: 'ann' })).status).toBe(200);
    expect((await call('/v1/me', { as: 'guess', address: '192.0.2.9' })).status).toBe(401);
  });

  it('cannot be escaped with a forged header', async () => {
    const statusesWith = async (trustedProxyHops: number) => {
      const { call } = openShelf({ trustedProxyHops });
      const statuses: number[] = [];
      for (let i = 0; i < 6; i++)
        statuses.push(
          (
            await call('/v1/fail/closed', {
              method: 'POST',
              headers: { 'X-Forwarded-For': `10.0.0.${i}, 192.0.2.${i}` },
            })
          ).status,
        );
      return statuses;
    };
    expect((await statusesWith(0)).at(-1)).toBe(429);
    expect((await statusesWith(1)).at(-1)).toBe(503);
  });

  it('keep short keys, whatever operation is called', async () => {
    const store = createMemoryRateLimits();
    const keys = new Set<string>();
    const counting = {
      ...store,
      take: (...[key, ...more]: Parameters<typeof store.take>) => {
        keys.add(key);
        return store.take(key, ...more);
      },
    };
    const feed = route({
      method: 'get',
      path: '/feeds/{file}',
      auth: 'public',
      summary: 'A file at a secret address',
      reaches: 'nothing',
      audit: false,
      stores: 'nothing',
      tenant: 'none',
      mcp: false,
      request: { params: z.strictObject({ file: z.string() }) },
      responses: { 204: empty() },
      limits: { rate: { ...policy(5, 1000), by: 'path' } },
    });
    const more = [endpoint(feed, c => c.body(null, 204))];
    const { call } = openShelf({ more, rateLimits: { store: counting } });
    for (const end of ['a', 'b']) expect((await call(`/feeds/${'x'.repeat(8000)}${end}`)).status).toBe(204);
    expect(keys.size).toBe(3); // the address, and both files
    for (const key of keys) expect(key.length).toBeLessThan(300);
  });

  it('never stop a probe', async () => {
    const { call } = openShelf({
      rateLimits: { store: createMemoryRateLimits(), perAddress: { ...policy(1, 60_000), by: 'address' } },
    });
    for (let i = 0; i < 5; i++) expect((await call('/healthz')).status).toBe(200);
  });
});

describe('limits of several processes on one machine', () => {
  // Processes that hear of each other at once, when they say something.
  function openProcesses(count: number) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const clock = manualClock();
    const listeners = new Map<number, (body: unknown, from: string) => void>();
    const messages: unknown[] = [];
    const processes = Array.from({ length: count }, (_, own) =>
      shareRateLimits(createMemoryRateLimits(), {
        clock,
        topic: 'rates',
        peers: {
          send(_topic, body) {
            messages.push(body);
            for (const [id, listener] of listeners)
              if (id !== own) listener(structuredClone(body), String(own));
          },
          onMessage: (_topic, listener) => void listeners.set(own, listener),
        },
      }),
    );
    const pass = async (ms: number) => {
      await clock.advance(ms);
      await vi.advanceTimersByTimeAsync(ms);
    };
    return { clock, processes, messages, pass };
  }

  it('admit no more than the limit and what passes until all are notified', async () => {
    const { clock, processes, pass } = openProcesses(4);
    const rate = policy(100, 60_000);
    let allowed = 0;
    for (let n = 0; n < 400; n++) {
      if (processes[n % 4]!.take('ann', rate, clock.now()).isAllowed) allowed += 1;
      if (n % 8 === 7) await pass(50);
    }
    // Twenty seconds have refilled a third of it; the others hear of eight requests too late.
    expect(allowed).toBeGreaterThanOrEqual(100);
    expect(allowed).toBeLessThanOrEqual(100 + (50 * 50 * 100) / 60_000 + 8);
    for (const one of processes) expect(one.take('bob', rate, clock.now()).isAllowed).toBe(true);
  });

  it('are the same as for one process, over one connection, and send nothing while idle', async () => {
    const { clock, processes, messages, pass } = openProcesses(2);
    const rate = policy(10, 1000);
    const take = () => processes[0]!.take('ann', rate, clock.now()).isAllowed;
    for (let n = 0; n < 10; n++) expect(take()).toBe(true);
    expect(take()).toBe(false);
    await pass(50);
    expect(messages).toEqual([[['ann', 10, 1000, 10]]]);
    expect(processes[1]!.take('ann', rate, clock.now()).isAllowed).toBe(false);
    await pass(1000);
    expect(take()).toBe(true);
    await pass(10_000);
    expect(messages).toHaveLength(2);
  });
});
