import { causeHeaders, nameSchemas } from '@stak/http';
import { isName, isOneLine } from '@stak/kit';
import { z } from 'zod';
import { zoneNamed } from './dates.ts';
import * as limits from './limits.ts';

// Tasks and profiles have the same names on the wire as in the table.

export const statuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
export const priorities = ['low', 'medium', 'high', 'urgent'] as const; // by rank
export const openStatuses = ['pending', 'in_progress'] as const;

export const status = z.enum(statuses).describe('How far it is.');
export const priority = z.enum(priorities).describe('How urgent it is.');
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

const title = oneLine(z.string(), limits.titleChars).describe('What is to be done.');
const description = z
  .string()
  .max(limits.descriptionChars)
  .refine(wellFormed, 'Not valid Unicode')
  .describe('More about it.');
export const category = label(limits.categoryChars).describe('The category, a short name of your choice.');
const labels = z
  .array(label(limits.labelChars))
  .max(limits.labels)
  .refine(list => new Set(list).size === list.length, 'A label is listed twice')
  .describe('Labels of your choice.');
export const date = z.iso
  .date()
  .refine(
    value => limits.firstDate <= value && value <= limits.lastDate,
    `Must be between ${limits.firstDate} and ${limits.lastDate}`,
  );
// `tsk_…`, or what another program chose: a number, a UUID, a nanoid, which may begin with a dash.
export const taskId = z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/, 'Not a task id');

// At a fixed time, or on the due date or days before it, at a local time.
const reminder = z
  .union([
    z.strictObject({ at: z.iso.datetime({ offset: true }).describe('When to remind.') }),
    z.strictObject({
      days_before: z
        .number()
        .int()
        .min(0)
        .max(limits.reminderDays)
        .describe('How many days before the due date.'),
      time: z
        .string()
        .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'Must be a time such as 09:30')
        .describe('The time of day, as 09:30.'),
    }),
  ])
  .describe('When to remind: a moment, or a time on or before the due date.');

const seconds = z.number().int();

// A task as it is stored. Optional attributes are missing rather than empty, because index keys are made of them.
export const storedTask = z.object({
  user_id: z.string(),
  task_id: z.string().describe('The id of the task.'),
  title,
  description: description.min(1).optional().describe('More about it.'),
  status,
  priority: priority.optional(),
  category: category.optional(),
  labels: labels.min(1).optional().describe('Labels of your choice.'),
  due_date: date.optional().describe('The day it is due, as 2026-11-16.'),
  parent_id: z.string().optional().describe('The task that it is a subtask of.'),
  subtask_ids: z.array(z.string()).min(1).optional().describe("in the user's order"),
  position: z.string().max(limits.positionChars).optional().describe('sorts; subtasks have none'),
  recurrence: z.string().max(limits.ruleChars).optional().describe('an RRULE over dates'),
  series_id: z.string().optional().describe('the first task of a series'),
  series_start: date.optional().describe('The first due date of the series.'),
  reminder: reminder.optional(),
  remind_at: seconds.optional().describe('When the reminder is due, in seconds since 1970.'),
  created_at: seconds.describe('When it was created, in seconds since 1970.'),
  updated_at: seconds.describe('When it was last changed, in seconds since 1970.'),
  completed_at: seconds
    .nullable()
    .describe('When it was completed, in seconds since 1970; null while it is not.'),
  restored_at: seconds.optional().describe('of completed tasks from the trash, which are kept from then on'),
  version: z.number().int().describe('Grows with every change; the ETag is made from it.'),
  request_id: z.string().optional().describe('the idempotency record it was created with'),
  cause: z.string().optional().describe('what it was created because of').catch(undefined), // of a foreign program: anything
  ttl: seconds.optional().describe('of completed tasks with a retention, and of trashed tasks'),
});

export type Task = z.infer<typeof storedTask>;
export const wireTask = z.strictObject(
  storedTask.omit({ user_id: true, request_id: true, cause: true }).shape,
);
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
  due_date: date.optional().describe('The day it is due, as 2026-11-16.'),
  parent_id: taskId.optional().describe('The task that it is a subtask of.'),
  recurrence: z
    .string()
    .max(limits.ruleChars)
    .optional()
    .describe('The rule by which the task repeats, as an RRULE over dates.'),
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
  due_date: date.nullable().optional().describe('The day it is due, as 2026-11-16.'),
  parent_id: taskId.nullable().optional().describe('The task that it is a subtask of.'),
  recurrence: z
    .string()
    .max(limits.ruleChars)
    .nullable()
    .optional()
    .describe('The rule by which the task repeats, as an RRULE over dates.'),
  reminder: reminder.nullable().optional(),
});
export type TaskPatch = z.infer<typeof taskPatch>;

export const email = z
  .email()
  .max(limits.emailChars)
  .transform(text => text.toLowerCase())
  .describe('The e-mail address for reminders.');
const timeZone = z
  .string()
  .max(limits.zoneChars)
  .refine(name => zoneNamed(name) !== undefined, 'Unknown time zone')
  .transform(name => zoneNamed(name) ?? name)
  .describe('The time zone, such as `Europe/Zurich`.');
const retentionDays = z
  .number()
  .int()
  .min(1)
  .max(limits.retentionDays)
  .describe('How many days completed tasks are kept; for ever if absent.');
