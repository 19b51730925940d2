import { ref, type Store } from '@stak/table';
import type { Task } from '../schema.ts';
import { expiry } from '../tables.ts';

// The tally counts a task with a time to live as long as its expiry is stored. A process whose clock is ahead may have
// subtracted a task that lives on by the clock of this one. That task is gone: it must not be subtracted again.
export async function countedTasks(store: Store, tasks: readonly Task[]): Promise<readonly Task[]> {
  const refs = tasks.flatMap(({ user_id, task_id, ttl }) =>
    ttl === undefined ? [] : [ref(expiry, { user_id, task_id, expires_at: ttl })],
  );
  if (refs.length === 0) return tasks;
  const found = await store.batchGet(refs, { consistent: true, pattern: 'expiries of tasks' });
  const counted = new Set(found.map(one => one?.task_id));
  return tasks.filter(one => one.ttl === undefined || counted.has(one.task_id));
}
