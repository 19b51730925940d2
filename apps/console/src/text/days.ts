// Calendar days as `2026-11-15`, the same in every time zone. Which one is today depends on the zone.

const dayMs = 86_400_000;
const msOf = (day: string): number => Date.parse(day); // parsed as UTC, where every day has 24 hours
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const addDays = (day: string, count: number): string => dayOf(msOf(day) + count * dayMs);

export const monthOf = (day: string): string => day.slice(0, 7);

// The same day of another month, or its last day if that month is shorter.
export function addMonths(day: string, count: number): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month + count, 0)).getUTCDate();
  return dayOf(Date.UTC(year, month - 1 + count, Math.min(date, last)));
}

// 0 is Sunday, as for Date.
export const weekdayOf = (day: string): number => new Date(msOf(day)).getUTCDay();

export const startOfWeek = (day: string, firstWeekday: number): string =>
  addDays(day, -((weekdayOf(day) - firstWeekday + 7) % 7));

// All weeks that overlap a month.
export function weeksOf(month: string, firstWeekday: number): string[][] {
  const first = startOfWeek(`${month}-01`, firstWeekday);
  const last = addDays(addMonths(`${month}-01`, 1), -1);
  const weeks: string[][] = [];
  for (let day = first; day <= last; day = addDays(day, 7))
    weeks.push(Array.from({ length: 7 }, (_, index) => addDays(day, index)));
  return weeks;
}

type WeekInfo = { firstDay: number };
type LocaleWithWeeks = Intl.Locale & { getWeekInfo?(): WeekInfo; weekInfo?: WeekInfo };

// The first day of the week in the user's locale: Sunday, Monday or Saturday. Monday if the browser does not say.
export function firstWeekdayIn(language: string): number {
  const locale: LocaleWithWeeks = new Intl.Locale(language);
  return ((locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? 1) % 7;
}

export function todayIn(timeZone: string, now = new Date()): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(now);
  const part = (type: string) => parts.find(one => one.type === type)!.value;
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
}

// A month formats about a hundred days in two or three formats, and creating a format is slower than using it.
const formats = new WeakMap<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>();

export function formatDay(day: string, options: Intl.DateTimeFormatOptions): string {
  const format = formats.get(options) ?? new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' });
  formats.set(options, format);
  return format.format(msOf(day));
}
