import { z } from 'zod';
import * as limits from './limits.ts';
import { priorities, statuses, summary, taskId, taskPatch, wireTask } from './schema.ts';

// What routes take and answer, besides tasks and profiles.

export const taskParams = z.strictObject({ task_id: taskId });
// A list gives summaries, or whole tasks where it is asked for them.
export const listedTask = z.union([wireTask, summary]);
export const trashedTask = wireTask.extend({ deleted_at: z.number().int() }).strict();
export const foundTask = wireTask.extend({ score: z.number() }).strict();

export const idempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'An Idempotency-Key has 1 to 255 visible ASCII characters')
    .optional(),
});

const count = z.number().int();
const countsOf = (names: readonly string[]) =>
  z.strictObject(Object.fromEntries(names.map(name => [name, count])));

export const counts = z.strictObject({
  total: count,
  by_status: countsOf(statuses),
  by_priority: countsOf([...priorities, 'none']),
  by_category: z.array(z.strictObject({ category: z.string(), tasks: count })),
  blocked: count,
  overdue: count,
});

export const changesPage = z.strictObject({
  changed: z.array(wireTask),
  deleted: z.array(z.strictObject({ task_id: z.string() })),
  token: z.string(),
  has_more: z.boolean(),
});

export const place = z.union([
  z.strictObject({ before: taskId }),
  z.strictObject({ after: taskId }),
  z.strictObject({ to: z.enum(['top', 'bottom']) }),
]);

const ifMatch = z.string().max(40).optional();
const bulkItem = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('update'), task_id: taskId, if_match: ifMatch, set: taskPatch }),
  z.strictObject({ op: z.literal('delete'), task_id: taskId, if_match: ifMatch }),
  z.strictObject({ op: z.literal('restore'), task_id: taskId, if_match: ifMatch }),
]);
export const bulkRequest = z.strictObject({ items: z.array(bulkItem).min(1).max(limits.bulkItems) });
export const bulkResults = z.strictObject({
  results: z.array(
    z.union([
      z.strictObject({ task_id: z.string(), ok: z.literal(true), task: wireTask.optional() }),
      z.strictObject({ task_id: z.string(), ok: z.literal(false), code: z.string(), detail: z.string() }),
    ]),
  ),
});

export const cleared = z.strictObject({
  deleted: z.array(z.strictObject({ task_id: z.string() })),
  has_more: z.boolean(),
});
export const emptied = z.strictObject({ has_more: z.boolean() });
export const feedAddress = z.strictObject({ address: z.string() });
