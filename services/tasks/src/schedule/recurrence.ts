import { z } from 'zod';
import { refuseField } from '../errors.ts';
import * as limits from '../limits.ts';
import { addDays } from './dates.ts';
import { occurrenceAfter } from './occurrences.ts';

// Rules of RFC 5545 over dates: which of them are taken, and in which spelling they are kept.

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

// Upper case, without the prefix. A series of dates ends with a date; calendars do not read it otherwise.
export const spellRule = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '')
    .replace(/;$/, '')
    .replace(/(?<=UNTIL=)(\d{8})T(?:[01]\d|2[0-3])[0-5]\d[0-5]\dZ(?=;|$)/, '$1');

// The rule as it is kept.
export function checkRule(text: string, start: string): string {
  const rule = spellRule(text);
  if (!shape.test(rule)) throw refuse('This is no RRULE: it looks like FREQ=WEEKLY;BYDAY=MO.');
  checkParts(rule.split(';').map(part => part.split('=') as [string, string]));
  if (occurrenceAfter(rule, start, addDays(start, -1)) === undefined)
    throw refuse(`This rule has no date within ${limits.ruleYears} years.`);
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
  if (values.has('COUNT') && values.has('UNTIL')) throw refuse('A rule has a COUNT or an UNTIL, not both.');
  if (!weekday.test(values.get('WKST') ?? 'MO')) throw refuse('WKST is a day, as in MO.');
  if (!isDate(values.get('UNTIL') ?? '20260101')) throw refuse('UNTIL has to be a date, as in 20261231.');
  checkLists(values, frequency);
}

const weekday = /^(MO|TU|WE|TH|FR|SA|SU)$/;
const numberedDay = /^([+-]?(?:[1-9]|[1-4]\d|5[0-3]))?(MO|TU|WE|TH|FR|SA|SU)$/;
// The largest number of each list. All but months are counted from the end, too.
const largest: Readonly<Record<string, number>> = {
  BYMONTH: 12,
  BYMONTHDAY: 31,
  BYYEARDAY: 366,
  BYWEEKNO: 53,
  BYSETPOS: 366,
};

function checkLists(values: ReadonlyMap<string, string>, frequency: string): void {
  for (const [name, most] of Object.entries(largest)) {
    const least = name === 'BYMONTH' ? 1 : -most;
    const isFine = (text: string) =>
      /^[+-]?\d{1,3}$/.test(text) && Number(text) !== 0 && Number(text) >= least && Number(text) <= most;
    if (values.has(name) && !values.get(name)!.split(',').every(isFine))
      throw refuse(`${name} is a list of numbers from ${least} to ${most}, without 0.`);
  }
  const days = values.get('BYDAY')?.split(',') ?? [];
  if (!days.every(day => numberedDay.test(day)))
    throw refuse('BYDAY is a list of days, as in MO,FR or -1FR.');
  const canNumber = ['MONTHLY', 'YEARLY'].includes(frequency) && !values.has('BYWEEKNO');
  if (!canNumber && !days.every(day => weekday.test(day)))
    throw refuse('Numbered days, as in -1FR, are those of a month or a year.');
  if (values.has('BYSETPOS') && ![...values.keys()].some(name => /^BY(?!SETPOS)/.test(name)))
    throw refuse('BYSETPOS chooses among what another BY… says.');
}

const isDate = (until: string): boolean =>
  z.iso.date().safeParse(/^(\d{4})(\d\d)(\d\d)$/.exec(until)?.slice(1, 4).join('-')).success;
