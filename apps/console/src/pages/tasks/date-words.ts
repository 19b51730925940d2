import * as english from 'chrono-node/en';
import type { ReadDate } from './quick-task.ts';

// 12/1 is December in the United States and January nearly everywhere else.
const isMonthFirst =
  new Intl.DateTimeFormat(undefined, { month: 'numeric', day: 'numeric' })
    .formatToParts(0)
    .find(({ type }) => type === 'month' || type === 'day')?.type === 'month';
const reader = isMonthFirst && english.casual !== undefined ? english.casual : english.GB;

// Words with other meanings too ("sat down", "sun cream") are a day only at the end or after a word like "on".
const isShortWeekday = /^(?:sun|mon|tue|tues|wed|thu|thur|thurs|fri|sat)$/i;
const lead = /(?:^|\s)(?:due|on|by|at)\s+$/i;

// The library is large, so it is loaded when somebody starts typing.
export const readDate: ReadDate = (text, now) => {
  for (const { index, text: words, start } of reader.parse(text, now, { forwardDate: true })) {
    const before = text.slice(0, index);
    const after = text.slice(index + words.length);
    const isAlone = /(?:^|\s)$/.test(before) && /^(?:[.,;]?\s|[.,;]?$)/.test(after);
    const isDay = start.isCertain('day') || start.isCertain('weekday');
    const isTime = start.isCertain('hour');
    const isNextMonth = /^(?:next|this)\s/i.test(words);
    const isShort = isShortWeekday.test(words) && after.trim() !== '' && !lead.test(before);
    if (!isAlone || isShort || !(isDay || isTime || isNextMonth)) continue;
    const date = start.date();
    // A weekday means the next one, even on that day.
    const isToday = date.toDateString() === now.toDateString();
    if (start.isCertain('weekday') && !start.isCertain('day') && isToday && !/^this/i.test(words))
      date.setDate(date.getDate() + 7);
    const from = index - (lead.exec(before)?.[0].trimStart().length ?? 0);
    return { from, to: index + words.length, date, isTime };
  }
  return undefined;
};
