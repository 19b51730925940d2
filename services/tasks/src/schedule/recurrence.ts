import { z } from 'zod';
import { addDays } from '../dates.ts';
import { refuseField } from '../errors.ts';
import * as limits from '../limits.ts';
import { occurrenceAfter } from './occurrences.ts';

// Recurrence rules (RFC 5545) over dates: which are accepted, and how they are spelled in the table.

// The parts that RFC 5545 allows for each frequency and that make sense for dates.
const parts: Readonly<Record<string, readonly string[]>> = {
  DAILY: ['BYMONTH', 'BYMONTHDAY', 'BYDAY'],
  WEEKLY: ['BYMONTH', 'BYDAY'],
  MONTHLY: ['BYMONTH', 'BYMONTHDAY', 'BYDAY', 'BYSETPOS'],
  YEARLY: ['BYMONTH', 'BYWEEKNO', 'BYYEARDAY', 'BYMONTHDAY', 'BYDAY', 'BYSETPOS'],
};
const always = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST'];
const shape = /^[A-Z]+=[A-Z0-9,+-]+(?:;[A-Z]+=[A-Z0-9,+-]+)*$/;

const refuse = (why: string) => refuseField('tasks.recurrence_refused', 'body', 'recurrence', why);

// Upper case, without the prefix. UNTIL becomes a date, because calendars do not accept a time in a series of dates.
export const spellRule = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '')
    .replace(/;$/, '')
    .replace(/(?<=UNTIL=)(\d{8})T(?:[01]\d|2[0-3])[0-5]\d[0-5]\dZ(?=;|$)/, '$1');

// Checks a rule, and returns it as it is stored.
export function checkRule(text: string, start: string): string {
  const rule = spellRule(text);
  if (!shape.test(rule)) throw refuse('Not a valid RRULE. Example: FREQ=WEEKLY;BYDAY=MO.');
  checkParts(rule.split(';').map(part => part.split('=') as [string, string]));
  if (occurrenceAfter(rule, start, addDays(start, -1)) === undefined)
    throw refuse(`This rule has no date within ${limits.ruleYears} years.`);
  return rule;
}

function checkParts(given: readonly [name: string, value: string][]): void {
  const values = new Map(given);
  if (values.size < given.length) throw refuse('The RRULE has the same part twice.');
  const frequency = values.get('FREQ') ?? '';
  const allowed = parts[frequency];
  if (!allowed) throw refuse(`FREQ must be one of ${Object.keys(parts).join(', ')}.`);
  for (const name of values.keys())
    if (!always.includes(name) && !allowed.includes(name))
      throw refuse(`FREQ=${frequency} allows ${allowed.join(', ')}, but not ${name}.`);
  const interval = Number(values.get('INTERVAL') ?? 1);
  if (!Number.isInteger(interval) || interval < 1 || interval > limits.ruleInterval)
    throw refuse(`INTERVAL must be a number from 1 to ${limits.ruleInterval}.`);
  if (frequency === 'DAILY' && interval > 1 && allowed.some(name => values.has(name)))
    throw refuse('FREQ=DAILY cannot combine an INTERVAL with a BY… part.');
  if (!/^[1-9]\d{0,5}$/.test(values.get('COUNT') ?? '1'))
    throw refuse('COUNT must be a number from 1 to 999999.');
  if (values.has('COUNT') && values.has('UNTIL')) throw refuse('A rule cannot have both COUNT and UNTIL.');
  if (!weekday.test(values.get('WKST') ?? 'MO')) throw refuse('WKST must be a weekday, such as MO.');
  if (!isDate(values.get('UNTIL') ?? '20260101')) throw refuse('UNTIL must be a date, such as 20261231.');
  checkLists(values, frequency);
}

const weekday = /^(MO|TU|WE|TH|FR|SA|SU)$/;
const numberedDay = /^([+-]?(?:[1-9]|[1-4]\d|5[0-3]))?(MO|TU|WE|TH|FR|SA|SU)$/;
// The largest number of each list. All except months may also count from the end.
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
      throw refuse(`${name} must be a list of numbers from ${least} to ${most}, without 0.`);
  }
  const days = values.get('BYDAY')?.split(',') ?? [];
  if (!days.every(day => numberedDay.test(day)))
    throw refuse('BYDAY must be a list of days, such as MO,FR or -1FR.');
  const canNumber = ['MONTHLY', 'YEARLY'].includes(frequency) && !values.has('BYWEEKNO');
  if (!canNumber && !days.every(day => weekday.test(day)))
    throw refuse('Numbered days such as -1FR need FREQ=MONTHLY or FREQ=YEARLY, without BYWEEKNO.');
  if (values.has('BYSETPOS') && ![...values.keys()].some(name => /^BY(?!SETPOS)/.test(name)))
    throw refuse('BYSETPOS needs another BY… part.');
}

const isDate = (until: string): boolean =>
  z.iso.date().safeParse(/^(\d{4})(\d\d)(\d\d)$/.exec(until)?.slice(1, 4).join('-')).success;
