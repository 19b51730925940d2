import { AppError } from '@stak/kit';
import { isUnavailable, type NamedStep, write } from '@stak/table';
import * as limits from '../limits.ts';
import { readTasks } from '../queries/access-patterns.ts';
import { type Status, showTask, type TaskPatch, type WireTask } from '../schema.ts';
import { type BulkProgress, bulkProgress, tasksByStatus } from '../tables.ts';
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
// nothing for the others. With an id, a repeated request goes on where the first one stopped, so a busy store fails the
// whole request. Without one, a repetition would report the items that are done as not found: the results say which
// items are left.
export async function runBulk(
  deps: CommitDeps,
  user_id: string,
  items: readonly BulkItem[],
  bulkId?: string,
): Promise<BulkResult[]> {
  const results: BulkResult[] = [];
  while (results.length < items.length)
    try {
      const decide = (view: View) => decideNext(deps, view, items, results, bulkId);
      results.push(...(await commit(deps, user_id, 'bulk', decide)));
    } catch (error) {
      const isAnyDone = results.some(result => result.ok);
      if (bulkId !== undefined || !isAnyDone || !isUnavailable(error)) throw error;
      const refusal = refusalOf(error);
      return [...results, ...items.slice(results.length).map(({ task_id }) => ({ task_id, ...refusal }))];
    }
  return results;
}

// The progress is read after the tally and written with it, so of two runs of a request only one does an item.
async function decideNext(
  deps: CommitDeps,
  view: View,
  items: readonly BulkItem[],
  before: readonly BulkResult[],
  bulkId: string | undefined,
): Promise<Decision<BulkResult[]>> {
  const left = items.slice(before.length);
  if (bulkId === undefined) return decideSome(deps, view, left);
  const key = { user_id: view.tally.user_id, bulk_id: bulkId };
  const known = await deps.store.get(bulkProgress, key, { consistent: true, pattern: 'bulk progress' });
  if (known && known.done > before.length) return { answer: await resultsOf(deps, items, known, before) };
  const decision = await decideSome(deps, view, left);
  if (decision.taskChanges?.length === 0) return decision;
  const progress = { ...key, ...progressOf([...before, ...decision.answer]) };
  const step = write.put(bulkProgress, { ...progress, ttl: view.nowS + limits.bulkProgressS });
  return { ...decision, steps: [['bulk progress', step]] satisfies NamedStep[] };
}

const progressOf = (results: readonly BulkResult[]) => ({
  done: results.length,
  refused: results.flatMap((result, index) =>
    result.ok ? [] : [{ index, code: result.code, detail: result.detail }],
  ),
});

// Reads what an earlier run of the request did after `before`, with the tasks as they are now.
async function resultsOf(
  { store }: CommitDeps,
  items: readonly BulkItem[],
  { user_id, done, refused }: BulkProgress,
  before: readonly BulkResult[],
): Promise<BulkResult[]> {
  const refusals = new Map(refused.map(({ index, ...refusal }) => [index, refusal]));
  const ids = items.slice(before.length, done).map(({ task_id }) => task_id);
  const tasks = await readTasks(store, user_id, [...new Set(ids)], true);
  const shown = new Map(tasks.map(task => [task.task_id, showTask(task)]));
  return ids.map((task_id, i) => {
    const refusal = refusals.get(before.length + i);
    if (refusal) return { task_id, ok: false, ...refusal };
    const task = shown.get(task_id);
    return { task_id, ok: true, ...(task && { task }) };
  });
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
    const result = await applyItem(deps, draft, item).catch(unlessUnavailable);
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

// Whether the store is busy says nothing about the item.
function unlessUnavailable(error: unknown) {
  if (isUnavailable(error)) throw error;
  return refusalOf(error);
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
