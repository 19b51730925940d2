import type { Task, TaskStatus } from './task-queries.ts';

// Where a card can be dropped: before another card, identified by its id, or at the end of a column, identified by
// its status.

type DropPosition = { before: string } | { after: string };
export type Drop = { task: Task; status: TaskStatus; position?: DropPosition };

// Undefined if nothing would change. If the list is not in the user's own order, a card can only move to another
// column.
export function dropAt(
  tasks: readonly Task[],
  task: Task,
  overId: string,
  isOrdered: boolean,
): Drop | undefined {
  const anchor = tasks.find(task => task.task_id === overId);
  const status = anchor?.status ?? (overId as TaskStatus);
  const column = tasks.filter(task => task.status === status);
  const next = column[column.indexOf(task) + 1];
  const isAtHome = status === task.status && next === anchor;
  if (isAtHome || anchor === task) return undefined;
  if (!isOrdered) return status === task.status ? undefined : { task, status };
  if (anchor) return { task, status, position: { before: anchor.task_id } };
  const last = column.findLast(one => one !== task);
  return { task, status, ...(last && { position: { after: last.task_id } }) };
}

// The drop that undoes one: back before the card that followed, or to the end of its column.
export function dropBack(tasks: readonly Task[], { task, status }: Drop, isOrdered: boolean): Drop {
  const column = tasks.filter(one => one.status === task.status);
  const at = column.indexOf(task);
  const [before, next] = [column[at - 1], column[at + 1]];
  const position = next ? { before: next.task_id } : before && { after: before.task_id };
  const moved = { ...task, status };
  return { task: moved, status: task.status, ...(isOrdered && position && { position }) };
}

// The resulting list: of all tasks, or of one column that the task may enter or leave.
export function reorder(
  tasks: readonly Task[],
  { task, status, position }: Drop,
  column: TaskStatus | undefined = undefined,
): Task[] {
  const moved = { ...task, status };
  const isIt = (one: Task) => one.task_id === task.task_id;
  const isListed = tasks.some(isIt);
  if (!isListed && column === undefined) return [...tasks];
  const others = tasks.filter(task => !isIt(task));
  if (column !== undefined && column !== status) return others;
  const anchorId = position && ('before' in position ? position.before : position.after);
  const anchorAt = others.findIndex(one => one.task_id === anchorId);
  if (!position || anchorAt === -1)
    return isListed ? tasks.map(task => (isIt(task) ? moved : task)) : [...others, moved];
  return others.toSpliced('before' in position ? anchorAt : anchorAt + 1, 0, moved);
}

export type Rect = { left: number; top: number; width: number; height: number };
export type Point = { x: number; y: number };
export type Slot<Id = string> = { id: Id; rect: Rect };

const nearPx = 120; // this close to the board means its nearest column

const distanceTo = ({ left, top, width, height }: Rect, { x, y }: Point): number =>
  Math.hypot(Math.max(left - x, 0, x - left - width), Math.max(top - y, 0, y - top - height));

export function nearestColumn<Id>(columns: readonly Slot<Id>[], point: Point): Slot<Id> | undefined {
  const near = columns
    .map(slot => ({ slot, distance: distanceTo(slot.rect, point) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return near && near.distance <= nearPx ? near.slot : undefined;
}

// The first card whose middle is below the point, if any.
export const cardBelow = <Id>(cards: readonly Slot<Id>[], { y }: Point): Slot<Id> | undefined =>
  cards.toSorted((a, b) => a.rect.top - b.rect.top).find(({ rect }) => rect.top + rect.height / 2 > y);
