// Times in the user's own time zone and language.
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const distance = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

export const formatClock = (time: string | number): string => clock.format(new Date(time));

// How far something lags behind, in seconds or longer units.
export function formatLag(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 1) return 'under 1 s';
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}

// How long something took, in milliseconds below a second.
export const formatDuration = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : formatLag(ms);

/** The reader's time zone as it is at that time: "Europe/Berlin (GMT+1)". */
export function nameZone(time: string | number = Date.now()): string {
  const format = new Intl.DateTimeFormat(undefined, { timeZoneName: 'shortOffset' });
  const offset = format.formatToParts(new Date(time)).find(({ type }) => type === 'timeZoneName')?.value;
  const { timeZone } = format.resolvedOptions();
  return offset === undefined || timeZone === 'UTC' ? timeZone : `${timeZone} (${offset})`;
}

export const formatDate = (time: string | number): string => date.format(new Date(time));

export const formatTime = (time: string | number): string => moment.format(new Date(time));

// The past is counted in whole units. The future is rounded: seven days that began a minute ago are still seven.
const wholeOf = (count: number): number => (count < 0 ? Math.trunc(count) : Math.round(count));

export function formatAgo(time: string | number, nowMs = Date.now()): string {
  const seconds = Math.round((new Date(time).getTime() - nowMs) / 1000);
  for (const [unit, size] of steps)
    if (Math.abs(seconds) >= size) return distance.format(wholeOf(seconds / size), unit);
  return distance.format(seconds, 'second');
}

// Isolates a name from the direction of the sentence around it, so that right-to-left names do not reorder it.
export const isolate = (name: string): string => `\u2068${name}\u2069`;

export const formatNumber = (value: number): string => new Intl.NumberFormat().format(value);

/** "1 event", "1,200 events" */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1024).toFixed(bytes < 10_240 ? 1 : 0)} KB`;
  const [size, unit] =
    bytes < 1e9 ? [bytes / 1e6, 'MB'] : bytes < 1e12 ? [bytes / 1e9, 'GB'] : [bytes / 1e12, 'TB'];
  return `${Number(size.toFixed(1))} ${unit}`;
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
export const formatShare = (share: number | null): string => (share === null ? '–' : percent.format(share));
