import type { Store } from '@stak/table';
import { commit, type Writing } from './commit.ts';
import { createDraft } from './draft.ts';
import { editTask } from './edit.ts';
import { taskNotFound } from './errors.ts';
import type { Task, TaskPatch } from './schema.ts';
import { task } from './table.ts';

// The document's access pattern "fetch task by task_id".
export async function getTask(
  { store }: { store: Store },
  user_id: string,
  task_id: string,
  consistent = false,
): Promise<Task> {
  const found = await store.get(task, { user_id, task_id }, { consistent, pattern: 'task by id' });
  if (!found) throw taskNotFound();
  return found;
}

export function updateTask(
  deps: Writing,
  user_id: string,
  taskId: string,
  patch: TaskPatch,
  expected?: string,
): Promise<Task> {
  return commit(deps, user_id, 'update task', async view => {
    const draft = createDraft(deps, view);
    await editTask(draft, deps.ids, taskId, patch, expected);
    return { answer: draft.result(taskId), shifts: draft.shifts() };
  });
}
