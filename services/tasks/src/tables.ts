import {
  defineKeys,
  defineQuery,
  defineTable,
  entity,
  type ItemOf,
  ownedByItem,
  ownedByKey,
} from '@stak/table';
import { z } from 'zod';
import { ownerOf } from './owner.ts';
import { priority, profile, status, storedTask, summaryAttributes } from './schema.ts';

// Times are in seconds since 1970, as in the design; those of reminders are in milliseconds.

const todoKeys = defineKeys({
  name: 'todo-app-data',
  description: 'Users and their tasks, with counts, changes, reminders and the trash.',
  keys: { partition: 'PK', sort: 'SK' },
  indexes: {
    GSI1: { partition: 'GSI1PK', sort: 'GSI1SK', project: summaryAttributes },
    GSI2: { partition: 'GSI2PK', sort: 'GSI2SK', project: summaryAttributes },
    GSI3: { partition: 'GSI3PK', sort: 'GSI3SK', project: summaryAttributes },
    GSI4: { partition: 'GSI4PK', sort: 'GSI4SK', project: summaryAttributes },
    GSI5: { partition: 'GSI5PK', sort: 'GSI5SK', project: 'KEYS_ONLY' },
    GSI6: {
      partition: 'GSI6PK',
      sort: 'GSI6SK',
      project: ['due_at', 'next_at', 'shard', 'fence', 'attempts'],
    },
  },
  ttl: 'ttl',
  stream: 'NEW_AND_OLD_IMAGES',
});

const ann = { user_id: 'usr_0mjuxvy9s00b8f0k3x1q2w4e' };
const milk = { ...ann, task_id: 'tsk_0mjuxvy9s00b8f0k3x1q2w4f' };
const seconds = z.number().int();
const count = z.number().int();

export const user = entity(todoKeys, {
  name: 'user',
  description: 'The profile and settings of a user.',
  schema: z.object({ user_id: z.string(), feed_hash: z.string().optional(), ...profile.shape }),
  key: { partition: 'USER#{user_id}', sort: 'METADATA' },
  version: 'version',
  examples: [
    { ...ann, email: 'ann@example.com', time_zone: 'UTC', created_at: 1767225600, updated_at: 1767225600 },
  ],
});

export const task = entity(todoKeys, {
  name: 'task',
  schema: storedTask,
  key: { partition: 'TASK#{user_id}', sort: 'TASK#{task_id}' },
  indexes: {
    GSI1: { partition: 'USER#{user_id}', sort: 'STATUS#{status}#{task_id}' },
    GSI2: { partition: 'USER#{user_id}', sort: 'DUEDATE#{due_date}#{task_id}' },
    GSI3: { partition: 'USER#{user_id}', sort: 'PRIORITY#{priority}#{task_id}' },
    GSI4: { partition: 'USER#{user_id}', sort: 'CATEGORY#{category:text}#{task_id}' },
    GSI5: { partition: 'USER#{user_id}', sort: 'POSITION#{position}#{task_id}' },
  },
  version: 'version',
  examples: [
    {
      ...milk,
      title: 'Buy milk',
      status: 'pending',
      priority: 'high',
      category: 'home & garden',
      due_date: '2026-03-01',
      position: '0mjuxvy9s00b8f0k3x1q2w4f',
      created_at: 1767225600,
      updated_at: 1767225600,
      completed_at: null,
    },
  ],
});

export const tally = entity(todoKeys, {
  name: 'tally',
  description: 'The counts of a user, and the number of the last change. Every write rewrites it.',
  schema: z.object({
    user_id: z.string(),
    epoch: z.string().describe('identifies the history: an erased user who returns has a new one'),
    seq: count.describe('the number of the last change'),
    total: count,
    by_status: z.record(status, count),
    by_priority: z.partialRecord(z.enum([...priority.options, 'none']), count),
    by_category: z.array(z.object({ category: z.string(), tasks: count })),
    blocked: count.describe('open tasks with the label "blocked"'),
    first_position: z.string().optional().describe('no task has a position before it'),
    last_position: z.string().optional().describe('no task has a position after it'),
    next_expiry: seconds.optional().describe('no completed task expires before this second'),
    // Copied from the user's profile: every write of a task needs them.
    time_zone: z.string(),
    retention_days: count.optional(),
    has_user: z.literal(true).optional().describe('whether the profile is stored'),
  }),
  key: { partition: 'USER#{user_id}', sort: 'COUNTS' },
  examples: [
    {
      ...ann,
      epoch: '0mjuxvy9s00b8f0k3x1q2w4e',
      seq: 1,
      total: 1,
      by_status: { pending: 1, in_progress: 0, completed: 0, cancelled: 0 },
      by_priority: { high: 1 },
      by_category: [{ category: 'home & garden', tasks: 1 }],
      blocked: 0,
      time_zone: 'UTC',
    },
  ],
});

