import { versionMismatch } from '@stak/http';
import type { Ids } from '@stak/kit';
import { taskNotFound, tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { spellRule } from '../schedule/recurrence.ts';
import type { Task, TaskPatch } from '../schema.ts';
import { task } from '../tables.ts';
import { type CommitDeps, commit } from './commit.ts';
import { createDraft, type Draft } from './draft.ts';
import { isForeign } from './foreign.ts';
import { repeatTask } from './next-occurrence.ts';

// The design's access pattern "fetch task by task_id".
export async function getTask(
  deps: CommitDeps,
  user_id: string,
  task_id: string,
  consistent = false,
): Promise<Task> {
  const found = await deps.store.get(task, { user_id, task_id }, { consistent, pattern: 'task by id' });
  if (!found) throw taskNotFound();
  if (isForeign(found)) return updateTask(deps, user_id, task_id, {});
  return found;
}

export function updateTask(
  deps: CommitDeps,
  user_id: string,
  taskId: string,
  patch: TaskPatch,
  expected?: string,
): Promise<Task> {
  return commit(deps, user_id, 'update task', async view => {
    const draft = createDraft(deps, view);
    await editTask(draft, deps.ids, taskId, patch, expected);
    return { answer: draft.result(taskId), taskChanges: draft.taskChanges() };
  });
}

export function requireVersion(version: number, expected: string | undefined): void {
  if (expected !== undefined && expected !== String(version)) throw versionMismatch();
}

// Changes a task in the draft, and everything that depends on it.
export async function editTask(
  draft: Draft,
  ids: Ids,
  taskId: string,
  patch: TaskPatch,
  expected?: string,
): Promise<void> {
  const before = await draft.read(taskId);
  requireVersion(before.version, expected);
  const after = patchedTask(before, patch);
  if (after.parent_id !== before.parent_id) {
    await addToParent(draft, after);
    await removeFromParent(draft, before);
  }
  draft.put(after);
  if (after.status === 'completed' && before.status !== 'completed') await repeatTask(draft, ids, taskId);
}

function patchedTask(before: Task, patch: TaskPatch): Task {
  const given = Object.entries(patch).filter(([, value]) => value !== undefined);
  const cleared = given.map(([name, value]) => [name, value === null ? undefined : value]);
  const after: Task = { ...before, ...Object.fromEntries(cleared) };
  // A new rule starts a new series; the same rule in another spelling does not.
  if (spellRule(after.recurrence ?? '') === spellRule(before.recurrence ?? ''))
    after.recurrence = before.recurrence;
  else delete after.series_start;
  return after;
}

// A task lists its subtasks, in order, and each names its parent. Both are written together.

const refuse = (why: string) => tasksErrors.create('tasks.parent_refused', why);

// Adds the task to the end of its parent's subtasks.
export async function addToParent(draft: Draft, child: Task): Promise<void> {
  if (child.parent_id === undefined) return;
  const [parent] = await draft.find([child.parent_id]);
  if (!parent) throw refuse('Parent task not found.');
  if (parent.task_id === child.task_id) throw refuse('A task cannot be its own subtask.');
  if (parent.parent_id !== undefined) throw refuse('A subtask cannot have subtasks.');
  if (child.subtask_ids !== undefined) throw refuse('A task with subtasks cannot become a subtask.');
  const siblings = parent.subtask_ids ?? [];
  if (siblings.includes(child.task_id)) return;
  if (siblings.length >= limits.subtasks)
    throw refuse(`A task can have at most ${limits.subtasks} subtasks.`);
  draft.put({ ...parent, subtask_ids: [...siblings, child.task_id] });
}

export async function removeFromParent(draft: Draft, child: Task): Promise<void> {
  if (child.parent_id === undefined) return;
  const [parent] = await draft.find([child.parent_id]);
  if (!parent?.subtask_ids?.includes(child.task_id)) return;
  draft.put({ ...parent, subtask_ids: parent.subtask_ids.filter(id => id !== child.task_id) });
}
