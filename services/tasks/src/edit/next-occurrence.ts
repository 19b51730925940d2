import { type Ids, yieldToEventLoop } from '@stak/kit';
import { addDays, todayIn, utcOf } from '../dates.ts';
import * as limits from '../limits.ts';
import { occurrenceAfter } from '../schedule/occurrences.ts';
import type { Task } from '../schema.ts';
import type { Draft } from './draft.ts';
import { firstPosition } from './position.ts';

// Completing an occurrence creates the next one in the same transaction: the first that is due after this one and after
// today, in the user's time zone. The rule and the position move to the new task, so completing the old one again does
// not repeat it twice.
export async function repeatTask(draft: Draft, ids: Ids, taskId: string): Promise<void> {
  const done = draft.result(taskId);
  const { recurrence, series_start, due_date } = done;
  if (recurrence === undefined || series_start === undefined || due_date === undefined) return;
  const { tally, nowS } = draft.view;
  const today = todayIn(tally.time_zone, nowS * 1000);
  // This can take a few milliseconds, and a hundred tasks may be completed at once.
  if (recurrence.includes('COUNT=')) await yieldToEventLoop();
  const nextDate = occurrenceAfter(recurrence, series_start, due_date > today ? due_date : today);
  if (nextDate === undefined) return draft.put({ ...done, recurrence: undefined });

  const next: Task = {
    ...freshCopy(done, ids.next('tsk'), nowS),
    due_date: nextDate,
    position: done.position,
    subtask_ids: undefined,
  };
  if (done.parent_id !== undefined) await replaceInParent(draft, done, next.task_id);
  draft.put({
    ...done,
    recurrence: undefined,
    parent_id: undefined,
    position: firstPosition(next.task_id, nowS),
  });
  const laterDays = Math.round((utcOf(nextDate) - utcOf(due_date)) / dayMs);
  const subtasks = (await draft.find(done.subtask_ids ?? [])).map(subtask => ({
    ...freshCopy(subtask, ids.next('tsk'), nowS),
    parent_id: next.task_id,
    recurrence: undefined,
    series_id: undefined,
    series_start: undefined,
    due_date: subtask.due_date && earlier(addDays(subtask.due_date, laterDays), limits.lastDate),
  }));
  for (const subtask of subtasks) draft.put(subtask);
  draft.put({ ...next, subtask_ids: subtasks.map(subtask => subtask.task_id) });
}

const dayMs = 24 * 60 * 60 * 1000;
const earlier = (one: string, other: string): string => (one < other ? one : other);

// The task as its user wrote it, without its history. A reminder at a fixed time was for this occurrence only.
function freshCopy(task: Task, task_id: string, nowS: number): Task {
  const { request_id: _, ...copy } = task;
  return {
    ...copy,
    task_id,
    cause: task.task_id,
    status: 'pending',
    reminder: task.reminder && 'at' in task.reminder ? undefined : task.reminder,
    created_at: nowS,
    updated_at: nowS,
    completed_at: null,
    version: 1,
  };
}

async function replaceInParent(draft: Draft, { task_id, parent_id }: Task, nextId: string): Promise<void> {
  const [parent] = await draft.find([parent_id!]);
  if (!parent?.subtask_ids) return;
  draft.put({ ...parent, subtask_ids: parent.subtask_ids.map(id => (id === task_id ? nextId : id)) });
}
