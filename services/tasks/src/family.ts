import type { Draft } from './draft.ts';
import { tasksErrors } from './errors.ts';
import * as limits from './limits.ts';
import type { Task } from './schema.ts';

// A task names its subtasks, in order, and they name it. Both ends are written together.

const refuse = (why: string) => tasksErrors.create('tasks.parent_refused', why);

// Adds the task at the end of its parent's subtasks.
export async function joinParent(draft: Draft, child: Task): Promise<void> {
  if (child.parent_id === undefined) return;
  const [parent] = await draft.find([child.parent_id]);
  if (!parent) throw refuse('There is no such parent.');
  if (parent.task_id === child.task_id) throw refuse('A task cannot be its own subtask.');
  if (parent.parent_id !== undefined) throw refuse('A subtask has no subtasks of its own.');
  if (child.subtask_ids !== undefined) throw refuse('A task with subtasks cannot become one.');
  const siblings = parent.subtask_ids ?? [];
  if (siblings.includes(child.task_id)) return;
  if (siblings.length >= limits.subtasks) throw refuse(`A task has at most ${limits.subtasks} subtasks.`);
  draft.put({ ...parent, subtask_ids: [...siblings, child.task_id] });
}

export async function leaveParent(draft: Draft, child: Task): Promise<void> {
  if (child.parent_id === undefined) return;
  const [parent] = await draft.find([child.parent_id]);
  if (!parent?.subtask_ids?.includes(child.task_id)) return;
  draft.put({ ...parent, subtask_ids: parent.subtask_ids.filter(id => id !== child.task_id) });
}
