import { todayIn } from './calendar.ts';
import { settledTally } from './changes.ts';
import type { Writing } from './commit.ts';
import * as limits from './limits.ts';
import { type ListPosition, readLegs } from './list.ts';
import { overdueTasks } from './patterns.ts';
import { type Priority, priorities, type Status } from './schema.ts';
import type { Tally } from './table.ts';

// The document's access patterns "count by status" and "count by priority": one item, written with every change.

export const countByStatus = async (deps: Writing, user_id: string): Promise<Record<Status, number>> =>
  (await settledTally(deps, user_id)).by_status;

export const countByPriority = async (deps: Writing, user_id: string) =>
  priorityCounts(await settledTally(deps, user_id));

const priorityCounts = ({ by_priority }: Tally): Record<Priority | 'none', number> =>
  Object.fromEntries([...priorities, 'none' as const].map(name => [name, by_priority[name] ?? 0])) as Record<
    Priority | 'none',
    number
  >;

export async function readCounts(deps: Writing, user_id: string) {
  const tally = await settledTally(deps, user_id);
  return {
    total: tally.total,
    by_status: tally.by_status,
    by_priority: priorityCounts(tally),
    by_category: tally.by_category,
    blocked: tally.blocked,
    overdue: await countOverdue(deps, user_id, tally.time_zone),
  };
}

// Which tasks are overdue changes at midnight without a write, so they are counted when they are asked for: from the
// index, those of the past only.
async function countOverdue(deps: Writing, user_id: string, timeZone: string): Promise<number> {
  const legs = overdueTasks({ store: deps.store, user_id }, todayIn(timeZone, deps.clock.now()));
  let count = 0;
  let next: ListPosition | undefined;
  do {
    const page = await readLegs(legs, limits.countPage, next);
    count += page.items.length;
    next = page.next;
  } while (next && count < limits.countBudget);
  return count;
}

export type TaskStatistics = { done: number; left: number; blocked: number; overdue: number };

// For whoever sums up how a user is doing.
export async function taskStatistics(deps: Writing, user_id: string): Promise<TaskStatistics> {
  const { by_status, blocked, overdue } = await readCounts(deps, user_id);
  return { done: by_status.completed, left: by_status.pending + by_status.in_progress, blocked, overdue };
}
