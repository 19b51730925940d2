import { ref, type Store } from '@stak/table';
import type { Task } from '../schema.ts';
import { expiry, task } from '../tables.ts';

// The tally counts a task with a time to live as long as its expiry is stored. A process whose clock is ahead may have
// subtracted a task that lives on by the clock of this one. That task is gone: it must not be subtracted again.
export async function countedTasks(store: Store, tasks: readonly Task[]): Promise<readonly Task[]> {
  const refs = tasks.flatMap(({ user_id, task_id, ttl }) =>
    ttl === undefined ? [] : [ref(expiry, { user_id, task_id, expires_at: ttl })],
  );
  if (refs.length === 0) return tasks;
  const found = await store.batchGet(refs, { consistent: true, pattern: 'expiries of tasks' });
  const counted = new Set(found.map(one => one?.task_id));
  const isCounted = ({ task_id, ttl }: Task) => ttl === undefined || counted.has(task_id);
  const moved = await movedTasks(
    store,
    tasks.filter(task => !isCounted(task)),
  );
  return tasks.flatMap(task => (isCounted(task) ? task : (moved.get(task.task_id) ?? [])));
}

// Reads tasks whose expiry was not found again, and returns those that have another expiry since, or none.
async function movedTasks(store: Store, missing: readonly Task[]): Promise<ReadonlyMap<string, Task>> {
  if (missing.length === 0) return new Map();
  const refs = missing.map(({ user_id, task_id }) => ref(task, { user_id, task_id }));
  const now = await store.batchGet(refs, { consistent: true, pattern: 'tasks that may have moved' });
  const changed = now.filter((one, i): one is Task => one !== undefined && one.ttl !== missing[i]!.ttl);
  return new Map((await countedTasks(store, changed)).map(one => [one.task_id, one]));
}
