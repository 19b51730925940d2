import * as limits from '../limits.ts';
import type { Task } from '../schema.ts';
import { tasksByStatus } from '../tables.ts';
import { type CommitDeps, commit } from './commit.ts';
import { createDraft } from './draft.ts';

// Tasks that another program wrote get what they lack, and are counted. `counted` is the task that the program replaced.
export function adoptTasks(
  deps: CommitDeps,
  user_id: string,
  ids: readonly string[],
  counted?: Task,
): Promise<void> {
  return commit(deps, user_id, 'adopt tasks', async view => {
    const draft = createDraft(deps, view);
    await draft.find(ids);
    if (counted) draft.replace(counted);
    return { answer: undefined, taskChanges: draft.taskChanges() };
  });
}

// All of a user's. The stream brings those that are written from now on; these may be older than this service.
export async function adoptAll(deps: CommitDeps, user_id: string): Promise<void> {
  let ids: string[] = [];
  const flush = async () => {
    if (ids.length > 0) await adoptTasks(deps, user_id, ids);
    ids = [];
  };
  for await (const { task_id } of deps.store.all(tasksByStatus, { user_id })) {
    if (task_id === undefined) continue;
    ids.push(task_id);
    if (ids.length === limits.settingsTasks) await flush();
  }
  await flush();
}
