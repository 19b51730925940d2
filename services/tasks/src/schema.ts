import { nameSchemas } from '@stak/http';
import { isName, isOneLine } from '@stak/kit';
import { z } from 'zod';
import { zoneNamed } from './dates.ts';
import * as limits from './limits.ts';

// What goes over the wire and into the table, under the same names.

export const statuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
export const priorities = ['low', 'medium', 'high', 'urgent'] as const; // by rank
export const openStatuses = ['pending', 'in_progress'] as const;

export const status = z.enum(statuses);
export const priority = z.enum(priorities);
export type Status = z.infer<typeof status>;
export type Priority = z.infer<typeof priority>;

const wellFormed = (text: string) => text.isWellFormed();
const oneLine = (text: z.ZodString, mostChars: number) =>
  text.trim().min(1).max(mostChars).refine(isOneLine, 'Must not contain control characters');
// The same letter can be written in two ways, so names are normalised. Their length is checked after that, because some
// letters get longer, and roughly before: normalising a quarter of a megabyte of accents takes seconds. No letter is
// written with more than four characters.
const label = (mostChars: number) => {
  const tooLong = { error: `Must have at most ${mostChars} characters`, abort: true };
  return oneLine(
    z
      .string()
      .max(4 * mostChars, tooLong)
      .normalize('NFC'),
    mostChars,
  );
};

const title = oneLine(z.string(), limits.titleChars);
const description = z.string().max(limits.descriptionChars).refine(wellFormed, 'Not valid Unicode');
export const category = label(limits.categoryChars);
const labels = z
  .array(label(limits.labelChars))
  .max(limits.labels)
  .refine(list => new Set(list).size === list.length, 'A label is listed twice');
export const date = z.iso
  .date()
  .refine(
    value => limits.firstDate <= value && value <= limits.lastDate,
    `Must be between ${limits.firstDate} and ${limits.lastDate}`,
  );
// `tsk_…`, or what another program chose: a number, a UUID, a nanoid, which may begin with a dash.
export const taskId = z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/, 'Not a task id');

// At a fixed time, or on the due date or days before it, at a local time.
const reminder = z.union([
  z.strictObject({ at: z.iso.datetime({ offset: true }) }),
  z.strictObject({
    days_before: z.number().int().min(0).max(limits.reminderDays),
    time: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'Must be a time such as 09:30'),
  }),
]);

const seconds = z.number().int();

// A task as it is stored. Optional attributes are missing rather than empty, because index keys are made of them.
export const storedTask = z.object({
  user_id: z.string(),
  task_id: z.string(),
  title,
  description: description.min(1).optional(),
  status,
  priority: priority.optional(),
  category: category.optional(),
  labels: labels.min(1).optional(),
  due_date: date.optional(),
  parent_id: z.string().optional(),
  subtask_ids: z.array(z.string()).min(1).optional().describe("in the user's order"),
  position: z.string().max(limits.positionChars).optional().describe('sorts; subtasks have none'),
  recurrence: z.string().max(limits.ruleChars).optional().describe('an RRULE over dates'),
  series_id: z.string().optional().describe('the first task of a series'),
  series_start: date.optional(),
  reminder: reminder.optional(),
  remind_at: seconds.optional(),
  created_at: seconds,
  updated_at: seconds,
  completed_at: seconds.nullable(),
  restored_at: seconds.optional().describe('of completed tasks from the trash, which are kept from then on'),
  version: z.number().int(),
  request_id: z.string().optional().describe('the idempotency record it was created with'),
  ttl: seconds.optional().describe('of completed tasks with a retention, and of trashed tasks'),
});

export type Task = z.infer<typeof storedTask>;
export const wireTask = z.strictObject(storedTask.omit({ user_id: true, request_id: true }).shape);
export type WireTask = z.infer<typeof wireTask>;

// The attributes that the indexes copy: without the description and without what every edit changes, so that editing a
// description touches no index.
export const summaryAttributes = [
  'title',
  'status',
  'priority',
  'category',
  'labels',
  'due_date',
  'parent_id',
  'created_at',
  'completed_at',
  'ttl',
] as const;
const summary = wireTask
  .pick({
    task_id: true,
    ...(Object.fromEntries(summaryAttributes.map(name => [name, true])) as SummaryMask),
  })
  .strict();
