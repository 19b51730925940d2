import { defineQuery, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { type EventStatus, eventStatuses, eventsKeys } from './events-keys.ts';

// The counters of `ferryhook-events`: events by day and status, totals, and how far events are counted.

// Upper bounds in milliseconds; slower attempts go into one more bucket.
export const latencyBoundsMs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] as const;
export const latencyBuckets = latencyBoundsMs.length + 1;

const count = z.int().optional();
type Count = typeof count;

// ADD creates a missing attribute but not a missing map, so every count is an attribute of its own.
const byStatus = Object.fromEntries(eventStatuses.map(status => [`s_${status}`, count])) as Record<
  `s_${EventStatus}`,
  Count
>;
const byLatency = Object.fromEntries(
  Array.from({ length: latencyBuckets }, (_, i) => [`l_${i}`, count]),
) as Record<`l_${number}`, Count>;

const statsPartition = z.int().describe('Follows from the id that is counted');

export const dayCount = entity(eventsKeys, {
  name: 'count of a day',
  description:
    'Events of a source received that day, by status. An account has several partitions of these, and each process adds to one shard.',
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
    partition: statsPartition,
  }),
  key: { partition: 'COUNTS#{userId}#{partition}', sort: 'DAY#{day}#{sourceId}#{shard}' },
  inKeyOnly: ['partition'],
});
export type DayCount = Omit<ItemOf<typeof dayCount>, 'partition'>;

export const totalCount = entity(eventsKeys, {
  name: 'total',
  description: 'Events of a source, or deliveries and failures of a connection, over its lifetime.',
  schema: z.object({
    userId: z.string(),
    ofId: z.string(),
    shard: z.int(),
    count,
    failures: count,
    lastAt: z.int().optional().describe('Unix timestamp (ms)'),
    partition: statsPartition,
  }),
  key: { partition: 'COUNTS#{userId}#{partition}', sort: 'TOTAL#{ofId}#{shard}' },
  inKeyOnly: ['partition'],
});
export type TotalCount = Omit<ItemOf<typeof totalCount>, 'partition'>;

export const countCheckpoint = entity(eventsKeys, {
  name: 'checkpoint of counts',
  description: 'Last record of a stream shard that is counted. Written in one transaction with the counts.',
  schema: z.object({ shard: z.string(), through: z.string(), expiresAt: z.int() }),
  key: { partition: 'COUNTED', sort: 'SHARD#{shard:text}' },
});

export const countStart = entity(eventsKeys, {
  name: 'start of counting',
  description: 'Events received before this time were counted by earlier versions.',
  schema: z.object({ since: z.int().describe('Unix timestamp (ms)') }),
  key: { partition: 'COUNTED', sort: 'START' },
});

export const daysOfUser = defineQuery('counts of a user by day', { of: dayCount });
export const totalsOfUser = defineQuery('totals of a user', { of: totalCount });
