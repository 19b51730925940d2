import { isDeepStrictEqual } from 'node:util';
import { ref, type Store } from '@stak/table';
import { addDays, instantOf } from '../dates.ts';
import { refuseField, taskNotFound } from '../errors.ts';
import * as limits from '../limits.ts';
import { checkRule } from '../schedule/recurrence.ts';
import type { Task } from '../schema.ts';
import { type Tally, type TrashedTask, task } from '../tables.ts';
import type { View } from './commit.ts';
import { countedTasks } from './counted.ts';
import { isForeign, taskOfForeign } from './foreign.ts';
import { firstPosition } from './position.ts';
import { recount } from './tally.ts';
import { countedIn, stepsOf, type TaskChange } from './task-change.ts';

// Tasks as they were read and as they will be written. An operation changes a draft as if it were alone. The result is
// one change for each task, however often it was touched, because a transaction may name an item only once.
export type Draft = {
  readonly view: View;
  read(taskId: string): Promise<Task>;
  find(taskIds: readonly string[]): Promise<Task[]>;
  // The task that another program has replaced by one that was found.
  replace(counted: Task): void;
  put(task: Task): void;
  discard(task: Task): void;
  restore(from: TrashedTask, task: Task): void;
  taskChanges(): TaskChange[];
  countSteps(): number;
  // Throws if the user would exceed a limit.
  checkLimits(): void;
  // Returns a function that rolls back to the current state.
  mark(): () => void;
  // A task as it will be written; undefined if it does not or will not exist.
  peek(taskId: string): Task | undefined;
  result(taskId: string): Task;
};

type Entry = {
  readonly before?: Task;
  readonly after?: Task;
  readonly discarded?: Task; // as it was before
  readonly fromTrash?: TrashedTask;
  readonly isForeign?: true; // written by another program, and not counted
};

export function createDraft({ store }: { store: Store }, view: View): Draft {
  const { tally, nowS } = view;
  const { user_id } = tally;
  let entries = new Map<string, Entry>();

  async function find(taskIds: readonly string[]): Promise<Task[]> {
    const unread = [...new Set(taskIds)].filter(id => !entries.has(id));
    const refs = unread.map(task_id => ref(task, { user_id, task_id }));
    const found =
      refs.length === 0 ? [] : await store.batchGet(refs, { consistent: true, pattern: 'tasks to write' });
    const present = found.filter(one => one !== undefined && !isForeign(one)) as Task[];
    const counted = new Map((await countedTasks(store, present)).map(one => [one.task_id, one]));
    for (const id of unread) entries.set(id, { before: counted.get(id), after: counted.get(id) });
    for (const [i, one] of found.entries()) {
      const foreign = one && isForeign(one) ? taskOfForeign(one, user_id, unread[i]!, nowS) : undefined;
      if (foreign) entries.set(unread[i]!, { isForeign: true, after: withDerived(foreign, tally, nowS) });
    }
    return taskIds.flatMap(id => entries.get(id)?.after ?? []);
  }

  // Entries are replaced, never changed, so their effects can be cached.
  const known = new Map<Entry, { taskChange?: TaskChange; steps: number }>();
  const effectOf = (entry: Entry) => {
    const found = known.get(entry);
    if (found) return found;
    const taskChange = taskChangeOf(entry, nowS);
    const effect = { taskChange, steps: taskChange ? stepsOf(taskChange, nowS).length : 0 };
    known.set(entry, effect);
    return effect;
  };
  const peek = (taskId: string): Task | undefined => {
    const entry = entries.get(taskId);
    return entry?.after && (effectOf(entry).taskChange?.after ?? entry.after);
  };
  const taskChanges = () => [...entries.values()].flatMap(entry => effectOf(entry).taskChange ?? []);

  return {
    view,
    find,
    taskChanges,
    async read(taskId) {
      const [found] = await find([taskId]);
      if (!found) throw taskNotFound();
      return found;
    },
    replace(counted) {
      const entry = entries.get(counted.task_id);
      if (entry?.isForeign) entries.set(counted.task_id, { ...entry, before: counted });
    },
    put(changed) {
      const entry = entries.get(changed.task_id) ?? {};
      entries.set(changed.task_id, { ...entry, after: withDerived(changed, tally, nowS) });
    },
    discard({ task_id }) {
      const entry = entries.get(task_id);
      entries.set(task_id, { ...entry, after: undefined, discarded: entry?.after });
    },
    restore(fromTrash, restored) {
      entries.set(restored.task_id, { fromTrash, after: withDerived(restored, tally, nowS) });
    },
    checkLimits: () => void recount(tally, ...countedIn(taskChanges())),
    countSteps: () => [...entries.values()].reduce((sum, entry) => sum + effectOf(entry).steps, 0),
    mark() {
      const marked = new Map(entries);
      return () => {
        entries = marked;
      };
    },
    peek,
    result(taskId) {
      const result = peek(taskId);
      if (!result) throw taskNotFound();
      return result;
    },
  };
}