type SummaryMask = Record<(typeof summaryAttributes)[number], true>;
export type Summary = z.infer<typeof summary>;

export const newTask = z.strictObject({
  title,
  description: description.optional(),
  status: status.default('pending'),
  priority: priority.optional(),
  category: category.optional(),
  labels: labels.optional(),
  due_date: date.optional(),
  parent_id: taskId.optional(),
  recurrence: z.string().max(limits.ruleChars).optional(),
  reminder: reminder.optional(),
});
export type NewTask = z.infer<typeof newTask>;

// Null removes an attribute.
export const taskPatch = z.strictObject({
  title: title.optional(),
  description: description.nullable().optional(),
  status: status.optional(),
  priority: priority.nullable().optional(),
  category: category.nullable().optional(),
  labels: labels.nullable().optional(),
  due_date: date.nullable().optional(),
  parent_id: taskId.nullable().optional(),
  recurrence: z.string().max(limits.ruleChars).nullable().optional(),
  reminder: reminder.nullable().optional(),
});
export type TaskPatch = z.infer<typeof taskPatch>;

export const email = z
  .email()
  .max(limits.emailChars)
  .transform(text => text.toLowerCase());
const timeZone = z
  .string()
  .max(limits.zoneChars)
  .refine(name => zoneNamed(name) !== undefined, 'Unknown time zone')
  .transform(name => zoneNamed(name) ?? name);
const retentionDays = z.number().int().min(1).max(limits.retentionDays);
export const name = oneLine(z.string(), limits.nameChars).refine(
  isName,
  'Must not contain invisible characters',
);

export const profile = z.strictObject({
  email: z.string().optional(),
  name: z.string().optional(),
  time_zone: z.string(),
  retention_days: z.number().int().optional(),
  created_at: seconds,
  updated_at: seconds,
  version: z.number().int(),
});
export type Profile = z.infer<typeof profile>;

export const profilePatch = z.strictObject({
  email: email.nullable().optional(),
  name: name.nullable().optional(),
  time_zone: timeZone.optional(),
  retention_days: retentionDays.nullable().optional(),
});
export type ProfilePatch = z.infer<typeof profilePatch>;

export const showTask = ({ user_id: _user, request_id: _request, ...shown }: Task): WireTask => shown;

// A list returns the same attributes from the table as from an index. They are written out, because this runs for every
// task of every list; JSON leaves out what is undefined.
export const showSummary = (listed: Summary) =>
  ({
    task_id: listed.task_id,
    title: listed.title,
    status: listed.status,
    priority: listed.priority,
    category: listed.category,
    labels: listed.labels,
    due_date: listed.due_date,
    parent_id: listed.parent_id,
    created_at: listed.created_at,
    completed_at: listed.completed_at,
    ttl: listed.ttl,
  }) satisfies Record<keyof Summary, unknown>;

// What routes take and return, besides tasks and profiles.

export const taskParams = z.strictObject({ task_id: taskId });
// Lists return summaries, or whole tasks on request.
export const listedTask = z.union([wireTask, summary]);
export const trashedTask = wireTask.extend({ deleted_at: z.number().int() }).strict();
export const foundTask = wireTask.extend({ score: z.number() }).strict();

export const idempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'Must be 1 to 255 visible ASCII characters')
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
const deletedTask = z.strictObject({ task_id: z.string() });
nameSchemas({
  Task: wireTask,
  TaskSummary: summary,
  TaskPatch: taskPatch,
  TaskProfile: profile,
  TaskCounts: counts,
  ReminderTime: reminder.options[0],
  ReminderBefore: reminder.options[1],
  DeletedTask: deletedTask,
});

export const changesPage = z.strictObject({
  changed: z.array(wireTask),
  deleted: z.array(deletedTask),
  token: z.string(),
  has_more: z.boolean(),
});

export const moveTarget = z.union([
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
  deleted: z.array(deletedTask),
  has_more: z.boolean(),
});
export const emptied = z.strictObject({ has_more: z.boolean() });
export const feedAddress = z.strictObject({ address: z.string() });

export const isOpen = (status: Status): boolean => (openStatuses as readonly Status[]).includes(status);
