import { readRetryAfter } from '@stak/outbound';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as limits from '../limits.ts';
import { politeDelayMs, retryConfigSchema, retryDelayMs } from './retry.ts';

describe('retries', () => {
  it('follow the documented schedule without jitter', () => {
    const delays = Array.from({ length: 9 }, (_, attempts) => retryDelayMs({}, attempts, () => 0));
    expect(delays).toEqual([...limits.retryDelaysMs, undefined]);
  });

  it('end, however the connection is configured', () => {
    const config = fc.record(
      {
        delaysS: fc.array(fc.integer({ min: 1, max: 86_400 }), { maxLength: 7 }),
        maxAttempts: fc.integer({ min: 1, max: 8 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(config, fc.double({ min: 0, max: 0.999, noNaN: true }), (given, random) => {
        const parsed = retryConfigSchema.parse(given);
        let attempts = 0;
        for (let delay: number | undefined = 0; delay !== undefined; attempts++) {
          delay = retryDelayMs(parsed, attempts + 1, () => random);
          expect(delay ?? 0).toBeLessThanOrEqual(limits.retryDelayMostMs * (1 + limits.retryJitter));
        }
        expect(attempts).toBeLessThanOrEqual(limits.attempts);
      }),
    );
  });

  it('honour Retry-After within bounds', () => {
    const nowMs = Date.UTC(2026, 0, 1);
    expect(readRetryAfter('120', nowMs)).toBe(120_000);
    expect(readRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', nowMs)).toBe(60_000);
    expect(readRetryAfter('Thursday, 01-Jan-26 00:01:00 GMT', nowMs)).toBe(60_000);
    expect(readRetryAfter('Thu Jan  1 00:01:00 2026', nowMs)).toBe(60_000);
    expect(readRetryAfter('Thu, 01 Jan 2026 00:01:00', nowMs)).toBe(60_000);
    expect(readRetryAfter('Thu, 01 Jan 2026 01:01:00 +0100', nowMs)).toBe(60_000);
    expect(readRetryAfter('Thu, 01 Jan 2025 00:01:00 GMT', nowMs)).toBe(0);
    for (const odd of [undefined, '', '-1', '1.5', 'soon', '1e9', '2026-01-01', 'Thu, soon', 'Soon enough'])
      expect(readRetryAfter(odd, nowMs)).toBeUndefined();
    for (const long of ['31536000', '10000000000', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])
      expect(politeDelayMs(1000, readRetryAfter(long, nowMs))).toBe(limits.retryAfterMostMs);
    fc.assert(
      fc.property(fc.nat(1e9), fc.option(fc.nat(1e12), { nil: undefined }), (delayMs, askedMs) => {
        const chosen = politeDelayMs(delayMs, askedMs);
        expect(chosen).toBeGreaterThanOrEqual(delayMs);
        expect(chosen).toBeLessThanOrEqual(Math.max(delayMs, limits.retryAfterMostMs));
      }),
    );
  });
});
