import { nameSchemas } from '@stak/http';
import { z } from 'zod';
import { idSchema } from '../schema.ts';
import { type EventStatus, eventStatuses } from '../tables.ts';

const count = z.int();
const statusCounts = z.strictObject(
  Object.fromEntries(
    eventStatuses.map(status => [status, count.describe(`How many are \`${status}\`.`)]),
  ) as Record<EventStatus, typeof count>,
);
nameSchemas({ EventStatusCounts: statusCounts });

export const analyticsQuery = z.strictObject({
  from: z.iso.date().optional().describe('The first day. Defaults to six days before the last'),
  to: z.iso.date().optional().describe('The last day. Defaults to today'),
  sourceId: idSchema.optional().describe('The source that it is about; all sources if absent.'),
});
export const analyticsSchema = z.strictObject({
  days: z
    .array(
      z.strictObject({
        day: z.string().describe('The day in UTC, as 2026-11-16.'),
        received: count.describe('How many events were received.'),
        statuses: statusCounts,
        attempts: count.describe('How many attempts were made.'),
        successes: count.describe('How many attempts succeeded.'),
      }),
    )
    .describe('One entry per day, oldest first.'),
  received: count.describe('How many events were received.'),
  statuses: statusCounts,
  attempts: count.describe('How many attempts were made.'),
  successRate: z
    .number()
    .nullable()
    .describe('The share of attempts that succeeded, from 0 to 1; null if there were none.'),
  latency: z
    .strictObject({
      p50: z.number().nullable().describe('Half of them took at most this long, in milliseconds.'),
      p95: z.number().nullable().describe('95 of 100 took at most this long, in milliseconds.'),
    })
    .describe('Response times of destinations.'),
  topSources: z
    .array(
      z.strictObject({
        sourceId: z.string().describe('The id of the source.'),
        received: count.describe('How many events were received.'),
      }),
    )
    .describe('The sources with the most events.'),
});
