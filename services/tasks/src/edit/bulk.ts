import { AppError } from '@stak/kit';
import * as limits from '../limits.ts';
import { type Status, showTask, type TaskPatch, type WireTask } from '../schema.ts';
import { tasksByStatus } from '../tables.ts';
import { type CommitDeps, commit, type Decision, type View } from './commit.ts';
import { createDraft, type Draft } from './draft.ts';
import { idOf } from './task-change.ts';
import { discardTask, takeFromTrash } from './trash.ts';
import { editTask } from './update.ts';

export type BulkItem = { task_id: string; if_match?: string } & (
  | { op: 'update'; set: TaskPatch }
  | { op: 'delete' }
  | { op: 'restore' }
);
export type BulkResult = { task_id: string } & (
  | { ok: true; task?: WireTask }
  | { ok: false; code: string; detail: string }
);

// Puts as many items into each transaction as fit. Each succeeds or fails on its own; one that is refused changes
// nothing for the others.
export async function runBulk(
  deps: CommitDeps,
  user_id: string,
  items: readonly BulkItem[],
): Promise<BulkResult[]> {
  const results: BulkResult[] = [];
  while (results.length < items.length) {
    const left = items.slice(results.length);
    results.push(...(await commit(deps, user_id, 'bulk', view => decideSome(deps, view, left))));
  }
  return results;
}

async function decideSome(
  deps: CommitDeps,
  view: View,
  items: readonly BulkItem[],
): Promise<Decision<BulkResult[]>> {
  const draft = createDraft(deps, view);
  await draft.find(items.slice(0, limits.transactionSteps).map(item => item.task_id));
  const results: BulkResult[] = [];
  const touched = new Set<string>();
  for (const item of items) {
    // A second change to a task, or a restore after other items, needs the earlier ones in the table.
    const isLater = touched.has(item.task_id) || (item.op === 'restore' && results.length > 0);
    if (isLater) break;
    touched.add(item.task_id);
    const rollBack = draft.mark();
    const result = await applyItem(deps, draft, item).catch(refusalOf);
    if (result) rollBack();
    else if (draft.countSteps() > limits.transactionSteps) {
      rollBack();
      break;
    }
    results.push({ task_id: item.task_id, ...(result ?? { ok: true }) });
  }
  const answer = results.map(result => {
    const task = result.ok ? draft.peek(result.task_id) : undefined;
    return task ? { ...result, task: showTask(task) } : result;
  });
  return { answer, taskChanges: draft.taskChanges() };
}

async function applyItem(deps: CommitDeps, draft: Draft, item: BulkItem): Promise<void> {
  const expected = versionIn(item.if_match ?? '*');
  if (item.op === 'delete') await discardTask(draft, item.task_id, expected);
  else if (item.op === 'restore') await takeFromTrash(deps, draft, item.task_id, expected);
  else await editTask(draft, deps.ids, item.task_id, item.set, expected);
  draft.checkLimits();
}

function refusalOf(error: unknown) {
  if (!(error instanceof AppError)) throw error;
  return { ok: false as const, code: error.code, detail: error.message };
}

// As in an If-Match header. Anything that is not a version matches nothing.
const versionIn = (etag: string): string | undefined =>
  etag === '*' ? undefined : (/^"v(\d+)"$/.exec(etag)?.[1] ?? 'none');

// The design's access pattern "bulk update task status".
export const setStatusOfMany = (
  deps: CommitDeps,
  user_id: string,
  taskIds: readonly string[],
  status: Status,
): Promise<BulkResult[]> =>
  runBulk(
    deps,
    user_id,
    taskIds.map(task_id => ({ op: 'update', task_id, set: { status } })),
  );

// The design's access pattern "bulk delete completed tasks": a limited number, so call again while there are more. The
// index may be late, so a task that was reopened in the meantime is left alone.
export async function deleteCompleted(
  deps: CommitDeps,
  user_id: string,
): Promise<{ deleted: { task_id: string }[]; has_more: boolean }> {
  const completed = { user_id, status: 'completed' as const };
  const { items, cursor } = await deps.store.query(tasksByStatus, completed, { limit: limits.clearItems });
  const deleted: string[] = [];
  for (let left = items.map(item => item.task_id); left.length > 0; ) {
    const done = await commit(deps, user_id, 'delete completed', view => decideClearing(deps, view, left));
    deleted.push(...done.deleted);
    left = left.slice(done.seen);
  }
  return { deleted: deleted.map(task_id => ({ task_id })), has_more: cursor !== undefined };
}

async function decideClearing(
  deps: CommitDeps,
  view: View,
  ids: readonly string[],
): Promise<Decision<{ deleted: string[]; seen: number }>> {
  const draft = createDraft(deps, view);
  await draft.find(ids);
  let seen = 0;
  for (const id of ids) {
    const rollBack = draft.mark();
    if (draft.peek(id)?.status === 'completed') await discardTask(draft, id);
    if (draft.countSteps() > limits.transactionSteps) {
      rollBack();
      break;
    }
    seen += 1;
  }
  const taskChanges = draft.taskChanges();
  // Includes the subtasks.
  const deleted = taskChanges.filter(taskChange => taskChange.toTrash).map(idOf);
  return { answer: { deleted, seen }, taskChanges };
}
