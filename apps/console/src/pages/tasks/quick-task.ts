import { withCapital } from '../../text/capital.ts';

// One line becomes a task: "Call Ann friday at 5pm !high #sales @phone", "Water plants every monday".
export type QuickTask = {
  title: string;
  priority?: 'low' | 'medium' | 'high' | 'urgent';
  category?: string;
  labels?: string[];
  due_date?: string;
  recurrence?: string;
  reminder?: { days_before: number; time: string };
};

// The first date or time that a text speaks of, and where it stands.
export type ReadDate = (text: string, now: Date) => FoundDate | undefined;
type FoundDate = { from: number; to: number; date: Date; isTime: boolean };

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const weekdayCodes = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const frequencies: Readonly<Record<string, string>> = {
  day: 'DAILY',
  week: 'WEEKLY',
  month: 'MONTHLY',
  year: 'YEARLY',
};
const weekday = '(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*';
const rhythm = new RegExp(
  ` every (?:(other|\\d{1,2}) )?(?:(day|week|month|year)s?|(weekday)s?|(${weekday}(?:(?:,? and |, ?| )${weekday})*))(?= )`,
  'i',
);

const two = (value: number) => String(value).padStart(2, '0');

// The day on the calendar of the person who looks.
const localDay = (date: Date): string =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

export function parseQuickTask(text: string, now = new Date(), readDate?: ReadDate): QuickTask {
  const labels: string[] = [];
  const found: Omit<QuickTask, 'title' | 'labels'> = {};
  let rest = ` ${text} `;
  const cut = (from: number, to: number) => {
    rest = `${rest.slice(0, from)} ${rest.slice(to)}`;
  };
  const take = (pattern: RegExp, use: (match: RegExpExecArray) => void) => {
    for (let match = pattern.exec(rest); match; match = pattern.exec(rest)) {
      use(match);
      cut(match.index, match.index + match[0].length);
    }
  };
  take(/ !(low|medium|high|urgent)(?= )/i, ([, word]) => {
    found.priority = word!.toLowerCase() as QuickTask['priority'];
  });
  take(/ #([^\s#@!]+)(?= )/, ([, word]) => {
    found.category = word!;
  });
  take(/ @([^\s#@!]+)(?= )/, ([, word]) => labels.push(word!));

  const repeated = readDate && rhythm.exec(rest);
  const rule = repeated && ruleOf(repeated);
  if (rule) {
    found.recurrence = rule;
    cut(repeated.index, repeated.index + repeated[0].length);
  }
  const when = readDate?.(rest, now);
  if (when) {
    found.due_date = localDay(when.date);
    if (when.isTime)
      found.reminder = {
        days_before: 0,
        time: `${two(when.date.getHours())}:${two(when.date.getMinutes())}`,
      };
    cut(when.from, when.to);
  }
  // What repeats has to begin somewhere: on the first of its days.
  if (rule) found.due_date = firstDay(rule, when?.date ?? now);
  const title = rest.replaceAll(/\s+/g, ' ').trim();
  return { title, ...found, ...(labels.length > 0 && { labels }) };
}

function ruleOf([, count, unit, isWeekday, days]: RegExpExecArray): string | undefined {
  const interval = count === undefined ? 1 : count.toLowerCase() === 'other' ? 2 : Number(count);
  if (interval === 0) return undefined;
  const every = interval === 1 ? '' : `;INTERVAL=${interval}`;
  if (unit) return `FREQ=${frequencies[unit.toLowerCase()]}${every}`;
  if (isWeekday) return `FREQ=WEEKLY${every};BYDAY=MO,TU,WE,TH,FR`;
  const codes = days!
    .toLowerCase()
    .split(/,? and |, ?| /)
    .map(word => weekdays.findIndex(name => name.startsWith(word.replace(/s$/, '')) && word.length >= 3));
  if (codes.includes(-1)) return undefined;
  const ordered = [...new Set(codes)].sort((a, b) => ((a + 6) % 7) - ((b + 6) % 7));
  return `FREQ=WEEKLY${every};BYDAY=${ordered.map(code => weekdayCodes[code]).join(',')}`;
}

const daysOf = (rule: string): number[] =>
  (/BYDAY=([A-Z,]+)/.exec(rule)?.[1] ?? '')
    .split(',')
    .flatMap(code => (weekdayCodes.includes(code) ? [weekdayCodes.indexOf(code)] : []));

function firstDay(rule: string, from: Date): string {
  const days = daysOf(rule);
  const date = new Date(from);
  if (days.length > 0) while (!days.includes(date.getDay())) date.setDate(date.getDate() + 1);
  return localDay(date);
}

/** A recurrence rule in words: "every 2 weeks", "every Monday and Friday". Other rules stay as they are. */
export function describeRule(rule: string): string {
  const [, unit] = /FREQ=([A-Z]+)/.exec(rule) ?? [];
  const name = Object.keys(frequencies).find(one => frequencies[one] === unit);
  const count = Number(/INTERVAL=(\d+)/.exec(rule)?.[1] ?? 1);
  const rest = rule.replace(/FREQ=[A-Z]+|;?INTERVAL=\d+|;?BYDAY=[A-Z,]+|RRULE:/g, '');
  const days = daysOf(rule).map(day => withCapital(weekdays[day]!));
  if (!name || rest !== '' || (rule.includes('BYDAY') && days.length === 0)) return rule;
  const every = count === 1 ? `every ${name}` : `every ${count} ${name}s`;
  if (days.length === 0) return every;
  const list =
    days.length === 5 && !days.some(day => day.startsWith('S'))
      ? 'weekday'
      : new Intl.ListFormat('en', { type: 'conjunction' }).format(days);
  return count === 1 ? `every ${list}` : `${every} on ${list}`;
}
