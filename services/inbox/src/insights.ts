import { defineInsights } from '@stak/table';
import { userMessage } from './tables.ts';

const share = (part: unknown, whole: unknown): number =>
  Number(whole) === 0 ? 0 : Math.round((Number(part) / Number(whole)) * 1000) / 1000;

// For the lake. Times are in seconds, null until it happened; days are those of UTC.
export const messageInsights = defineInsights(userMessage, ({ column }) => [
  {
    name: 'messages-read',
    description: 'Messages to users by day, and how many of them were seen and read.',
    of: 'kept',
    groups: { day: `strftime(to_timestamp(${column('delivered')}), '%Y-%m-%d')` },
    sums: {
      messages: '1',
      seen: `if(${column('seenat')} is null, 0, 1)`,
      read: `if(${column('readat')} is null, 0, 1)`,
    },
    day: 'day',
    answer: rows =>
      rows.map(({ day = null, messages = 0, seen = 0, read = 0 }) => ({
        day,
        messages,
        seen,
        read,
        read_rate: share(read, messages),
      })),
  },
]);
