import fc from 'fast-check';
import * as rruleModule from 'rrule';
import { describe, expect, it } from 'vitest';
import { addDays, utcOf } from './dates.ts';
import { occurrenceAfter } from './occurrences.ts';
import { checkRule } from './recurrence.ts';

// Node finds no names in this CommonJS package, bundlers do.
const { RRule } = (rruleModule as { default?: typeof rruleModule }).default ?? rruleModule;

const cycleMs = 146_097 * 24 * 60 * 60 * 1000; // 400 years, after which dates fall on the same days of the week

// As another implementation says, which walks from the start of the series. It looks for a date that does not exist
// until the year 9999, so it is asked in its last centuries.
function walkedAfter(rule: string, start: string, date: string): string | undefined {
  const at = (day: string) => new Date(utcOf(day) + 19 * cycleMs);
  const { interval = 1, ...rest } = RRule.parseString(rule);
  const until = at(addDays(date < start ? start : date, 12 * 366 * interval));
  const next = new RRule({ ...rest, interval, dtstart: at(start), until }, true).after(at(date));
  return next ? new Date(next.getTime() - 19 * cycleMs).toISOString().slice(0, 10) : undefined;
}

const someOf = (least: number, most: number) =>
  fc
    .uniqueArray(fc.integer({ min: least, max: most }), { minLength: 1, maxLength: 4 })
    .map(list => list.filter(one => one !== 0).join(',') || '1');
const weekdays = fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU');
const plainDays = fc.uniqueArray(weekdays, { minLength: 1, maxLength: 4 }).map(days => days.join(','));
const numberedDays = fc
  .tuple(fc.constantFrom(1, 2, 4, 5, -1, -2), weekdays)
  .map(([nth, day]) => `${nth}${day}`);
