import * as rruleModule from 'rrule';
import { z } from 'zod';
import { addDays, dateOf, utcOf } from './calendar.ts';
import { refuseField } from './errors.ts';
import * as limits from './limits.ts';

// Node finds no names in this CommonJS package, bundlers do.
const { RRule } = (rruleModule as { default?: typeof rruleModule }).default ?? rruleModule;

// Rules of RFC 5545 over dates. Everything happens at midnight UTC, where every day has 24 hours: which date is today
// for the user is asked elsewhere.

// What RFC 5545 allows for each frequency, where it makes sense for dates.
const parts: Readonly<Record<string, readonly string[]>> = {
  DAILY: ['BYMONTH', 'BYMONTHDAY', 'BYDAY'],
  WEEKLY: ['BYMONTH', 'BYDAY'],
  MONTHLY: ['BYMONTH', 'BYMONTHDAY', 'BYDAY', 'BYSETPOS'],
  YEARLY: ['BYMONTH', 'BYWEEKNO', 'BYYEARDAY', 'BYMONTHDAY', 'BYDAY', 'BYSETPOS'],
};
const always = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST'];
const shape = /^[A-Z]+=[A-Z0-9,+-]+(?:;[A-Z]+=[A-Z0-9,+-]+)*$/;

const refuse = (why: string) => refuseField('tasks.recurrence_refused', 'body', 'recurrence', why);

// The rule as it is kept: upper case, without the prefix.
export function checkRule(text: string, start: string): string {
  const rule = text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '')
    .replace(/;$/, '');
  if (!shape.test(rule)) throw refuse('This is no RRULE: it looks like FREQ=WEEKLY;BYDAY=MO.');
  checkParts(rule.split(';').map(part => part.split('=') as [string, string]));
  let first: string | undefined;
  try {
    first = occurrenceAfter(rule, start, addDays(start, -1));
  } catch (error) {
    throw refuse(`This is no RRULE: ${error instanceof Error ? error.message : 'it cannot be read'}.`);
  }
  if (first === undefined) throw refuse(`This rule has no date within ${limits.ruleYears} years.`);
  return rule;
}

function checkParts(given: readonly [name: string, value: string][]): void {
  const values = new Map(given);
  if (values.size < given.length) throw refuse('A part of the RRULE stands twice.');
  const frequency = values.get('FREQ') ?? '';
  const allowed = parts[frequency];
  if (!allowed) throw refuse(`FREQ has to be one of ${Object.keys(parts).join(', ')}.`);
  for (const name of values.keys())
    if (!always.includes(name) && !allowed.includes(name))
      throw refuse(`FREQ=${frequency} goes with ${allowed.join(', ')}, not with ${name}.`);
  const interval = Number(values.get('INTERVAL') ?? 1);
  if (!Number.isInteger(interval) || interval < 1 || interval > limits.ruleInterval)
    throw refuse(`INTERVAL is a number from 1 to ${limits.ruleInterval}.`);
  if (frequency === 'DAILY' && interval > 1 && allowed.some(name => values.has(name)))
    throw refuse('FREQ=DAILY takes an INTERVAL or a BY…, not both.');
  if (!/^[1-9]\d{0,5}$/.test(values.get('COUNT') ?? '1')) throw refuse('COUNT is a number from 1 to 999999.');
  if (!/^(MO|TU|WE|TH|FR|SA|SU)$/.test(values.get('WKST') ?? 'MO')) throw refuse('WKST is a day, as in MO.');
  if (!isDate(values.get('UNTIL') ?? '20260101')) throw refuse('UNTIL has to be a date, as in 20261231.');
}

const untilShape = /^(\d{4})(\d\d)(\d\d)(?:T(?:[01]\d|2[0-3])[0-5]\d[0-5]\dZ)?$/;

const isDate = (until: string): boolean =>
  z.iso.date().safeParse(untilShape.exec(until)?.slice(1, 4).join('-')).success;

// The first date of the series after the given one; undefined when the series is over.
export function occurrenceAfter(rule: string, start: string, date: string): string | undefined {
  const shiftMs = laterMs(start, date);
  const at = (day: string) => new Date(utcOf(day) + shiftMs);
  const { until, ...options } = RRule.parseString(rule);
  // Every day that is this or that: the same dates as a year of them, which is looked for year by year.
  if (options.freq === RRule.DAILY && /BY/.test(rule)) options.freq = RRule.YEARLY;
  const series = new RRule(
    { ...options, dtstart: at(start), until: until && new Date(until.getTime() + shiftMs) },
    true,
  );
  const next = series.after(at(date));
  if (!next || next > at(addDays(date < start ? start : date, limits.ruleYears * 366))) return undefined;
  const found = dateOf(next.getTime() - shiftMs);
  return found <= limits.lastDate ? found : undefined;
}

const cycleYears = 400; // after which dates fall on the same days of the week
const cycleMs = 146_097 * 24 * 60 * 60 * 1000;
const lastYear = 9999; // where the library gives up

// The library looks for the next date until the end of its time, eight thousand years if there is none. So we ask in
// its last centuries, which look the same.
function laterMs(start: string, date: string): number {
  const year = Number((date < start ? start : date).slice(0, 4)) + limits.ruleYears + 1;
  return Math.max(0, Math.floor((lastYear - year) / cycleYears)) * cycleMs;
}