export const expiry = entity(todoKeys, {
  name: 'expiry',
  description: 'When a completed task expires, and what to subtract from the tally then.',
  schema: z.object({
    user_id: z.string(),
    task_id: z.string(),
    expires_at: seconds,
    ...storedTask.pick({ priority: true, category: true, parent_id: true, subtask_ids: true }).shape,
  }),
  key: { partition: 'USER#{user_id}', sort: 'EXPIRY#{expires_at:10}#{task_id}' },
  examples: [{ ...milk, expires_at: 1769817600, priority: 'high' }],
});

export const change = entity(todoKeys, {
  name: 'change',
  description: 'The tasks that one write has changed, deleted or restored. Numbered without gaps.',
  schema: z.object({
    user_id: z.string(),
    seq: count,
    task_ids: z.array(z.string()),
    changed_at: seconds,
    ttl: seconds,
  }),
  key: { partition: 'CHANGES#{user_id}', sort: 'CHANGE#{seq:12}' },
  examples: [{ ...ann, seq: 1, task_ids: [milk.task_id], changed_at: 1767225600, ttl: 1769817600 }],
});

export const trashed = entity(todoKeys, {
  name: 'trashed task',
  description: 'A deleted task, as long as it can be restored. In no index.',
  schema: z.object({ ...storedTask.shape, deleted_at: seconds, ttl: seconds }),
  key: { partition: 'TRASH#{user_id}', sort: 'TASK#{task_id}' },
});

export const reminder = entity(todoKeys, {
  name: 'reminder',
  description: 'A reminder of a task. Separate from it, so that leasing a reminder does not change the task.',
  schema: z.object({
    user_id: z.string(),
    task_id: z.string(),
    due_at: count.describe('when it is due'),
    next_at: count
      .optional()
      .describe('when a worker looks at it next; missing after the last failed attempt'),
    shard: count,
    fence: count.describe('increased by every lease'),
    owner: z.string().optional().describe('which worker leases it'),
    attempts: count,
    failure: z.string().optional(),
  }),
  key: { partition: 'REMINDER#{user_id}', sort: 'TASK#{task_id}' },
  indexes: { GSI6: { partition: 'REMIND#{shard}', sort: '{next_at:15}#{task_id}' } },
  examples: [{ ...milk, due_at: 1772355600000, next_at: 1772355600000, shard: 1, fence: 0, attempts: 0 }],
});

export const idempotency = entity(todoKeys, {
  name: 'idempotency record',
  description: 'The response to a request, written in the transaction that creates the task.',
  // When the task is deleted permanently, only the fact that the key is taken stays.
  schema: z.object({
    request_id: z.string().describe('a hash of user, method, route and key'),
    fingerprint: z.string().optional().describe('a hash of the body'),
    response_data: z.string().optional(),
    target_task_pk: z.string().optional(),
    target_task_sk: z.string().optional(),
    http_status_code: count,
    created_at: seconds,
    ttl: seconds,
  }),
  key: { partition: 'IDEMPOTENCY#{request_id}', sort: 'METADATA' },
});

export const bulkProgress = entity(todoKeys, {
  name: 'bulk progress',
  description:
    'How far a bulk request with an Idempotency-Key is. Written with its changes, so that a repeated request goes on after them.',
  schema: z.object({
    user_id: z.string(),
    bulk_id: z.string().describe('the same each time the request is repeated'),
    done: count.describe('how many items are done, from the first one on'),
    refused: z.array(z.object({ index: count, code: z.string(), detail: z.string() })),
    ttl: seconds,
  }),
  key: { partition: 'BULK#{user_id}', sort: 'BULK#{bulk_id}' },
  examples: [
    {
      ...ann,
      bulk_id: '0mjuxvy9s00b8f0k3x1q2w4g',
      done: 40,
      refused: [{ index: 7, code: 'tasks.task_not_found', detail: 'Task not found.' }],
      ttl: 1767398400,
    },
  ],
});

