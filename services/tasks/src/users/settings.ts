import { type CommitDeps, commit } from '../edit/commit.ts';
import { createDraft } from '../edit/draft.ts';
import * as limits from '../limits.ts';
import type { Task } from '../schema.ts';
import { allTasks, type StoredUser } from '../tables.ts';

// A new time zone moves reminders, and a new retention the expiry of completed tasks. The tasks follow from the stream;
// a change that is delivered twice finds nothing left to do.
export async function followSettings(
  deps: CommitDeps,
  before: StoredUser | undefined,
  after: StoredUser,
): Promise<void> {
  const isSameRetention = before?.retention_days === after.retention_days;
  if (isSameRetention && (before?.time_zone ?? 'UTC') === after.time_zone) return;
  const { user_id } = after;
  let ids: string[] = [];
  const flush = async () => {
    if (ids.length > 0) await applySettings(deps, user_id, ids, before !== undefined && !isSameRetention);
    ids = [];
  };
  for await (const { task_id, completed_at, reminder } of deps.store.all(
    allTasks,
    { user_id },
    { consistent: true },
  )) {
    if (task_id === undefined || (completed_at === null && reminder === undefined)) continue;
    ids.push(task_id);
    if (ids.length === limits.settingsTasks) await flush();
  }
  await flush();
}

function applySettings(
  deps: CommitDeps,
  user_id: string,
  ids: readonly string[],
  hasOtherRetention: boolean,
): Promise<void> {
  return commit(deps, user_id, 'follow settings', async view => {
    const draft = createDraft(deps, view);
    for (const task of await draft.find(ids)) draft.put(hasOtherRetention ? withoutTtl(task) : task);
    return { answer: undefined, taskChanges: draft.taskChanges() };
  });
}

// The time to live is derived anew.
const withoutTtl = ({ ttl: _, ...task }: Task): Task => task;