function taskChangeOf(entry: Entry, nowS: number): TaskChange | undefined {
  const { before, after, discarded, fromTrash, isForeign } = entry;
  if (isForeign && after)
    return { isForeign, before, after: { ...after, version: (before?.version ?? 0) + 1 } };
  if (isForeign) return discarded && { isForeign, before, toTrash: trashedOf(discarded, nowS) };
  if (before && after) {
    const same = { ...after, version: before.version, updated_at: before.updated_at };
    if (isDeepStrictEqual(before, same)) return undefined;
    return { before, after: { ...after, version: before.version + 1, updated_at: nowS } };
  }
  if (before) return { before, toTrash: trashedOf(discarded ?? before, nowS) };
  if (!after || !fromTrash) return after && { after };
  return { after: { ...after, version: fromTrash.version + 1, updated_at: nowS }, fromTrash };
}

const trashedOf = (before: Task, nowS: number): TrashedTask => ({
  ...before,
  deleted_at: nowS,
  ttl: nowS + limits.trashS,
});

type Settings = Pick<Tally, 'time_zone' | 'retention_days'>;
const dayS = 24 * 60 * 60;

// A task with its derived attributes. Every write goes through here, so the same task always expires and reminds at the
// same time.
function withDerived(task: Task, settings: Settings, nowS: number): Task {
  const stamped: Task = {
    ...task,
    completed_at: task.status === 'completed' ? (task.completed_at ?? nowS) : null,
    restored_at: task.status === 'completed' ? task.restored_at : undefined,
    position:
      task.parent_id === undefined
        ? (task.position ?? firstPosition(task.task_id, task.created_at))
        : undefined,
    ...seriesOf(task),
  };
  stamped.ttl = expiresAt(stamped, settings, nowS);
  stamped.remind_at = remindsAt(task, settings.time_zone);
  return withoutEmpty(stamped);
}

// Completed tasks are kept for so many days from their completion, or from when they were last restored. A time to live
// in the past becomes the present, because DynamoDB ignores items that expired years ago.
function expiresAt(task: Task, { retention_days }: Settings, nowS: number): number | undefined {
  if (task.completed_at === null || retention_days === undefined) return undefined;
  const atS = Math.max(task.completed_at, task.restored_at ?? 0) + retention_days * dayS;
  return atS > nowS ? atS : (task.ttl ?? nowS);
}

function remindsAt({ reminder, due_date }: Task, timeZone: string): number | undefined {
  if (!reminder) return undefined;
  // Rounded up, so it is neither early nor in the past, where reminders are not sent.
  if ('at' in reminder) return Math.ceil(Date.parse(reminder.at) / 1000);
  if (due_date === undefined)
    throw refuseField(
      'tasks.reminder_refused',
      'body',
      'reminder',
      'A reminder relative to the due date needs a due date.',
    );
  return Math.floor(instantOf(addDays(due_date, -reminder.days_before), reminder.time, timeZone) / 1000);
}

// A series starts with the due date of the task that got the rule.
function seriesOf(task: Task): Partial<Task> {
  if (task.recurrence === undefined) return {};
  if (task.due_date === undefined)
    throw refuseField('tasks.recurrence_refused', 'body', 'recurrence', 'A recurring task needs a due date.');
  const start = task.series_start ?? task.due_date;
  return {
    recurrence: task.series_start === undefined ? checkRule(task.recurrence, start) : task.recurrence,
    series_start: start,
    series_id: task.series_id ?? task.task_id,
  };
}

// Empty attributes are left out: an index would list them, or refuse them.
function withoutEmpty(task: Task): Task {
  const copy: Record<string, unknown> = {};
  for (const name in task) {
    const value = task[name as keyof Task];
    if (!isEmpty(value)) copy[name] = value;
  }
  return copy as Task;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
