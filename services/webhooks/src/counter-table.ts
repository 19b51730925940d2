import { defineQuery, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { type EventStatus, eventStatuses, ferryhookEvents } from './events-table.ts';

// Upper ends in milliseconds; what took longer is in one more bucket.
export const latencyBoundsMs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] as const;
export const latencyBuckets = latencyBoundsMs.length + 1;

const count = z.int().optional();
type Count = typeof count;

// ADD makes an attribute where there is none, but no map: so every count is an attribute of its own.
const byStatus = Object.fromEntries(eventStatuses.map(status => [`s_${status}`, count])) as Record<
  `s_${EventStatus}`,
  Count
>;
const byLatency = Object.fromEntries(
  Array.from({ length: latencyBuckets }, (_, i) => [`l_${i}`, count]),
) as Record<`l_${number}`, Count>;

export const dayCount = entity(ferryhookEvents, {
  name: 'count of a day',
  description:
    'What became of the events a source received that day. Each process adds to a shard of its own.',
  schema: z.object({
    userId: z.string(),
    day: z.string().describe('Like 2026-03-31, in UTC'),
    sourceId: z.string(),
    shard: z.int(),
    received: count,
    attempts: count,
    successes: count,
    ...byStatus,
    ...byLatency,
    expiresAt: z.int(),
  }),
  key: { partition: 'STATS#{userId}', sort: 'DAY#{day}#{sourceId}#{shard}' },
});
export type DayCount = ItemOf<typeof dayCount>;

export const totalCount = entity(ferryhookEvents, {
  name: 'total',
  description: 'Of a source (events) or a connection (deliveries and failures), for as long as it exists.',
  schema: z.object({
    userId: z.string(),
    ofId: z.string(),
    shard: z.int(),
    count,
    failures: count,
    lastAt: z.int().optional().describe('Unix timestamp (ms)'),
  }),
  key: { partition: 'STATS#{userId}', sort: 'TOTAL#{ofId}#{shard}' },
});
export type TotalCount = ItemOf<typeof totalCount>;

export const countMark = entity(ferryhookEvents, {
  name: 'mark of counts',
  description:
    'Through which record of a shard of the stream events are counted. Moved together with the counts.',
  schema: z.object({ shard: z.string(), through: z.string(), expiresAt: z.int() }),
  key: { partition: 'COUNTED', sort: 'SHARD#{shard:text}' },
});

export const countStart = entity(ferryhookEvents, {
  name: 'start of counting',
  description: 'Events that were received before are counted already, by earlier versions.',
  schema: z.object({ since: z.int().describe('Unix timestamp (ms)') }),
  key: { partition: 'COUNTED', sort: 'START' },
});

export const daysOfUser = defineQuery('counts of a user by day', { of: dayCount });
export const totalsOfUser = defineQuery('totals of a user', { of: totalCount });
