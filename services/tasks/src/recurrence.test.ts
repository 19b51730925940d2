import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, utcOf } from './calendar.ts';
import { checkRule, occurrenceAfter } from './recurrence.ts';

describe('recurrence', () => {
  it.each([
    ['FREQ=DAILY', '2026-02-27', ['2026-02-28', '2026-03-01']],
    ['FREQ=WEEKLY;BYDAY=MO,TH', '2026-01-01', ['2026-01-05', '2026-01-08']],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '2026-01-31', ['2026-03-31', '2026-05-31']],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2026-01-31', ['2026-02-28', '2026-03-31']],
    ['FREQ=MONTHLY;BYDAY=-1FR', '2026-01-30', ['2026-02-27', '2026-03-27']],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', '2096-02-29', ['2104-02-29', '2108-02-29']],
    ['FREQ=WEEKLY;INTERVAL=2', '2026-01-01', ['2026-01-15', '2026-01-29']],
    ['FREQ=DAILY;COUNT=2', '2026-01-01', ['2026-01-02', undefined]],
    ['FREQ=DAILY;UNTIL=20260102', '2026-01-01', ['2026-01-02', undefined]],
    ['FREQ=DAILY;UNTIL=99991231T235959Z', '2026-01-01', ['2026-01-02', '2026-01-03']],
    ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR', '2026-01-01', ['2026-01-02', '2026-01-05']],
    ['FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO', '2026-01-01', ['2026-12-28', '2032-12-27']],
    ['FREQ=DAILY', '9000-12-30', ['9000-12-31', undefined]],
    ['FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU', '2026-01-04', ['2026-01-18', '2026-02-01']],
  ])('%s from %s', (rule, start, expected) => {
    const first = occurrenceAfter(rule, start, start);
    expect([first, first && occurrenceAfter(rule, start, first)]).toEqual(expected);
  });

  it('is anchored at the start of the series, however much later it is asked', () => {
    expect(occurrenceAfter('FREQ=DAILY;INTERVAL=3', '2026-01-01', '2026-01-08')).toBe('2026-01-10');
    expect(occurrenceAfter('FREQ=DAILY;COUNT=5', '2026-01-01', '2026-02-01')).toBeUndefined();
  });

  it('gives the next date that a plain list has', () => {
    const every = fc.record({
      step: fc.integer({ min: 1, max: 40 }),
      days: fc.integer({ min: 0, max: 400 }),
    });
    fc.assert(
      fc.property(every, ({ step, days }) => {
        const start = '2026-01-01';
        const date = addDays(start, days);
        const expected = addDays(start, (Math.floor(days / step) + 1) * step);
        expect(occurrenceAfter(`FREQ=DAILY;INTERVAL=${step}`, start, date)).toBe(expected);
      }),
    );
  });

  it.each([
    '',
    'every monday',
    'FREQ=HOURLY',
    'FREQ=SECONDLY;COUNT=9',
    'INTERVAL=2',
    'FREQ=DAILY;BYHOUR=9',
    'FREQ=DAILY;FREQ=WEEKLY',
    'FREQ=DAILY;INTERVAL=5000',
    'FREQ=DAILY;UNTIL=TOMORROW',
    'FREQ=WEEKLY;BYDAY=XX',
    'FREQ=DAILY;DTSTART=20260101',
    'FREQ=DAILY\nEXDATE:20260101',
    'FREQ=DAILY;UNTIL=20250101',
    'FREQ=DAILY;INTERVAL=7;BYDAY=TU',
    'FREQ=WEEKLY;BYSETPOS=8',
    'FREQ=YEARLY;BYEASTER=1',
    'FREQ=DAILY;INTERVAL=0',
    'FREQ=DAILY;COUNT=0',
    'FREQ=DAILY;COUNT=-1',
    'FREQ=DAILY;UNTIL=20270230',
    'FREQ=DAILY;UNTIL=20270228T250000Z',
    'FREQ=WEEKLY;WKST=XX',
    'FREQ=WEEKLY;BYDAY=-1FR',
    'FREQ=DAILY;BYDAY=1MO',
    'FREQ=YEARLY;BYWEEKNO=2;BYDAY=1MO',
    'FREQ=MONTHLY;BYDAY=0MO',
    'FREQ=MONTHLY;BYMONTHDAY=99',
    'FREQ=MONTHLY;BYMONTHDAY=0',
    'FREQ=YEARLY;BYMONTH=-1',
    'FREQ=YEARLY;BYMONTH=MO',
    'FREQ=MONTHLY;BYSETPOS=1',
    'FREQ=DAILY;COUNT=2;UNTIL=20270101',
  ])('refuses %j', rule => {
    expect(() => checkRule(rule, '2026-01-01')).toThrow(
      expect.objectContaining({ code: 'tasks.recurrence_refused' }),
    );
  });

  it('says what is wrong in words of its own', () => {
    expect(() => checkRule('FREQ=WEEKLY;BYDAY=XX', '2026-01-01')).toThrow(/^BYDAY is a list of days/);
  });

  it('refuses a rule without any date, soon', () => {
    const startedMs = performance.now();
    expect(() => checkRule('FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30', '2026-01-01')).toThrow(/no date/);
    expect(() => checkRule('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31', '2026-01-01')).toThrow(/no date/);
    expect(performance.now() - startedMs).toBeLessThan(2000);
  });

  it('keeps a rule in one spelling', () => {
    expect(checkRule(' rrule:freq=daily;interval=2; ', '2026-01-01')).toBe('FREQ=DAILY;INTERVAL=2');
    expect(checkRule('FREQ=DAILY;UNTIL=20270101T235959Z', '2026-01-01')).toBe('FREQ=DAILY;UNTIL=20270101');
    expect(utcOf('2026-01-01')).toBe(Date.UTC(2026, 0, 1));
  });
});
