import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { is, type NamedStep, type WriteStep, write } from '@stak/table';
import * as limits from '../limits.ts';
import { isOpen, type Task } from '../schema.ts';
import { type Expiry, expiry, reminder, type TrashedTask, task, trashed } from '../tables.ts';

// The change of one task: created, edited, moved to the trash or restored. All items that depend on a task are derived
// from it here, and only here.
export type TaskChange = {
  readonly before?: Task;
  readonly after?: Task;
  readonly toTrash?: TrashedTask;
  readonly fromTrash?: TrashedTask;
  readonly isForeign?: true; // what is stored was written by another program
};

const keyOf = ({ user_id, task_id }: { user_id: string; task_id: string }) => ({ user_id, task_id });

export const idOf = ({ before, after, toTrash }: TaskChange): string => (after ?? before ?? toTrash)!.task_id;

// Lists the tasks to subtract from the counts, and those to add.
export const countedIn = (taskChanges: readonly TaskChange[]): [gone: Task[], come: Task[]] => [
  taskChanges.flatMap(taskChange => taskChange.before ?? []),
  taskChanges.flatMap(taskChange => taskChange.after ?? []),
];

export function stepsOf(taskChange: TaskChange, nowS: number): NamedStep[] {
  const { before, after, toTrash, fromTrash } = taskChange;
  const id = idOf(taskChange);
  const steps: NamedStep[] = [];
  const taskStep = taskChange.isForeign ? foreignStepOf(taskChange) : taskStepOf(before, after);
  if (taskStep) steps.push([`task ${id}`, taskStep]);
  if (toTrash) steps.push([`into the trash ${id}`, write.put(trashed, toTrash)]);
  if (fromTrash)
    steps.push([`out of the trash ${id}`, write.delete(trashed, keyOf(fromTrash), { ifPresent: true })]);
  const reminderStep = reminderStepOf(before, after, nowS);
  if (reminderStep) steps.push([`reminder ${id}`, reminderStep]);
  steps.push(...expirySteps(before, after));
  return steps;
}

function taskStepOf(before: Task | undefined, after: Task | undefined): WriteStep | undefined {
  if (!before) return after && write.put(task, after, { ifAbsent: true });
  if (!after) return write.delete(task, keyOf(before), { ifPresent: true, ifVersion: before.version });
  const change = diff(before, after);
  // The keys of the indexes follow from what is set: one update with one condition.
  return change && write.update(task, keyOf(before), change, { ifVersion: before.version, current: before });
}

// Nothing is written over what the other program, or another process of ours, has written in the meantime.
function foreignStepOf({ after, toTrash }: TaskChange): WriteStep | undefined {
  const unchanged = { if: { version: is.absent } };
  if (after) return write.put(task, after, unchanged);
  return toTrash && write.delete(task, keyOf(toTrash), { ifPresent: true, ...unchanged });
}

type Settable = Omit<Task, 'user_id' | 'task_id' | 'version'>;

function diff(before: Task, after: Task) {
  const set: Record<string, unknown> = {};
  const remove: (keyof Settable)[] = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof Settable>) {
    if ((name as string) === 'version' || isDeepStrictEqual(before[name], after[name])) continue;
    if (after[name] === undefined) remove.push(name);
    else set[name] = after[name];
  }
  if (Object.keys(set).length === 0 && remove.length === 0) return undefined;
  return { set: set as Partial<Settable>, remove };
}

// Only open tasks have a reminder. One that was sent is gone, and editing something else does not bring it back.
const remindsAt = (one: Task | undefined): number | undefined =>
  one && isOpen(one.status) ? one.remind_at : undefined;

function reminderStepOf(before: Task | undefined, after: Task | undefined, nowS: number) {
  const [was, becomes] = [remindsAt(before), remindsAt(after)];
  if (was === becomes) return undefined;
  if (after && becomes !== undefined && becomes > nowS) {
    const dueMs = becomes * 1000;
    const { user_id, task_id } = after;
    const shard = shardOf(task_id);
    return write.put(reminder, {
      user_id,
      task_id,
      due_at: dueMs,
      next_at: dueMs,
      shard,
      fence: 0,
      attempts: 0,
    });
  }
  return was === undefined ? undefined : write.delete(reminder, keyOf(before!));
}

const shardOf = (taskId: string): number =>
  createHash('sha256').update(taskId).digest().readUInt32BE(0) % limits.reminderShards;

function expiryOf(one: Task | undefined): Expiry | undefined {
  if (one?.ttl === undefined) return undefined;
  const { user_id, task_id, ttl, priority, category, parent_id, subtask_ids } = one;
  const kept = { priority, category, parent_id, subtask_ids };
  const present = Object.entries(kept).filter(([, value]) => value !== undefined);
  return { user_id, task_id, expires_at: ttl, ...Object.fromEntries(present) };
}

function expirySteps(before: Task | undefined, after: Task | undefined): NamedStep[] {
  const [was, becomes] = [expiryOf(before), expiryOf(after)];
  if (isDeepStrictEqual(was, becomes)) return [];
  const steps: NamedStep[] = [];
  if (was && was.expires_at !== becomes?.expires_at)
    steps.push([`no expiry ${was.task_id}`, write.delete(expiry, was, { ifPresent: true })]);
  if (becomes) steps.push([`expiry ${becomes.task_id}`, write.put(expiry, becomes)]);
  return steps;
}
