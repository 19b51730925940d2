import { defineTable, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { follow } from '../src/index.ts';

// A table with tasks of accounts and of tenants' users.

export const choresTable = defineTable({
  name: 'chores',
  keys: { partition: 'pk', sort: 'sk' },
  ttl: 'ttl',
  stream: 'NEW_AND_OLD_IMAGES',
});

export const choreSchema = z.object({
  user_id: z.string(),
  task_id: z.string(),
  title: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
  priority: z.enum(['low', 'high']).optional(),
  labels: z.array(z.string()).optional(),
  due_date: z.iso.date().optional(),
  created_at: z.number().int(),
  completed_at: z.number().int().nullable(),
  secret: z.string().optional(),
  ttl: z.number().int().optional(),
});

export const chore = entity(choresTable, {
  name: 'chore',
  description: 'Something to be done.',
  schema: choreSchema,
  key: { partition: 'USER#{user_id}', sort: 'TASK#{task_id}' },
});
export const visit = entity(choresTable, {
  name: 'visit',
  schema: z.object({ user_id: z.string(), at: z.number() }),
  key: { partition: 'USER#{user_id}', sort: 'VISIT#{at}' },
});
export type Chore = ItemOf<typeof chore>;

// `usr_…` of an account, `tenant:uid` of an end user.
export const ownerOf = ({ user_id }: { user_id: string }) => {
  if (user_id === 'poison') throw new Error('nobody knows whose this is');
  const [first = '', second] = user_id.split(':');
  return second === undefined ? { account_id: first } : { tenant_id: first, user_id: second };
};

export const followed = {
  table: choresTable,
  entities: [follow(chore, { view: 'tasks', ownerOf, omit: ['secret'], idAttribute: 'task_id' })],
};

export const newChore = (user_id: string, task_id: string, more: Partial<Chore> = {}): Chore => ({
  user_id,
  task_id,
  title: `Task ${task_id}`,
  status: 'pending',
  created_at: 1767225600,
  completed_at: null,
  ...more,
});
