import { type Drop, reorder } from './board-drop.ts';
import type { ListKey, Task } from './task-queries.ts';

// Applies an edit of a task to a loaded list. If the result is certain, the list is not read again, which could be a
// hundred requests after moving one of ten thousand tasks.
export type TaskEdit =
  | { kind: 'add'; task: Task }
  | { kind: 'move'; drop: Drop }
  | { kind: 'remove'; task_id: string }
  | { kind: 'update'; task_id: string; set: Partial<Task> };

export type EditedList = {
  tasks: Task[];
  isExact: boolean; // the server would return the same list
};

/** A list after an edit. `isWhole`: its last page is loaded. */
export function editList(
  tasks: readonly Task[],
  { q, filter, sort, status }: ListKey,
  edit: TaskEdit,
  isWhole: boolean,
): EditedList {
  const isOwnOrder = q === '' && filter === '' && sort === 'position';
  switch (edit.kind) {
    case 'add': {
      // New tasks come last. If more pages follow, they arrive with the last one. Subtasks are listed in their task.
      const isInColumn = status === undefined || status === edit.task.status;
      const isHere = isOwnOrder && isWhole && isInColumn && edit.task.parent_id === undefined;
      return { tasks: isHere ? [...tasks, edit.task] : [...tasks], isExact: isOwnOrder };
    }
    case 'move':
      return { tasks: reorder(tasks, edit.drop, status), isExact: isOwnOrder };
    case 'remove':
      return { tasks: tasks.filter(task => task.task_id !== edit.task_id), isExact: isOwnOrder };
    case 'update': {
      const { task_id, set } = edit;
      const isHeld = tasks.some(task => task.task_id === task_id);
      const isEntering = status !== undefined && set.status === status && !isHeld; // at an unknown position
      return {
        tasks: tasks
          .map(task => (task.task_id === task_id ? { ...task, ...set } : task))
          .filter(task => status === undefined || task.status === status),
        isExact: isOwnOrder && !isEntering,
      };
    }
  }
}

/** The tasks of all pages without duplicates: a task moved past the loaded pages appears again in a later one. */
export function joinPages(pages: readonly { data: readonly Task[] }[]): Task[] {
  const joined = new Map<string, Task>();
  for (const { data } of pages)
    for (const task of data) if (!joined.has(task.task_id)) joined.set(task.task_id, task);
  return [...joined.values()];
}
