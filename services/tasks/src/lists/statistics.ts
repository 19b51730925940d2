import { yieldToEventLoop } from '@stak/kit';
import { addDays, todayIn } from '../dates.ts';
import type { CommitDeps } from '../edit/commit.ts';
import * as limits from '../limits.ts';
import { openTasks, overdueTasks } from '../queries/access-patterns.ts';
import { type Priority, priorities, type Status } from '../schema.ts';
import { currentTally } from '../sync/changes.ts';
import type { Tally } from '../tables.ts';
import { type ListPosition, readQueries } from './list.ts';

// The design's access patterns "count by status" and "count by priority": one item, written with every change.

export const countByStatus = async (deps: CommitDeps, user_id: string): Promise<Record<Status, number>> =>
  (await currentTally(deps, user_id)).by_status;

export const countByPriority = async (deps: CommitDeps, user_id: string) =>
  priorityCounts(await currentTally(deps, user_id));

const priorityCounts = ({ by_priority }: Tally): Record<Priority | 'none', number> =>
  Object.fromEntries([...priorities, 'none' as const].map(name => [name, by_priority[name] ?? 0])) as Record<
    Priority | 'none',
    number
  >;

export async function readCounts(deps: CommitDeps, user_id: string) {
  const tally = await currentTally(deps, user_id);
  return {
    total: tally.total,
    by_status: tally.by_status,
    by_priority: priorityCounts(tally),
    by_category: tally.by_category,
    blocked: tally.blocked,
    overdue: await countOverdue(deps, tally),
  };
}

// Tasks become overdue at midnight without a write, so they are counted on request: among the open tasks or among those
// that were due, whichever are fewer. Long-time users have many completed tasks.
async function countOverdue(
  deps: CommitDeps,
  { user_id, time_zone, total, by_status }: Tally,
): Promise<number> {
  const open = by_status.pending + by_status.in_progress;
  if (open === 0) return 0;
  const reading = { store: deps.store, user_id };
  const today = todayIn(time_zone, deps.clock.now());
  const queries =
    open <= total - open
      ? openTasks({ ...reading, filter: [{ kind: 'due', to: addDays(today, -1), not: false }] })
      : overdueTasks(reading, today);
  let count = 0;
  let next: ListPosition | undefined;
  do {
    const page = await readQueries(queries, limits.countPage, next);
    count += page.items.length;
    next = page.next;
    if (next) await yieldToEventLoop(); // a page takes some ten milliseconds
  } while (next && count < limits.countBudget);
  return count;
}

export type TaskStatistics = { done: number; left: number; blocked: number; overdue: number };

// For summaries in other services.
export async function taskStatistics(deps: CommitDeps, user_id: string): Promise<TaskStatistics> {
  const { by_status, blocked, overdue } = await readCounts(deps, user_id);
  return { done: by_status.completed, left: by_status.pending + by_status.in_progress, blocked, overdue };
}