export const name = oneLine(z.string(), limits.nameChars).refine(
  isName,
  'Must not contain invisible characters',
);

export const profile = z.strictObject({
  email: z.string().optional().describe('The e-mail address for reminders.'),
  name: z.string().optional().describe('The name that people see.'),
  time_zone: z.string().describe('The time zone, such as `Europe/Zurich`.'),
  retention_days: z
    .number()
    .int()
    .optional()
    .describe('How many days completed tasks are kept; for ever if absent.'),
  created_at: seconds.describe('When it was created, in seconds since 1970.'),
  updated_at: seconds.describe('When it was last changed, in seconds since 1970.'),
  version: z.number().int().describe('Grows with every change; the ETag is made from it.'),
});
export type Profile = z.infer<typeof profile>;

export const profilePatch = z.strictObject({
  email: email.nullable().optional(),
  name: name.nullable().optional().describe('The name that people see.'),
  time_zone: timeZone.optional(),
  retention_days: retentionDays.nullable().optional(),
});
export type ProfilePatch = z.infer<typeof profilePatch>;

export const showTask = ({ user_id: _user, request_id: _request, cause: _cause, ...shown }: Task): WireTask =>
  shown;

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

// Requests and responses besides tasks and profiles.

export const taskParams = z.strictObject({ task_id: taskId.describe('The id of the task.') });
// Lists return summaries, or whole tasks on request.
export const listedTask = z.union([wireTask, summary]);
export const trashedTask = wireTask
  .extend({ deleted_at: z.number().int().describe('When it was deleted, in seconds since 1970.') })
  .strict();
export const foundTask = wireTask
  .extend({ score: z.number().describe('How well it matches; more is better.') })
  .strict();

export const idempotencyHeaders = causeHeaders.extend({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'Must be 1 to 255 visible ASCII characters')
    .optional()
    .describe('The same key and body get the same answer, for a day.'),
});

const count = z.number().int();
const countsOf = (names: readonly string[]) =>
  z.strictObject(Object.fromEntries(names.map(name => [name, count.describe(`How many are \`${name}\`.`)])));

export const counts = z.strictObject({
  total: count.describe('How many tasks there are.'),
  by_status: countsOf(statuses).describe('How many have each status.'),
  by_priority: countsOf([...priorities, 'none']).describe('How many have each priority.'),
  by_category: z
    .array(
      z.strictObject({
        category: z.string().describe('The category, a short name of your choice.'),
        tasks: count.describe('How many tasks it has.'),
      }),
    )
    .describe('How many each category has.'),
  blocked: count.describe('How many tasks wait for an open subtask.'),
  overdue: count.describe('How many are open after their due date.'),
});
const deletedTask = z.strictObject({ task_id: z.string().describe('The id of the task.') });
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
  changed: z.array(wireTask).describe('Tasks that were created or changed.'),
  deleted: z.array(deletedTask).describe('Tasks that were deleted.'),
  token: z.string().describe('Send it as `since` to read what changes from here on.'),
  has_more: z.boolean().describe('Whether there is more to read.'),
});

export const moveTarget = z.union([
  z.strictObject({ before: taskId.describe('The task that it comes before.') }),
  z.strictObject({ after: taskId.describe('The task that it comes after.') }),
  z.strictObject({ to: z.enum(['top', 'bottom']).describe('The end of the list to move it to.') }),
]);

const ifMatch = z.string().max(40).optional().describe('The ETag that was last read.');
const bulkItem = z.discriminatedUnion('op', [
  z.strictObject({
    op: z.literal('update').describe('What to do with the task.'),
    task_id: taskId.describe('The id of the task.'),
    if_match: ifMatch,
    set: taskPatch,
  }),
  z.strictObject({
    op: z.literal('delete').describe('What to do with the task.'),
    task_id: taskId.describe('The id of the task.'),
    if_match: ifMatch,
  }),
  z.strictObject({
    op: z.literal('restore').describe('What to do with the task.'),
    task_id: taskId.describe('The id of the task.'),
    if_match: ifMatch,
  }),
]);
export const bulkRequest = z.strictObject({
  items: z.array(bulkItem).min(1).max(limits.bulkItems).describe('The tasks, and what to do with each.'),
});
export const bulkResults = z.strictObject({
  results: z
    .array(
      z.union([
        z.strictObject({
          task_id: z.string().describe('The id of the task.'),
          ok: z.literal(true).describe('Whether it was done.'),
          task: wireTask.optional(),
        }),
        z.strictObject({
          task_id: z.string().describe('The id of the task.'),
          ok: z.literal(false).describe('Whether it was done.'),
          code: z.string().describe('The code of the error.'),
          detail: z.string().describe('What is wrong, in a sentence.'),
        }),
      ]),
    )
    .describe('One result per item, in the same order.'),
});

export const cleared = z.strictObject({
  deleted: z.array(deletedTask).describe('The tasks that were deleted.'),
  has_more: z.boolean().describe('Whether there are more completed tasks.'),
});
export const emptied = z.strictObject({
  has_more: z.boolean().describe('Whether there are more tasks in the trash.'),
});
export const feedAddress = z.strictObject({
  address: z.string().describe('The address of the calendar feed. Whoever has it can read the feed.'),
});

export const isOpen = (status: Status): boolean => (openStatuses as readonly Status[]).includes(status);