const parts: Record<string, Record<string, fc.Arbitrary<string>>> = {
  DAILY: { BYMONTHDAY: someOf(-31, 31), BYDAY: plainDays },
  WEEKLY: { BYMONTH: someOf(1, 12), BYDAY: plainDays },
  MONTHLY: {
    BYMONTH: someOf(1, 12),
    BYMONTHDAY: someOf(-31, 31),
    BYDAY: fc.oneof(plainDays, numberedDays),
  },
  YEARLY: {
    BYMONTH: someOf(1, 12),
    BYWEEKNO: someOf(-1, 53),
    BYYEARDAY: someOf(-366, 366),
    BYMONTHDAY: someOf(-31, 31),
    BYDAY: fc.oneof(plainDays, numberedDays),
  },
};
const anyRule = fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY').chain(frequency =>
  fc
    .record({
      lists: fc.record(parts[frequency]!, { requiredKeys: [] }),
      interval: fc.integer({ min: 1, max: 5 }),
      position: fc.option(fc.constantFrom(1, 2, -1), { nil: undefined }),
      weekStart: weekdays,
      count: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
    })
    .map(({ lists, interval, position, weekStart, count }) => {
      const given = Object.entries(lists as Record<string, string>);
      const isNumbered = /\d/.test((lists as { BYDAY?: string }).BYDAY ?? '');
      const kept = given.filter(([name]) => name !== 'BYWEEKNO' || !isNumbered);
      const canChoose = kept.length > 0 && (frequency === 'MONTHLY' || frequency === 'YEARLY');
      return [
        `FREQ=${frequency}`,
        ...kept.map(([name, list]) => `${name}=${list}`),
        ...(frequency === 'DAILY' && kept.length > 0 ? [] : [`INTERVAL=${interval}`]),
        ...(canChoose && position !== undefined ? [`BYSETPOS=${position}`] : []),
        `WKST=${weekStart}`,
        ...(count === undefined ? [] : [`COUNT=${count}`]),
      ].join(';');
    }),
);

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
    ['FREQ=YEARLY;INTERVAL=20', '2026-01-01', ['2046-01-01', '2066-01-01']],
    ['FREQ=YEARLY;INTERVAL=5', '2024-02-29', ['2044-02-29', '2064-02-29']],
    ['FREQ=MONTHLY;INTERVAL=200', '2026-01-01', ['2042-09-01', '2059-05-01']],
    ['FREQ=WEEKLY;INTERVAL=1000', '2026-01-01', ['2045-03-02', '2064-05-01']],
    ['FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU', '2026-01-04', ['2026-01-18', '2026-02-01']],
  ])('%s from %s', (rule, start, expected) => {
    const first = occurrenceAfter(rule, start, start);
    expect([first, first && occurrenceAfter(rule, start, first)]).toEqual(expected);
  });

  it('is anchored at the start of the series, however late the query', () => {
    expect(occurrenceAfter('FREQ=DAILY;INTERVAL=3', '2026-01-01', '2026-01-08')).toBe('2026-01-10');
    expect(occurrenceAfter('FREQ=DAILY;COUNT=5', '2026-01-01', '2026-02-01')).toBeUndefined();
  });

  it('returns the next date of a plain list', () => {
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

  it('returns the same date as walking the series', () => {
    const sample = fc.record({ rule: anyRule, day: fc.nat(900), later: fc.integer({ min: -3, max: 1500 }) });
    fc.assert(
      fc.property(sample, ({ rule, day, later }) => {
        const start = addDays('2026-01-01', day);
        const date = addDays(start, later);
        expect(occurrenceAfter(rule, start, date)).toBe(walkedAfter(rule, start, date));
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 100 : 40 },
    );
  });

  it.each([
    ['FREQ=DAILY', '1970-01-01', '9000-11-30', '9000-12-01'],
    ['FREQ=DAILY;INTERVAL=999', '1970-01-01', '8990-11-30', '8991-03-07'],
    ['FREQ=DAILY;BYDAY=MO', '1970-01-01', '8999-12-01', '8999-12-02'],
    ['FREQ=WEEKLY;INTERVAL=2;BYMONTH=3', '1970-01-01', '8999-12-01', '9000-03-13'],
    ['FREQ=MONTHLY;BYDAY=-1FR', '1970-01-01', '8999-12-01', '8999-12-27'],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', '1972-02-29', '8995-12-01', '8996-02-29'],
    ['FREQ=DAILY;COUNT=999999', '1970-01-01', '8999-12-01', undefined],
    ['FREQ=DAILY;COUNT=999999;BYMONTHDAY=1,2,3', '1970-01-01', '2069-12-01', '2069-12-02'],
    ['FREQ=WEEKLY;COUNT=999999;BYMONTH=1,2,3', '1970-01-01', '2069-12-01', '2070-01-02'],
    ['FREQ=WEEKLY;COUNT=5218', '1970-01-01', '2069-12-20', '2069-12-26'],
    ['FREQ=WEEKLY;COUNT=5217', '1970-01-01', '2069-12-20', undefined],
  ])('%s from %s is computed quickly after %s', (rule, start, date, expected) => {
    const before = process.cpuUsage();
    let found: string | undefined;
    for (let i = 0; i < 20; i++) found = occurrenceAfter(rule, start, date);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000); // microseconds; half a minute each by walking
    expect(found).toBe(expected);
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

  it('reports errors in its own words', () => {
    expect(() => checkRule('FREQ=WEEKLY;BYDAY=XX', '2026-01-01')).toThrow(/^BYDAY must be a list of days/);
  });

  it('refuses a rule without any date, quickly', () => {
    const before = process.cpuUsage();
    expect(() => checkRule('FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30', '2026-01-01')).toThrow(/no date/);
    expect(() => checkRule('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31', '2026-01-01')).toThrow(/no date/);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000); // microseconds
  });

  it('normalises a rule', () => {
    expect(checkRule(' rrule:freq=daily;interval=2; ', '2026-01-01')).toBe('FREQ=DAILY;INTERVAL=2');
    expect(checkRule('FREQ=DAILY;UNTIL=20270101T235959Z', '2026-01-01')).toBe('FREQ=DAILY;UNTIL=20270101');
    expect(utcOf('2026-01-01')).toBe(Date.UTC(2026, 0, 1));
  });
});
