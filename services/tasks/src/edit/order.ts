import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { readTasks } from '../lists/access-patterns.ts';
import type { Task } from '../schema.ts';
import { tasksByPosition } from '../tables.ts';
import { type CommitDeps, commit } from './commit.ts';
import { createDraft, type Draft } from './draft.ts';
import { positionBetween } from './position.ts';
import { getTask, requireVersion } from './update.ts';

// The new position: right before or after another task, or at an end of the list.
export type MoveTarget = { before: string } | { after: string } | { to: 'top' | 'bottom' };

const refuse = (why: string) => tasksErrors.create('tasks.order_refused', why);

export function moveTask(
  deps: CommitDeps,
  user_id: string,
  taskId: string,
  target: MoveTarget,
  expected?: string,
): Promise<Task> {
  return commit(deps, user_id, 'move task', async view => {
    const draft = createDraft(deps, view);
    const moved = await draft.read(taskId);
    requireVersion(moved.version, expected);
    if (moved.parent_id === undefined) {
      const anchorId = anchorOf(target);
      if (anchorId === taskId) throw refuse('A task cannot be moved next to itself.');
      const anchor = anchorId === undefined ? undefined : (await draft.find([anchorId]))[0];
      if (anchorId !== undefined && anchor?.position === undefined)
        throw refuse('The task to move it next to was not found.');
      const position = await positionAt(deps, draft, taskId, target, anchor?.position);
      if (position === undefined || position.length > limits.positionChars)
        throw refuse('There is no room left between these two tasks. Move one of them first.');
      draft.put({ ...moved, position });
    } else {
      const parent = await draft.read(moved.parent_id);
      draft.put({ ...parent, subtask_ids: reordered(parent.subtask_ids ?? [], taskId, target) });
    }
    return { answer: draft.result(taskId), taskChanges: draft.taskChanges() };
  });
}

const anchorOf = (target: MoveTarget): string | undefined =>
  'before' in target ? target.before : 'after' in target ? target.after : undefined;

// The neighbours are read from an index that may be late, so several are read and compared as they are now. At worst
// the task ends up a little further from its anchor, but on the right side of it.
async function positionAt(
  { store }: CommitDeps,
  draft: Draft,
  taskId: string,
  target: MoveTarget,
  anchor: string | undefined,
): Promise<string | undefined> {
  const { user_id } = draft.view.tally;
  const isDown = 'after' in target || ('to' in target && target.to === 'top');
  const range = isDown ? { after: { position: anchor } } : { before: { position: anchor } };
  const options = { ...(anchor !== undefined && range), newestFirst: !isDown, limit: limits.neighbours };
  const { items } = await store.query(tasksByPosition, { user_id }, options);
  const ids = items.map(one => one.task_id).filter(id => id !== taskId);
  const positions = (await draft.find(ids)).flatMap(one => one.position ?? []).toSorted();
  return isDown
    ? positionBetween(
        anchor,
        positions.find(one => anchor === undefined || one > anchor),
      )
    : positionBetween(
        positions.findLast(one => anchor === undefined || one < anchor),
        anchor,
      );
}

function reordered(ids: readonly string[], taskId: string, target: MoveTarget): string[] {
  const others = ids.filter(id => id !== taskId);
  const anchorId = anchorOf(target);
  const anchorAt = anchorId === undefined ? -1 : others.indexOf(anchorId);
  if (anchorId !== undefined && anchorAt === -1)
    throw refuse('A subtask can only be moved among the subtasks of its own task.');
  if ('to' in target) return target.to === 'top' ? [taskId, ...others] : [...others, taskId];
  return others.toSpliced('before' in target ? anchorAt : anchorAt + 1, 0, taskId);
}

// In the user's order.
export async function listSubtasks(
  deps: Pick<CommitDeps, 'store'>,
  user_id: string,
  taskId: string,
): Promise<Task[]> {
  const { subtask_ids = [] } = await getTask(deps, user_id, taskId);
  return readTasks(deps.store, user_id, subtask_ids);
}
