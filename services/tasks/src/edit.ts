import { versionMismatch } from '@stak/http';
import type { Ids } from '@stak/kit';
import type { Draft } from './draft.ts';
import { joinParent, leaveParent } from './family.ts';
import { spellRule } from './recurrence.ts';
import { repeatTask } from './repetition.ts';
import type { Task, TaskPatch } from './schema.ts';

export function requireVersion(version: number, expected: string | undefined): void {
  if (expected !== undefined && expected !== String(version)) throw versionMismatch();
}

// Changes a task in the draft, and whatever has to change with it.
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
    await joinParent(draft, after);
    await leaveParent(draft, before);
  }
  draft.put(after);
  if (after.status === 'completed' && before.status !== 'completed') await repeatTask(draft, ids, taskId);
}

function patchedTask(before: Task, patch: TaskPatch): Task {
  const given = Object.entries(patch).filter(([, value]) => value !== undefined);
  const cleared = given.map(([name, value]) => [name, value === null ? undefined : value]);
  const after: Task = { ...before, ...Object.fromEntries(cleared) };
  // A new rule begins a new series; the same one in other letters does not.
  if (spellRule(after.recurrence ?? '') === spellRule(before.recurrence ?? ''))
    after.recurrence = before.recurrence;
  else delete after.series_start;
  return after;
}
