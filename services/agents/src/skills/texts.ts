// Words for the answers that skills write themselves. They are in English, like the rules that trigger the skills.

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

const day = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const dayFormat = new Intl.DateTimeFormat('en-GB', { ...day, timeZone: 'UTC' });
const clock = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;

/** "17 Nov 2026", the day in UTC. */
export const formatDay = (time: string): string => dayFormat.format(new Date(time));

/** "17 Nov 2026, 11:22 UTC" */
export const formatTime = (time: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { ...day, ...clock, timeZone }).format(new Date(time));
