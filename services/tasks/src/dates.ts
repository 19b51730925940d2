import { createRecentMap } from '@stak/kit/recent-map';

// Days and clock times in the time zones of users. A date is `2026-03-01`, a time `09:30`.

const dayMs = 24 * 60 * 60 * 1000;
const mostFormats = 1400; // the time zone database has about 600 names, and half of these are kept for certain
const formats = createRecentMap<string, Intl.DateTimeFormat>(mostFormats);

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(timeZone, format);
  return format;
}

// The name of a time zone in its usual spelling; undefined if it is unknown. Another name of the same zone is kept:
// users in Asia/Kolkata do not call it Asia/Calcutta.
export function zoneNamed(name: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
  } catch {
    return undefined;
  }
}

// The local time, as if it were UTC.
function wallMs(instantMs: number, timeZone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(instantMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

export const dateOf = (utcMs: number): string => new Date(utcMs).toISOString().slice(0, 10);

export const todayIn = (timeZone: string, nowMs: number): string => dateOf(wallMs(nowMs, timeZone));

// Midnight UTC of a date. Dates are counted and compared in UTC, where all days have the same length.
export const utcOf = (date: string): number => Date.parse(`${date}T00:00:00Z`);

export const addDays = (date: string, days: number): string => dateOf(utcOf(date) + days * dayMs);

// The instant of a local time. A time that occurs twice means the first; one that is skipped is moved by the length of
// the gap.
export function instantOf(date: string, time: string, timeZone: string): number {
  const wanted = Date.parse(`${date}T${time}:00Z`);
  const offsetAt = (instantMs: number) => wallMs(instantMs, timeZone) - instantMs;
  const before = wanted - offsetAt(wanted - dayMs);
  if (wallMs(before, timeZone) === wanted) return before;
  const after = wanted - offsetAt(wanted + dayMs);
  return wallMs(after, timeZone) === wanted ? after : before;
}
