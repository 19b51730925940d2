import { defineTable, entity } from '@stak/table';
import type { z } from 'zod';
import { type FollowedTable, follow } from '../src/index.ts';
import { errandSchema, ownerOf } from './test-table.ts';

export { errandSchema };

// The same table, as an earlier version of its design described it.
export function errandsOf(schema: z.ZodObject): FollowedTable {
  const table = defineTable({
    name: 'errands',
    keys: { partition: 'pk', sort: 'sk' },
    ttl: 'ttl',
    stream: 'NEW_AND_OLD_IMAGES',
  });
  const key = { partition: 'USER#{user_id}', sort: 'TASK#{task_id}' } as const;
  const errand = entity(table, { name: 'errand', schema: schema as typeof errandSchema, key });
  return { table, entities: [follow(errand, { view: 'tasks', ownerOf })] };
}
