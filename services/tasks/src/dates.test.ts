import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, instantOf, todayIn, zoneNamed } from './dates.ts';

describe('dates in time zones', () => {
  it('changes the day at the user’s midnight, not UTC’s', () => {
    const nowMs = Date.UTC(2026, 0, 1, 3, 0);
    expect(todayIn('America/New_York', nowMs)).toBe('2025-12-31');
    expect(todayIn('UTC', nowMs)).toBe('2026-01-01');
    expect(todayIn('Pacific/Kiritimati', nowMs + 8 * 3_600_000)).toBe('2026-01-02');
  });

  it('finds the moment of a local time', () => {
    expect(instantOf('2026-01-15', '09:00', 'Europe/Berlin')).toBe(Date.UTC(2026, 0, 15, 8));
    expect(instantOf('2026-07-15', '09:00', 'Europe/Berlin')).toBe(Date.UTC(2026, 6, 15, 7));
    expect(instantOf('2026-01-15', '09:00', 'Asia/Kathmandu')).toBe(Date.UTC(2026, 0, 15, 3, 15));
  });

  it('skips the gap in spring, and takes the first of two in autumn', () => {
    expect(instantOf('2026-03-29', '02:30', 'Europe/Berlin')).toBe(Date.UTC(2026, 2, 29, 1, 30));
    expect(instantOf('2026-10-25', '02:30', 'Europe/Berlin')).toBe(Date.UTC(2026, 9, 25, 0, 30));
  });

  it('is consistent in every zone', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'Asia/Tokyo',
    );
    const day = fc.integer({ min: 0, max: 3000 }).map(days => addDays('2024-01-01', days));
    fc.assert(
      fc.property(zones, day, (zone, date) => {
        expect(todayIn(zone, instantOf(date, '12:00', zone))).toBe(date);
      }),
    );
  });

  it('accepts only names of zones', () => {
    expect(zoneNamed('europe/berlin')).toBe('Europe/Berlin');
    expect(['Asia/Kolkata', 'Asia/Kathmandu', 'Europe/Kyiv'].map(zoneNamed)).toEqual([
      'Asia/Kolkata',
      'Asia/Kathmandu',
      'Europe/Kyiv',
    ]);
    expect(zoneNamed('Mars/Olympus')).toBeUndefined();
    expect(zoneNamed('+01:00')).toBeUndefined();
    expect(zoneNamed('')).toBeUndefined();
  });
});
