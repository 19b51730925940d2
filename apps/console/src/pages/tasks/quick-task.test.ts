import { describe, expect, it } from 'vitest';
import { readDate } from './date-words.ts';
import { describeRule, parseQuickTask, readRule } from './quick-task.ts';

const sunday = new Date(2026, 10, 15, 10, 30);
const parse = (text: string) => parseQuickTask(text, sunday, readDate);

describe('a task typed in one line', () => {
  it('is only a title without any markers', () => {
    expect(parse('  Call   Ann ')).toEqual({ title: 'Call Ann' });
  });

  it('has a priority, a category, labels, a day and a recurrence', () => {
    expect(parse('Call Ann tomorrow !High #sales @phone @vip every week')).toEqual({
      title: 'Call Ann',
      priority: 'high',
      category: 'sales',
      labels: ['phone', 'vip'],
      due_date: '2026-11-16',
      recurrence: 'FREQ=WEEKLY',
    });
  });

  it.each([
    ['Pay today', '2026-11-15'],
    ['Pay due 2026-12-31', '2026-12-31'],
    ['Pay in 2 weeks', '2026-11-29'],
    ['Pay in 3 days', '2026-11-18'],
    ['Pay on friday', '2026-11-20'],
    ['Pay friday', '2026-11-20'],
    ['Pay by fri', '2026-11-20'],
    ['Pay mon', '2026-11-16'],
    ['Pay on Sunday', '2026-11-22'],
    ['Pay next week', '2026-11-22'],
    ['Pay next month', '2026-12-15'],
    ['Pay Dec 1', '2026-12-01'],
    ['Pay 1 December', '2026-12-01'],
    ['Friday Pay', '2026-11-20'],
  ])('%s is due %s', (text, due_date) => {
    expect(parse(text)).toEqual({ title: 'Pay', due_date });
  });

  it.each([
    ['Pay at 5pm', '2026-11-15', '17:00'],
    ['Pay tomorrow 9:30', '2026-11-16', '09:30'],
    ['Pay at 9', '2026-11-16', '09:00'], // half past ten has passed it
    ['Pay Dec 1 at noon', '2026-12-01', '12:00'],
  ])('%s reminds on %s at %s', (text, due_date, time) => {
    expect(parse(text)).toEqual({ title: 'Pay', due_date, reminder: { days_before: 0, time } });
  });

  it.each([
    ['Pay every day', '2026-11-15', 'FREQ=DAILY', 'every day'],
    ['Pay every monday', '2026-11-16', 'FREQ=WEEKLY;BYDAY=MO', 'every Monday'],
    ['Pay every mon and thu', '2026-11-16', 'FREQ=WEEKLY;BYDAY=MO,TH', 'every Monday and Thursday'],
    ['Pay every Fridays, Tuesdays', '2026-11-17', 'FREQ=WEEKLY;BYDAY=TU,FR', 'every Tuesday and Friday'],
    ['Pay every weekday', '2026-11-16', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 'every weekday'],
    ['Pay every 2 weeks', '2026-11-15', 'FREQ=WEEKLY;INTERVAL=2', 'every 2 weeks'],
    ['Pay every other month Dec 1', '2026-12-01', 'FREQ=MONTHLY;INTERVAL=2', 'every 2 months'],
  ])('%s begins %s and repeats as %s', (text, due_date, recurrence, words) => {
    expect(parse(text)).toEqual({ title: 'Pay', due_date, recurrence });
    expect(describeRule(recurrence)).toBe(words);
  });

  it.each([
    'Write "today!" to a#b and c@d',
    'Sat down with Ann',
    'Buy sun cream',
    'Read 1984 in part',
    'March report',
    'Write to 10 people',
    'Check every box',
    'Wash every mondrian',
  ])('%s has no date', text => {
    expect(parse(text)).toEqual({ title: text });
  });

  it.each([
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR', 'every 2 weeks on Monday and Friday'],
    ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 'every weekday'],
    ['FREQ=YEARLY', 'every year'],
  ])('%s is %s, which parses to the same rule', (rule, words) => {
    expect(describeRule(rule)).toBe(words);
    expect(readRule(words)).toBe(rule);
  });

  it.each([
    ['FREQ=MONTHLY;BYMONTHDAY=-1', 'every month on the last day'],
    ['FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=22', 'every 3 months on the 22nd'],
    ['FREQ=MONTHLY;BYDAY=2MO', 'every month on the 2nd Monday'],
    ['FREQ=MONTHLY;BYDAY=-1FR', 'every month on the last Friday'],
    ['FREQ=DAILY;COUNT=5', 'every day, 5 times'],
    ['FREQ=WEEKLY;BYDAY=MO;UNTIL=20261231', 'every Monday, until 2026-12-31'],
    ['FREQ=YEARLY;BYYEARDAY=100', 'FREQ=YEARLY;BYYEARDAY=100'], // there are no words for it
  ])('%s is %s', (rule, words) => {
    expect(describeRule(rule)).toBe(words);
    expect(readRule(rule)).toBe(rule);
  });

  it.each(['now and then', 'every monday maybe', ''])('“%s” is not a recurrence', text => {
    expect(readRule(text)).toBeUndefined();
  });
});
