import { dateOf, utcOf } from '../dates.ts';
import * as limits from '../limits.ts';

// The dates of a recurrence rule (RFC 5545). A series may have started thousands of years ago, so it is not walked from
// its start: the period of a date is computed, and dates are searched there and in the few periods after it. Days are
// numbers since 1970. The caller decides which day is today.

type Frequency = 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY';
type NumberedDay = { weekday: number; nth: number }; // -1 is the last one; 0 is every one
type Rule = {
  frequency: Frequency;
  interval: number;
  count?: number;
  until?: number;
  weekStart: number; // 0 is Monday
  months: ReadonlySet<number>;
  monthDays: ReadonlySet<number>;
  yearDays: ReadonlySet<number>;
  weeks: ReadonlySet<number>;
  days: readonly NumberedDay[];
  positions: readonly number[];
};

// The first date of the series after the given one; undefined when the series is over.
export function occurrenceAfter(text: string, start: string, date: string): string | undefined {
  const first = dayOf(start);
  const from = Math.max(first, dayOf(date) + 1);
  const rule = completeRule(parseRule(text), first);
  const horizon = Math.max(first, dayOf(date)) + limits.ruleYears * 366 * rule.interval;
  const last = Math.min(horizon, dayOf(limits.lastDate), rule.until ?? Number.POSITIVE_INFINITY);
  const found = firstFrom(rule, first, from, last);
  if (found === undefined || (rule.count !== undefined && isCountedOut(rule, first, found))) return undefined;
  return dateOf(found * dayMs);
}

function firstFrom(rule: Rule, first: number, from: number, last: number): number | undefined {
  const periods = periodsOf(rule, first);
  for (let at = periods.indexOf(from); periods.startOf(at) <= last; at += 1) {
    const found = periods.list(at).find(day => day >= from);
    if (found !== undefined) return found <= last ? found : undefined;
  }
  return undefined;
}

// Counting takes all dates before, so a series with COUNT also ends after a number of years.
function isCountedOut(rule: Rule, first: number, found: number): boolean {
  const periods = periodsOf(rule, first);
  const countIn = (at: number) => periods.list(at).filter(day => day >= first && day < found).length;
  const end = periods.indexOf(found);
  // All periods of days and weeks have the same number of dates, unless some months are excluded.
  if (
    (rule.frequency === 'DAILY' && !hasLists(rule)) ||
    (rule.frequency === 'WEEKLY' && rule.months.size === 0)
  )
    return (end > 0 ? countIn(0) + (end - 1) * periods.list(1).length : 0) + countIn(end) >= rule.count!;
  if (found - first > limits.countedYears * 366) return true;
  let before = 0;
  for (let at = 0; at <= end && before < rule.count!; at += 1) before += countIn(at);
  return before >= rule.count!;
}

// The periods in which the rule has dates, numbered from the one that holds the start. An interval skips the others.
type Periods = { indexOf(day: number): number; startOf(at: number): number; list(at: number): number[] };

function periodsOf(rule: Rule, first: number): Periods {
  const { frequency, interval } = rule;
  const index = (distance: number) => Math.max(0, Math.floor(distance / interval));
  const { year, month } = civilOf(first);
  if (frequency === 'DAILY' && !hasLists(rule)) {
    const startOf = (at: number) => first + at * interval;
    return { indexOf: day => index(day - first), startOf, list: at => [startOf(at)] };
  }
  if (frequency === 'WEEKLY') {
    const week = first - sinceWeekStart(weekdayOf(first), rule.weekStart);
    const startOf = (at: number) => week + at * interval * 7;
    const offsets = rule.days
      .map(({ weekday }) => sinceWeekStart(weekday, rule.weekStart))
      .sort((a, b) => a - b);
    const list = (at: number) =>
      [...new Set(offsets)]
        .map(offset => startOf(at) + offset)
        .filter(day => rule.months.size === 0 || rule.months.has(civilOf(day).month));
    return { indexOf: day => index(Math.floor((day - week) / 7)), startOf, list };
  }
  const listMonth = monthLister(rule);
  if (frequency === 'MONTHLY') {
    const monthAt = (at: number): [number, number] => {
      const months = year * 12 + (month - 1) + at * interval;
      return [Math.floor(months / 12), (months % 12) + 1];
    };
    return {
      indexOf: day => index((civilOf(day).year - year) * 12 + civilOf(day).month - month),
      startOf: at => dayOfCivil(...monthAt(at)),
      list: at => choose(rule, listMonth(...monthAt(at))),
    };
  }
  // A daily rule with lists has no interval, so it can be searched year by year too.
  return {
    indexOf: day => index(civilOf(day).year - year),
    startOf: at => dayOfCivil(year + at * interval, 1),
    list: at => {
      const days: number[] = [];
      for (let one = 1; one <= 12; one += 1)
        if (rule.months.size === 0 || rule.months.has(one))
          days.push(...listMonth(year + at * interval, one));
      return choose(rule, days);
    },
  };
}

