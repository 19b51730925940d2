import type { ActivityEntry } from './task-activity.tsx';

// Puts the changes of a task into words. Internal fields (position, version) are left out.

const statuses: Readonly<Record<string, string>> = {
  pending: 'To do',
  in_progress: 'In progress',
  completed: 'Done',
  cancelled: 'Cancelled',
};

const shown = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));
const isNone = (value: unknown): boolean => value === null || value === '' || shown(value) === '';

const named =
  (name: string) =>
  (before: unknown, after: unknown): string => {
    if (isNone(after)) return `${name} removed: ${shown(before)}`;
    return isNone(before) ? `${name}: ${shown(after)}` : `${name}: ${shown(before)} → ${shown(after)}`;
  };

const tellers: Readonly<Record<string, (before: unknown, after: unknown) => string>> = {
  title: named('Title'),
  status: (before, after) =>
    named('Status')(statuses[String(before)] ?? before, statuses[String(after)] ?? after),
  priority: named('Priority'),
  category: named('Category'),
  labels: named('Labels'),
  due_date: named('Due'),
  recurrence: named('Repeats'),
  description: () => 'Description changed',
  reminder: () => 'Reminder changed',
  subtask_ids: () => 'Subtasks changed',
};

/** The lines of one change. The oldest insert created the task; later ones restored it from the trash. */
export function tellEntry({ kind, changes }: ActivityEntry, isOldest: boolean): string[] {
  if (kind === 'insert') return [isOldest ? 'Created' : 'Restored from the trash'];
  if (kind === 'remove') return ['Moved to the trash'];
  return changes.flatMap(({ field, before, after }) => tellers[field]?.(before, after) ?? []);
}
