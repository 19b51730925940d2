import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { readTasks } from '../queries/access-patterns.ts';
import type { Task } from '../schema.ts';
import { changesOfUser, type Tally, tasksByPosition } from '../tables.ts';
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
      const ends = await readEnds(deps, draft);
      const position =
        anchor?.position === undefined
          ? positionAtEnd(target, ends)
          : await positionBeside(deps, draft, target, anchor.position);
      if (position === undefined || position.length > limits.positionChars)
        throw refuse('There is no room left between these two tasks. Move one of them first.');
      draft.put({ ...moved, position });
      return { answer: draft.result(taskId), taskChanges: draft.taskChanges(), settings: ends };
    } else {
      const parent = await draft.read(moved.parent_id);
      draft.put({ ...parent, subtask_ids: reordered(parent.subtask_ids ?? [], taskId, target) });
    }
    return { answer: draft.result(taskId), taskChanges: draft.taskChanges() };
  });
}

const anchorOf = (target: MoveTarget): string | undefined =>
  'before' in target ? target.before : 'after' in target ? target.after : undefined;

export type Ends = Pick<Tally, 'first_position' | 'last_position'>;

// The tally knows the ends of the user's order. One that an older version wrote does not: they are read from the index.
export async function readEnds(deps: Pick<CommitDeps, 'store'>, draft: Draft): Promise<Ends> {
  const { total, first_position, last_position } = draft.view.tally;
  if (first_position !== undefined || total === 0) return { first_position, last_position };
  const positions = [
    ...((await readPositions(deps, draft, {})) ?? []),
    ...((await readPositions(deps, draft, { newestFirst: true })) ?? []),
    ...(await recentPositions(deps, draft)),
  ].toSorted();
  return { first_position: positions[0], last_position: positions.at(-1) };
}

type Range = { newestFirst?: boolean; after?: { position: string }; before?: { position: string } };

// The positions of some tasks at the beginning of a part of the order, sorted. The index may be late, and lists expired
// tasks until they are removed, so it is read on until there is a task that exists.
async function readPositions(
  { store }: Pick<CommitDeps, 'store'>,
  draft: Draft,
  range: Range,
): Promise<string[] | undefined> {
  const { user_id } = draft.view.tally;
  const isWithin = (position: string) =>
    (range.after?.position ?? '') < position &&
    (range.before === undefined || position < range.before.position);
  let cursor: string | undefined;
  for (let read = 0; read < limits.positionBudget; ) {
    const page = { limit: read === 0 ? limits.neighbours : limits.orderChunk, cursor, caller: user_id };
    const { items, cursor: next } = await store.query(tasksByPosition, { user_id }, { ...range, ...page });
    const tasks = await draft.find(items.map(item => item.task_id));
    const positions = tasks.flatMap(task => task.position ?? []).filter(isWithin);
    if (positions.length > 0 || next === undefined) return positions.toSorted();
    cursor = next;
    read += items.length;
  }
  return undefined;
}

const positionAtEnd = (target: MoveTarget, { first_position, last_position }: Ends): string | undefined =>
  'to' in target && target.to === 'top'
    ? positionBetween(undefined, first_position)
    : positionBetween(last_position, undefined);

async function positionBeside(
  deps: CommitDeps,
  draft: Draft,
  target: MoveTarget,
  anchor: string,
): Promise<string | undefined> {
  const isDown = 'after' in target;
  const range = isDown
    ? { after: { position: anchor } }
    : { before: { position: anchor }, newestFirst: true };
  const indexed = await readPositions(deps, draft, range);
  if (!indexed)
    throw refuse(
      'Too many tasks that have expired are still stored beside this one. Move it elsewhere first.',
    );
  const written = await recentPositions(deps, draft);
  const positions = [...indexed, ...written].toSorted();
  return isDown
    ? positionBetween(
        anchor,
        positions.find(position => position > anchor),
      )
    : positionBetween(
        positions.findLast(position => position < anchor),
        anchor,
      );
}

// Reads the tasks that were written last from the table, because the index may miss them.
async function recentPositions({ store }: Pick<CommitDeps, 'store'>, draft: Draft): Promise<string[]> {
  const { tally, nowS } = draft.view;
  const page = { limit: limits.recentChanges, newestFirst: true };
  const { items } = await store.query(changesOfUser, { user_id: tally.user_id }, page);
  const recent = items.filter(
    (item, i) => i < limits.neighbours || item.changed_at >= nowS - limits.indexLateS,
  );
  const ids = new Set(recent.flatMap(one => one.task_ids));
  return (await draft.find([...ids].slice(0, limits.recentTasks))).flatMap(one => one.position ?? []);
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
export async function listSubtasks(deps: CommitDeps, user_id: string, taskId: string): Promise<Task[]> {
  const { subtask_ids = [] } = await getTask(deps, user_id, taskId);
  return readTasks(deps.store, user_id, subtask_ids);
}
