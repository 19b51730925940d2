import type { AnyEntity } from '@stak/table';
import type { Insight } from './insight.ts';

// What people ask about what Stak carries for them. Days are those of UTC.

const share = (lakeTable: unknown, whole: unknown): number =>
  Number(whole) === 0 ? 0 : Math.round((Number(lakeTable) / Number(whole)) * 1000) / 1000;

// For an entity with the attributes of the webhooks' deliveries: moments in milliseconds.
export const deliveryInsights = (delivery: AnyEntity): Insight[] => [
  {
    name: 'deliveries',
    description: 'Deliveries of webhooks by day and state, and how many attempts they took.',
    entity: delivery,
    of: 'kept',
    groups: { day: `strftime(to_timestamp("receivedAt" / 1000), '%Y-%m-%d')`, state: 'state' },
    sums: { deliveries: '1', attempts: 'attempts' },
    day: 'day',
  },
];

// For an entity with the attributes of the inbox's messages to a user: moments in seconds, none until it happened.
export const messageInsights = (message: AnyEntity): Insight[] => [
  {
    name: 'messages-read',
    description: 'Messages to users by day, and how many of them were seen and read.',
    entity: message,
    of: 'kept',
    groups: { day: `strftime(to_timestamp(delivered), '%Y-%m-%d')` },
    sums: { messages: '1', seen: 'if(seenat is null, 0, 1)', read: 'if(readat is null, 0, 1)' },
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
];
