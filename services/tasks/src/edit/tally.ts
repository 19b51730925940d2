import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { isOpen, type Task } from '../schema.ts';
import type { Tally } from '../tables.ts';

// The attributes of a task that are counted.
export type Counted = Pick<Task, 'status' | 'priority' | 'category' | 'labels'>;

const blockedLabel = 'blocked';

const isBlocked = ({ status, labels }: Counted): boolean =>
  isOpen(status) && (labels ?? []).some(label => label.toLowerCase() === blockedLabel);

export const emptyTally = (user_id: string, epoch: string): Tally => ({
  user_id,
  epoch,
  seq: 0,
  total: 0,
  by_status: { pending: 0, in_progress: 0, completed: 0, cancelled: 0 },
  by_priority: {},
  by_category: [],
  blocked: 0,
  time_zone: 'UTC',
});

type Counts = Pick<Tally, 'total' | 'by_status' | 'by_priority' | 'by_category' | 'blocked'>;

// The counts after tasks have changed. Throws if they would exceed a limit.
export function recount(before: Counts, gone: readonly Counted[], come: readonly Counted[]): Counts {
  const byStatus = { ...before.by_status };
  const byPriority = { ...before.by_priority };
  // A category can have any name, even `__proto__`, so it is never the name of a property.
  const byCategory = new Map(before.by_category.map(({ category, tasks }) => [category, tasks]));
  let { total, blocked } = before;
  const count = (one: Counted, by: 1 | -1) => {
    total += by;
    byStatus[one.status] += by;
    const priority = one.priority ?? 'none';
    byPriority[priority] = (byPriority[priority] ?? 0) + by;
    if (one.category !== undefined) byCategory.set(one.category, (byCategory.get(one.category) ?? 0) + by);
    if (isBlocked(one)) blocked += by;
  };
  for (const one of gone) count(one, -1);
  for (const one of come) count(one, 1);
  const categories = [...byCategory].filter(([, tasks]) => tasks > 0);
  if (total > before.total) refuseAbove(total, limits.tasksPerUser, 'tasks');
  if (categories.length > before.by_category.length)
    refuseAbove(categories.length, limits.categories, 'categories');
  return {
    total,
    blocked,
    by_status: byStatus,
    by_priority: byPriority,
    by_category: categories.map(([category, tasks]) => ({ category, tasks })),
  };
}

function refuseAbove(count: number, most: number, what: string): void {
  if (count > most)
    throw tasksErrors.create('tasks.limit_reached', `You can have at most ${most} ${what}.`, { most });
}