// Months with the same name, length and first weekday have the same dates, unless the rule counts days or weeks of the
// year.
function monthLister(rule: Rule): (year: number, month: number) => number[] {
  const known = new Map<number, number[]>();
  const countsInYear = rule.yearDays.size + rule.weeks.size > 0 || rule.frequency === 'YEARLY';
  return (year, month) => {
    if (countsInYear) return listDays(rule, daysOfMonth(year, month));
    const first = dayOfCivil(year, month);
    const kind = (month * 32 + lengthOf(year, month)) * 7 + weekdayOf(first);
    let offsets = known.get(kind);
    if (!offsets) {
      offsets = listDays(rule, daysOfMonth(year, month)).map(day => day - first);
      known.set(kind, offsets);
    }
    return offsets.map(offset => first + offset);
  };
}

// BYSETPOS: the first, the last but one, … of the dates of a period.
function choose({ positions }: Rule, days: number[]): number[] {
  if (positions.length === 0) return days;
  const chosen = new Set(positions.map(at => days[at > 0 ? at - 1 : days.length + at]));
  return days.filter(day => chosen.has(day));
}

const listDays = (rule: Rule, days: readonly Civil[]): number[] =>
  days.filter(day => isMember(rule, day)).map(({ number }) => number);

function isMember(rule: Rule, day: Civil): boolean {
  const { months, monthDays, yearDays, weeks, days } = rule;
  if (months.size > 0 && !months.has(day.month)) return false;
  if (
    monthDays.size > 0 &&
    !monthDays.has(day.monthDay) &&
    !monthDays.has(day.monthDay - day.monthLength - 1)
  )
    return false;
  if (yearDays.size > 0 && !yearDays.has(day.yearDay) && !yearDays.has(day.yearDay - day.yearLength - 1))
    return false;
  if (days.length > 0 && !days.some(one => isNumbered(rule, day, one))) return false;
  return weeks.size === 0 || isInWeeks(rule, day);
}

// The nth weekday of the month, or of the year if the rule names no month.
function isNumbered({ frequency, months }: Rule, day: Civil, { weekday, nth }: NumberedDay): boolean {
  if (day.weekday !== weekday) return false;
  if (nth === 0) return true;
  const isOfYear = frequency === 'YEARLY' && months.size === 0;
  const [at, length] = isOfYear ? [day.yearDay, day.yearLength] : [day.monthDay, day.monthLength];
  return nth === (nth > 0 ? Math.ceil(at / 7) : -Math.ceil((length - at + 1) / 7));
}

// A week belongs to the year with most of its days, which is the year of its fourth day.
function isInWeeks({ weeks, weekStart }: Rule, day: Civil): boolean {
  let fourth = day.yearDay - sinceWeekStart(day.weekday, weekStart) + 3;
  let length = day.yearLength;
  if (fourth < 1) {
    length = yearLengthOf(day.year - 1);
    fourth += length;
  } else if (fourth > length) {
    fourth -= length;
    length = yearLengthOf(day.year + 1);
  }
  const left = Math.floor((length - fourth) / 7); // weeks of that year after this one
  return weeks.has(Math.ceil(fourth / 7)) || weeks.has(-left - 1);
}

