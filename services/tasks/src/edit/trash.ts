import { type NamedStep, type ResultPage, ref, write } from '@stak/table';
import { taskNotFound } from '../errors.ts';
import * as limits from '../limits.ts';
import type { Task } from '../schema.ts';
import { type TrashedTask, trashed, trashOfUser } from '../tables.ts';
import { type CommitDeps, commit, secondsOf } from './commit.ts';
import { clearedRecords } from './create.ts';
import { createDraft, type Draft } from './draft.ts';
import { removeFromParent, requireVersion } from './update.ts';

// Deletes a task with its subtasks.
export async function discardTask(draft: Draft, taskId: string, expected?: string): Promise<void> {
  const found = await draft.read(taskId);
  requireVersion(found.version, expected);
  await removeFromParent(draft, found);
  for (const one of [...(await draft.find(found.subtask_ids ?? [])), found]) draft.discard(one);
}

export function deleteTask(
  deps: CommitDeps,
  user_id: string,
  taskId: string,
  expected?: string,
): Promise<void> {
  return commit(deps, user_id, 'delete task', async view => {
    const draft = createDraft(deps, view);
    await discardTask(draft, taskId, expected);
    return { answer: undefined, taskChanges: draft.taskChanges() };
  });
}

export const listTrash = (
  { store }: Pick<CommitDeps, 'store'>,
  user_id: string,
  page: { limit: number; cursor?: string },
): Promise<ResultPage<TrashedTask>> => store.query(trashOfUser, { user_id }, { ...page, caller: user_id });

export function restoreTask(
  deps: CommitDeps,
  user_id: string,
  taskId: string,
  expected?: string,
): Promise<Task> {
  return commit(deps, user_id, 'restore task', async view => {
    const draft = createDraft(deps, view);
    await takeFromTrash(deps, draft, taskId, expected);
    return { answer: draft.result(taskId), taskChanges: draft.taskChanges() };
  });
}

// Restores a task with the subtasks that were deleted with it. A subtask returns to its parent, if that exists and has
// room.
export async function takeFromTrash(
  { store }: Pick<CommitDeps, 'store'>,
  draft: Draft,
  taskId: string,
  expected?: string,
): Promise<void> {
  const { user_id } = draft.view.tally;
  const found = await store.get(trashed, { user_id, task_id: taskId }, { consistent: true });
  if (!found) throw taskNotFound();
  requireVersion(found.version, expected);
  const refs = (found.subtask_ids ?? []).map(task_id => ref(trashed, { user_id, task_id }));
  const subtasks = (
    await store.batchGet(refs, { consistent: true, pattern: 'subtasks in the trash' })
  ).filter(one => one !== undefined);
  const back = subtasks.map(subtask => subtask.task_id);
  for (const subtask of subtasks) draft.restore(subtask, untrashed(subtask, draft));
  const restored = { ...untrashed(found, draft), subtask_ids: back };
  draft.restore(found, { ...restored, parent_id: await parentWithRoom(draft, found) });
}

// A completed task gets its full time again.
const untrashed = ({ deleted_at: _, ttl: __, ...task }: TrashedTask, { view }: Draft): Task => ({
  ...task,
  restored_at: view.nowS,
});

async function parentWithRoom(draft: Draft, { task_id, parent_id }: Task): Promise<string | undefined> {
  if (parent_id === undefined) return undefined;
  const [parent] = await draft.find([parent_id]);
  const siblings = parent?.subtask_ids ?? [];
  if (!parent || parent.parent_id !== undefined || siblings.length >= limits.subtasks) return undefined;
  draft.put({ ...parent, subtask_ids: [...siblings, task_id] });
  return parent_id;
}

export const showTrashed = ({ user_id: _, request_id: __, cause: ___, ...shown }: TrashedTask) => shown;

// Permanent. The task left the counts and the indexes when it was deleted; its text is also in the response stored for
// its creation.
export function purgeTask(
  deps: CommitDeps,
  user_id: string,
  task_id: string,
  expected?: string,
): Promise<void> {
  return commit(deps, user_id, 'purge task', async ({ nowS }) => {
    const found = await deps.store.get(trashed, { user_id, task_id }, { consistent: true });
    if (!found) throw taskNotFound();
    requireVersion(found.version, expected);
    const gone = write.delete(trashed, { user_id, task_id }, { ifPresent: true });
    const cleared = clearedRecords([found], nowS).map(step => ['answer', step] as NamedStep);
    return { answer: undefined, steps: [['purge', gone], ...cleared] };
  });
}

// A limited number of tasks; true when the trash is empty.
export async function emptyTrash(
  { store, clock }: Pick<CommitDeps, 'store' | 'clock'>,
  user_id: string,
): Promise<boolean> {
  const page = { limit: limits.eraseItems, consistent: true };
  const { items, cursor } = await store.query(trashOfUser, { user_id }, page);
  // The trash refers to the stored responses, so it is deleted last.
  await store.batchWrite(clearedRecords(items, secondsOf(clock)), { pattern: 'clear answers' });
  const steps = items.map(({ task_id }) => write.delete(trashed, { user_id, task_id }));
  await store.batchWrite(steps, { pattern: 'empty the trash' });
  return cursor === undefined;
}