export const emailLock = entity(todoKeys, {
  name: 'e-mail lock',
  description: 'Reserves an e-mail address among accounts, or among the users of one tenant.',
  schema: z.object({ realm: z.string(), email: z.string(), user_id: z.string() }),
  key: { partition: 'EMAIL#{realm}#{email:text}', sort: 'METADATA' },
  examples: [{ ...ann, realm: 'accounts', email: 'ann@example.com' }],
});

export const feed = entity(todoKeys, {
  name: 'calendar feed',
  description: 'The user whose calendar a secret address shows.',
  schema: z.object({
    feed_hash: z.string(),
    user_id: z.string(),
    made_by: z.string().optional().describe('The person who asked for it, of an account'),
    created_at: seconds,
  }),
  key: { partition: 'FEED#{feed_hash}', sort: 'METADATA' },
});

export const member = entity(todoKeys, {
  name: 'tenant member',
  description: 'A user of a tenant who has tasks. Read when the tenant is erased.',
  schema: z.object({ tenant_id: z.string(), user_id: z.string() }),
  key: { partition: 'TENANT#{tenant_id:text}', sort: 'USER#{user_id}' },
  examples: [{ tenant_id: 'acme', user_id: 'acme:ann' }],
});

export type StoredUser = ItemOf<typeof user>;
export type Tally = ItemOf<typeof tally>;
export type Expiry = ItemOf<typeof expiry>;
export type TrashedTask = ItemOf<typeof trashed>;
export type Reminder = ItemOf<typeof reminder>;
export type BulkProgress = ItemOf<typeof bulkProgress>;

export const allTasks = defineQuery('all tasks of a user', { of: task });
export const tasksByStatus = defineQuery('tasks by status', { of: task, index: 'GSI1' });
export const tasksByDueDate = defineQuery('tasks by due date', { of: task, index: 'GSI2' });
export const tasksByPriority = defineQuery('tasks by priority', { of: task, index: 'GSI3' });
export const tasksByCategory = defineQuery('tasks by category', { of: task, index: 'GSI4' });
export const tasksByPosition = defineQuery('tasks by position', { of: task, index: 'GSI5' });
export const changesOfUser = defineQuery('changes of a user', { of: change, consistent: true });
export const trashOfUser = defineQuery('trash of a user', { of: trashed });
export const expiriesOfUser = defineQuery('expiries of a user', { of: expiry, consistent: true });
export const remindersDue = defineQuery('reminders due', { of: reminder, index: 'GSI6' });
export const remindersOfUser = defineQuery('reminders of a user', { of: reminder });
export const bulksOfUser = defineQuery('bulk requests of a user', { of: bulkProgress, consistent: true });
export const membersOfTenant = defineQuery('members of a tenant', { of: member, consistent: true });

export const todoAppData = defineTable(todoKeys, {
  entities: [
    user,
    task,
    tally,
    expiry,
    change,
    trashed,
    reminder,
    idempotency,
    bulkProgress,
    emailLock,
    feed,
    member,
  ],
  queries: [
    allTasks,
    tasksByStatus,
    tasksByDueDate,
    tasksByPriority,
    tasksByCategory,
    tasksByPosition,
    changesOfUser,
    trashOfUser,
    expiriesOfUser,
    remindersDue,
    remindersOfUser,
    bulksOfUser,
    membersOfTenant,
  ],
});

function byUser({ user_id }: { user_id?: string }) {
  if (user_id === undefined) return undefined;
  const owner = ownerOf(user_id);
  return owner.kind === 'account'
    ? ({ kind: 'account', id: owner.accountId } as const)
    : ({ kind: 'tenant', id: owner.tenantId } as const);
}

// An idempotency record names its owner only in the key of its task.
const byTask = ({ target_task_pk }: { target_task_pk?: string }) =>
  byUser({ user_id: target_task_pk?.slice('TASK#'.length) });

export const taskOwners = [
  ownedByKey(user, byUser),
  ownedByKey(task, byUser),
  ownedByKey(tally, byUser),
  ownedByKey(expiry, byUser),
  ownedByKey(change, byUser),
  ownedByKey(trashed, byUser),
  ownedByKey(reminder, byUser),
  ownedByItem(idempotency, byTask),
  ownedByKey(bulkProgress, byUser),
  ownedByItem(emailLock, byUser),
  ownedByItem(feed, byUser),
  ownedByKey(member, byUser),
];