const sinceWeekStart = (weekday: number, weekStart: number): number => (weekday - weekStart + 7) % 7;

// Parts that a rule leaves out are taken from its first date.
function completeRule(rule: Rule, first: number): Rule {
  const { frequency, yearDays, monthDays, weeks, days } = rule;
  if (yearDays.size + monthDays.size + weeks.size + days.length > 0) return rule;
  const { month, monthDay, weekday } = civilOf(first);
  if (frequency === 'WEEKLY') return { ...rule, days: [{ weekday, nth: 0 }] };
  if (frequency === 'MONTHLY') return { ...rule, monthDays: new Set([monthDay]) };
  if (frequency === 'DAILY') return rule;
  const months = rule.months.size > 0 ? rule.months : new Set([month]);
  return { ...rule, months, monthDays: new Set([monthDay]) };
}

const hasLists = ({ months, monthDays, days }: Rule): boolean =>
  months.size + monthDays.size + days.length > 0;

const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

// For a rule that checkRule has accepted.
function parseRule(text: string): Rule {
  const parts = new Map(text.split(';').map(part => part.split('=') as [string, string]));
  const numbers = (name: string): number[] => parts.get(name)?.split(',').map(Number) ?? [];
  const count = parts.get('COUNT');
  const until = parts.get('UNTIL');
  return {
    frequency: parts.get('FREQ') as Frequency,
    interval: Number(parts.get('INTERVAL') ?? 1),
    ...(count !== undefined && { count: Number(count) }),
    ...(until !== undefined && {
      until: dayOfCivil(Number(until.slice(0, 4)), Number(until.slice(4, 6))) + Number(until.slice(6, 8)) - 1,
    }),
    weekStart: weekdays.indexOf(parts.get('WKST') ?? 'MO'),
    months: new Set(numbers('BYMONTH')),
    monthDays: new Set(numbers('BYMONTHDAY')),
    yearDays: new Set(numbers('BYYEARDAY')),
    weeks: new Set(numbers('BYWEEKNO')),
    days: (parts.get('BYDAY')?.split(',') ?? []).map(day => ({
      weekday: weekdays.indexOf(day.slice(-2)),
      nth: Number(day.slice(0, -2)),
    })),
    positions: numbers('BYSETPOS'),
  };
}

const dayMs = 24 * 60 * 60 * 1000;
const dayOf = (date: string): number => utcOf(date) / dayMs;
// The first day of a month. The calendar has 146,097 days in 400 years.
const dayOfCivil = (year: number, month: number): number => {
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  return before * 365 + leapDays - daysTo1970 + daysBefore[month - 1]! + (month > 2 && isLeap(year) ? 1 : 0);
};
const daysTo1970 = 719_162; // from the first day of the year 1
const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7; // 1970 began on a Thursday

type Civil = {
  number: number;
  year: number;
  month: number;
  monthDay: number;
  yearDay: number;
  weekday: number;
  monthLength: number;
  yearLength: number;
};

function civilOf(day: number): Civil {
  const at = new Date(day * dayMs);
  return civilAt(at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), day);
}

function daysOfMonth(year: number, month: number): Civil[] {
  const first = dayOfCivil(year, month);
  return Array.from({ length: lengthOf(year, month) }, (_, more) =>
    civilAt(year, month, more + 1, first + more),
  );
}

function civilAt(year: number, month: number, monthDay: number, number: number): Civil {
  return {
    number,
    year,
    month,
    monthDay,
    yearDay: daysBefore[month - 1]! + (month > 2 && isLeap(year) ? 1 : 0) + monthDay,
    weekday: weekdayOf(number),
    monthLength: lengthOf(year, month),
    yearLength: yearLengthOf(year),
  };
}

const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const yearLengthOf = (year: number): number => (isLeap(year) ? 366 : 365);
const lengthOf = (year: number, month: number): number =>
  month === 2 && isLeap(year) ? 29 : daysBefore[month]! - daysBefore[month - 1]!;
