import { nameSchemas } from '@stak/http';
import { z } from 'zod';
import { filtersSchema } from '../filters/schema.ts';
import * as limits from '../limits.ts';
import { idSchema } from '../schema.ts';
import { transformSchema } from '../transforms/schema.ts';

const moment = z.iso.datetime({ offset: true });
const count = z.int();

export const whatIfSchema = z.strictObject({
  filters: filtersSchema.default([]),
  transform: transformSchema.default({ type: 'passthrough' }),
  connectionId: idSchema
    .optional()
    .describe('The connection whose present rules are compared. Without it, every event is sent as it came'),
  from: moment.optional().describe('Events received from this time on. Defaults to the oldest that is kept'),
  to: moment.optional().describe('Events received before this time. Defaults to now'),
  limit: z.int().min(1).max(limits.whatIfEvents).default(limits.whatIfEvents),
  cursor: z.string().optional().describe('`next_cursor` of the page before, with the same rules'),
});

const outcomeSchema = z.strictObject({
  result: z
    .enum(['sent', 'filtered', 'dropped', 'failed'])
    .describe('`filtered` by the filters, `dropped` by the transform, or `failed` because of it'),
  bytes: count.optional().describe('The length of the body that is sent'),
  body: z.string().optional().describe('The body that is sent, in base64, unless it is longer than 64 KB'),
  contentType: z.string().optional().describe('If the transform sets another one'),
  headers: z
    .array(z.tuple([z.string(), z.string()]))
    .optional()
    .describe('If the transform sets others'),
  reason: z.string().optional().describe('Why the transform failed'),
  message: z.string().optional(),
});
export type OutcomeView = z.infer<typeof outcomeSchema>;

const outcomeCounts = z.strictObject({ sent: count, filtered: count, dropped: count, failed: count });

const differenceSchema = z.strictObject({
  eventId: z.string(),
  receivedAt: count,
  eventType: z.string().optional(),
  before: outcomeSchema,
  after: outcomeSchema,
});

export const whatIfPageSchema = z.strictObject({
  events: count.describe('How many events of this page were run through both rules. Rejected ones are not'),
  before: outcomeCounts,
  after: outcomeCounts,
  data: z.array(differenceSchema).describe('The events of this page whose outcome differs, oldest first'),
  next_cursor: z.string().nullable(),
});

nameSchemas({
  RulesOutcome: outcomeSchema,
  RulesOutcomeCounts: outcomeCounts,
  RulesDifference: differenceSchema,
});
