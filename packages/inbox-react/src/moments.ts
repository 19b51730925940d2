// Times in the user's own time zone and language.
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const distance = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

export const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000);
export const showMoment = (seconds: number): string => moment.format(seconds * 1000);

export function showDistance(seconds: number, nowS: number): string {
  const away = seconds - nowS;
  for (const [unit, size] of steps)
    if (Math.abs(away) >= size) return distance.format(Math.trunc(away / size), unit);
  return distance.format(0, 'second');
}

// Nine o'clock local time on a later day, also across changes of daylight saving time.
function morning(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9);
}

export const snoozeTimes = (now: Date): { label: string; until: number }[] => [
  { label: 'For an hour', until: secondsOf(now) + 3_600 },
  { label: 'Until tomorrow, 9:00', until: secondsOf(morning(now, 1)) },
  { label: 'Until Monday, 9:00', until: secondsOf(morning(now, (8 - now.getDay()) % 7 || 7)) },
];

export const readSpans = (now: Date): { label: string; since?: number }[] => [
  { label: 'Everything' },
  { label: 'Of the last hour', since: secondsOf(now) - 3_600 },
  { label: 'Of today', since: secondsOf(new Date(now.getFullYear(), now.getMonth(), now.getDate())) },
  { label: 'Of the last 7 days', since: secondsOf(now) - 7 * 86_400 },
];
