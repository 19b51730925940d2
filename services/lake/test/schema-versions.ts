import { defineTable, entity } from '@stak/table';
import type { z } from 'zod';
import { type FollowedTable, follow } from '../src/index.ts';
import { choreSchema, ownerOf } from './test-table.ts';

export { choreSchema };

// The same table, as an earlier version of its design described it.
export function choresOf(schema: z.ZodObject): FollowedTable {
  const table = defineTable({
    name: 'chores',
    keys: { partition: 'pk', sort: 'sk' },
    ttl: 'ttl',
    stream: 'NEW_AND_OLD_IMAGES',
  });
  const key = { partition: 'USER#{user_id}', sort: 'TASK#{task_id}' } as const;
  const chore = entity(table, { name: 'chore', schema: schema as typeof choreSchema, key });
  return { table, entities: [follow(chore, { view: 'tasks', ownerOf })] };
}
