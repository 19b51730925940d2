import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usagePeriodStart } from './period.ts';

const startOf = (currentPeriodStart: string, billingCycleAnchor: string | undefined, now: string): string =>
  new Date(usagePeriodStart({ currentPeriodStart, billingCycleAnchor }, Date.parse(now))).toISOString();

describe('a usage period', () => {
  it.each([
    ['of a month', '2026-03-10T14:37:05.000Z', undefined, '2026-03-10T14:37:05Z', '2026-03-10T14:37:05.000Z'],
    [
      'to its last second',
      '2026-03-10T14:37:05.000Z',
      undefined,
      '2026-04-10T14:37:04Z',
      '2026-03-10T14:37:05.000Z',
    ],
    [
      'whose renewal is not known yet',
      '2026-03-10T14:37:05.000Z',
      undefined,
      '2026-04-10T14:37:05Z',
      '2026-04-10T14:37:05.000Z',
    ],
    [
      'of a year, by months',
      '2026-03-10T00:00:00.000Z',
      undefined,
      '2026-12-24T00:00:00Z',
      '2026-12-10T00:00:00.000Z',
    ],
    [
      'that is anchored on the 31st',
      '2026-02-28T08:00:00.000Z',
      '2026-01-31T08:00:00.000Z',
      '2026-03-30T00:00:00Z',
      '2026-02-28T08:00:00.000Z',
    ],
    [
      'and goes back to the 31st',
      '2026-02-28T08:00:00.000Z',
      '2026-01-31T08:00:00.000Z',
      '2026-03-31T08:00:00Z',
      '2026-03-31T08:00:00.000Z',
    ],
    [
      'of a trial before its anchor',
      '2026-01-01T00:00:00.000Z',
      '2026-01-15T00:00:00.000Z',
      '2026-01-05T00:00:00Z',
      '2026-01-01T00:00:00.000Z',
    ],
    [
      'after its trial',
      '2026-01-15T00:00:00.000Z',
      '2026-01-15T00:00:00.000Z',
      '2026-01-20T00:00:00Z',
      '2026-01-15T00:00:00.000Z',
    ],
    [
      'of a leap year',
      '2028-02-29T00:00:00.000Z',
      undefined,
      '2029-02-28T12:00:00Z',
      '2029-02-28T00:00:00.000Z',
    ],
    [
      'that begins tomorrow by a fast clock',
      '2026-03-10T00:00:00.000Z',
      undefined,
      '2026-03-09T23:59:59Z',
      '2026-03-09T23:59:59.000Z',
    ],
  ])('%s', (_, start, anchor, now, expected) => {
    expect(startOf(start, anchor, now)).toBe(expected);
  });

  it('never lies ahead, never lasts longer than a month, and never runs backwards', () => {
    const ms = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) });
    fc.assert(
      fc.property(ms, fc.nat(3 * 366 * 86_400_000), fc.nat(40 * 86_400_000), (anchorMs, laterMs, moreMs) => {
        const period = { currentPeriodStart: new Date(anchorMs).toISOString() };
        const first = usagePeriodStart(period, anchorMs + laterMs);
        const second = usagePeriodStart(period, anchorMs + laterMs + moreMs);
        expect(first).toBeLessThanOrEqual(anchorMs + laterMs);
        expect(anchorMs + laterMs - first).toBeLessThan(31 * 86_400_000);
        expect(second).toBeGreaterThanOrEqual(first);
        expect(usagePeriodStart(period, first)).toBe(first);
      }),
    );
  });
});
