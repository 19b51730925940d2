import { describe, expect, it } from 'vitest';
import { duration, secondsOf, ttlSeconds } from './durations.ts';

describe('secondsOf', () => {
  it.each([
    ['30d', 2_592_000],
    ['12h', 43_200],
    ['300m', 18_000],
    ['6000s', 6000],
  ])('reads %s', (text, seconds) => expect(secondsOf(text)).toBe(seconds));

  it.each(['', '0s', '30', 'd', '30w', '-1d', '1.5h', ' 1d', '1d ', '1e3s', '9999999999s'])(
    'refuses "%s"',
    text => expect(secondsOf(text)).toBeUndefined(),
  );
});

describe('duration', () => {
  it('has a most', () => {
    expect(duration(86_400).safeParse('1d').success).toBe(true);
    expect(duration(86_400).safeParse('25h').success).toBe(false);
  });
});

describe('ttlSeconds', () => {
  const inboxTtl = { default: '2d', offer: '3h' };
  it.each([
    [{ own: '1s', category: 'offer', tenantTtl: '4d' }, 1],
    [{ category: 'offer', tenantTtl: '4d' }, 10_800],
    [{ category: 'toString', tenantTtl: '4d' }, 172_800],
    [{ tenantTtl: '4d' }, 172_800],
  ])('%j', (policies, seconds) => expect(ttlSeconds({ inboxTtl, defaultS: 7, ...policies })).toBe(seconds));

  it('asks the tenant, and then nobody', () => {
    expect(ttlSeconds({ inboxTtl: {}, tenantTtl: '4d', defaultS: 7 })).toBe(345_600);
    expect(ttlSeconds({ inboxTtl: {}, defaultS: 7 })).toBe(7);
  });
});
