import type { ApiTypes } from '@stak/client';
import { describeRule, readRule } from './quick-task.ts';

export type WholeTask = ApiTypes['tasks.get']['data'];
type TaskPatch = NonNullable<ApiTypes['tasks.update']['args']['body']>;
type Reminder = NonNullable<WholeTask['reminder']>;

// The values of a task's form.
export type TaskDraft = {
  title: string;
  description: string;
  due: string;
  category: string;
  status: WholeTask['status'];
  priority: WholeTask['priority'] | null;
  labels: string[];
  repeats: string; // in words, or as a rule
  reminder: ReminderDraft;
};

export type ReminderDraft = {
  kind: string; // '' is none, 'at' a time, a number that many days before the due date
  time: string;
  at: string; // the value of a datetime-local field
};

export function draftOf(task: WholeTask): TaskDraft {
  return {
    title: task.title,
    description: task.description ?? '',
    due: task.due_date ?? '',
    category: task.category ?? '',
    status: task.status,
    priority: task.priority ?? null,
    labels: task.labels ?? [],
    repeats: task.recurrence === undefined ? '' : describeRule(task.recurrence),
    reminder: reminderDraft(task.reminder),
  };
}

function reminderDraft(reminder: Reminder | undefined): ReminderDraft {
  const none = { kind: '', time: '09:00', at: '' };
  if (reminder === undefined) return none;
  if ('at' in reminder) return { ...none, kind: 'at', at: localTime(new Date(reminder.at)) };
  return { ...none, kind: String(reminder.days_before), time: reminder.time };
}

const localTime = (date: Date): string =>
  new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** The fields that differ from the task. Rules that cannot be parsed back from words stay unchanged. */
export function patchOf(task: WholeTask, draft: TaskDraft): TaskPatch {
  const before = draftOf(task);
  const changed = (name: keyof TaskDraft) => JSON.stringify(draft[name]) !== JSON.stringify(before[name]);
  const { title, description, due, category, status, priority, labels, repeats, reminder } = draft;
  return {
    ...(changed('title') && { title: title.trim() }),
    ...(changed('description') && { description: description.trim() || null }),
    ...(changed('due') && { due_date: due || null }),
    ...(changed('category') && { category: category.trim() || null }),
    ...(changed('status') && { status }),
    ...(changed('priority') && { priority }),
    ...(changed('labels') && { labels: labels.length > 0 ? labels : null }),
    ...(changed('repeats') && { recurrence: readRule(repeats) ?? null }),
    ...(changed('reminder') && { reminder: reminderOf(reminder) }),
  };
}

function reminderOf({ kind, time, at }: ReminderDraft): Reminder | null {
  if (kind === '') return null;
  if (kind === 'at') return { at: new Date(at).toISOString() };
  return { days_before: Number(kind), time };
}

/** Whether the text under "Repeats" is not a valid recurrence. */
export const isUnreadable = (task: WholeTask, { repeats }: TaskDraft): boolean =>
  repeats.trim() !== '' && repeats !== draftOf(task).repeats && readRule(repeats) === undefined;
