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

// The first date or time in a text, and its position.
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
  ` every (?:(other|\\d{1,2}) )?(?:(?!weeks? on ${weekday})(day|week|month|year)s?|(weekday)s?|(?:weeks? on )?(${weekday}(?:(?:,? and |, ?| )${weekday})*))(?= )`,
  'i',
);

const two = (value: number) => String(value).padStart(2, '0');

// The calendar day in the user's time zone.
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
  // A recurring task needs a first date: the next day that matches.
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

/** The recurrence rule for words like "every 2 weeks on Monday", or for text that already is a rule. */
export function readRule(text: string): string | undefined {
  const line = ` ${text.trim()} `;
  const found = rhythm.exec(line);
  if (found && found[0].trim() === text.trim()) return ruleOf(found);
  return /^\s*(?:RRULE:)?[A-Z]+=/i.test(text) ? text.trim() : undefined;
}

/** A recurrence rule in words: "every 2 weeks", "every Monday and Friday". Rare rules stay as they are. */
export function describeRule(rule: string): string {
  const parts = new Map(
    rule
      .replace(/^RRULE:/, '')
      .split(';')
      .map(part => part.split('=', 2) as [string, string]),
  );
  const take = (name: string) => {
    const value = parts.get(name);
    parts.delete(name);
    return value;
  };
  const name = Object.keys(frequencies).find(one => frequencies[one] === parts.get('FREQ'));
  parts.delete('FREQ');
  const count = Number(take('INTERVAL') ?? 1);
  const end = describeEnd(take('COUNT'), take('UNTIL'));
  const every = count === 1 ? `every ${name}` : `every ${count} ${name}s`;
  const onDays = name === 'week' && parts.size === 1 ? namesOfDays(parts.get('BYDAY')) : undefined;
  const onDay = name === 'month' && parts.size === 1 ? nameDayOfMonth(parts) : undefined;
  if (name && parts.size === 0) return every + end;
  if (onDays) return (count === 1 ? `every ${onDays}` : `${every} on ${onDays}`) + end;
  if (onDay) return `${every} on the ${onDay}${end}`;
  return rule;
}

function namesOfDays(byDay: string | undefined): string | undefined {
  const days = byDay?.split(',').map(code => weekdays[weekdayCodes.indexOf(code)]);
  if (!days?.every(day => day !== undefined)) return undefined;
  const isEachWeekday = days.length === 5 && !days.some(day => day.startsWith('s'));
  return isEachWeekday
    ? 'weekday'
    : new Intl.ListFormat('en', { type: 'conjunction' }).format(days.map(withCapital));
}

const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const suffixes: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };
const nameOrdinal = (value: number) =>
  value === -1 ? 'last' : `${value}${suffixes[ordinals.select(value)]}`;

// The 15th, the last day, the 2nd Monday.
function nameDayOfMonth(parts: ReadonlyMap<string, string>): string | undefined {
  const day = /^(-1|[1-9]\d?)$/.exec(parts.get('BYMONTHDAY') ?? '')?.[1];
  if (day) return day === '-1' ? 'last day' : nameOrdinal(Number(day));
  const [, ordinal, code = ''] = /^(-1|[1-5])([A-Z]{2})$/.exec(parts.get('BYDAY') ?? '') ?? [];
  const name = weekdays[weekdayCodes.indexOf(code)];
  return ordinal && name ? `${nameOrdinal(Number(ordinal))} ${withCapital(name)}` : undefined;
}

function describeEnd(count: string | undefined, until: string | undefined): string {
  if (count !== undefined) return count === '1' ? ', once' : `, ${count} times`;
  return until === undefined ? '' : `, until ${until.slice(0, 8).replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3')}`;
}
