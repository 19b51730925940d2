// Times in the zone and the words of whoever looks.
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const distance = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

export const formatTime = (time: string | number): string => moment.format(new Date(time));

export function formatAgo(time: string | number, nowMs = Date.now()): string {
  const seconds = Math.round((new Date(time).getTime() - nowMs) / 1000);
  for (const [unit, size] of steps)
    if (Math.abs(seconds) >= size) return distance.format(Math.trunc(seconds / size), unit);
  return distance.format(seconds, 'second');
}

export const formatNumber = (value: number): string => new Intl.NumberFormat().format(value);

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return `${(bytes / 1024).toFixed(bytes < 10_240 ? 1 : 0)} KB`;
}
