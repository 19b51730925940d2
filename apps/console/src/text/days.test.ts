import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, addMonths, firstWeekdayIn, monthOf, todayIn, weekdayOf, weeksOf } from './days.ts';

const day = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2199-12-31'), noInvalidDate: true })
  .map(date => date.toISOString().slice(0, 10));

test('a month has whole weeks that begin on the local first day, each day once', () => {
  fc.assert(
    fc.property(day, fc.integer({ min: 0, max: 6 }), (day, firstWeekday) => {
      const weeks = weeksOf(monthOf(day), firstWeekday);
      const days = weeks.flat();
      expect(days).toContain(day);
      expect(weeks.every(week => week.length === 7 && weekdayOf(week[0]!) === firstWeekday)).toBe(true);
      expect(weeks.every(week => week.some(one => monthOf(one) === monthOf(day)))).toBe(true);
      expect(days.slice(1)).toEqual(days.slice(0, -1).map(day => addDays(day, 1)));
    }),
  );
});

test('adding a month keeps the day, or uses the last day of a shorter month', () => {
  expect(addMonths('2026-01-31', 1)).toBe('2026-02-28');
  expect(addMonths('2026-03-31', -1)).toBe('2026-02-28');
  expect(addMonths('2026-12-15', 1)).toBe('2027-01-15');
  fc.assert(
    fc.property(day, day => {
      const next = monthOf(addMonths(day, 1));
      expect(next > monthOf(day)).toBe(true);
      expect(monthOf(addMonths(`${next}-01`, -1))).toBe(monthOf(day));
    }),
  );
});

test('the current day depends on the time zone', () => {
  const now = new Date('2026-03-01T01:30:00Z');
  expect(todayIn('UTC', now)).toBe('2026-03-01');
  expect(todayIn('America/New_York', now)).toBe('2026-02-28');
  expect(todayIn('Pacific/Kiritimati', now)).toBe('2026-03-01');
  expect(todayIn('Asia/Tokyo', new Date('2026-12-31T15:00:00Z'))).toBe('2027-01-01');
});

test('the first day of a week is between Sunday and Saturday', () => {
  expect(firstWeekdayIn('de-DE')).toBe(1);
  expect([0, 1]).toContain(firstWeekdayIn('en-US'));
});
