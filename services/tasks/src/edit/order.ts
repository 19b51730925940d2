import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { readTasks } from '../lists/access-patterns.ts';
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
      const ends = await readEnds(deps, view.tally);
      const position =
        anchor?.position === undefined
          ? positionAtEnd(target, ends)
          : await positionBeside(deps, draft, taskId, target, anchor.position);
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
export async function readEnds({ store }: Pick<CommitDeps, 'store'>, tally: Tally): Promise<Ends> {
  const { user_id, total, first_position, last_position } = tally;
  if (first_position !== undefined || total === 0) return { first_position, last_position };
  const [first, last] = await Promise.all(
    [false, true].map(newestFirst => store.query(tasksByPosition, { user_id }, { newestFirst, limit: 1 })),
  );
  return { first_position: first?.items[0]?.position, last_position: last?.items[0]?.position };
}

const positionAtEnd = (target: MoveTarget, { first_position, last_position }: Ends): string | undefined =>
  'to' in target && target.to === 'top'
    ? positionBetween(undefined, first_position)
    : positionBetween(last_position, undefined);

// The neighbours are read from an index, which may be late and lists expired tasks until they are removed. The position
// of an expired task is as good a limit as any. What was written last is read from the table.
async function positionBeside(
  { store }: CommitDeps,
  draft: Draft,
  taskId: string,
  target: MoveTarget,
  anchor: string,
): Promise<string | undefined> {
  const { user_id } = draft.view.tally;
  const isDown = 'after' in target;
  const range = isDown ? { after: { position: anchor } } : { before: { position: anchor } };
  const page = { limit: limits.neighbours };
  const [indexed, changes] = await Promise.all([
    store.query(tasksByPosition, { user_id }, { ...range, ...page, newestFirst: !isDown }),
    store.query(changesOfUser, { user_id }, { ...page, newestFirst: true }),
  ]);
  const recent = changes.items.flatMap(one => one.task_ids).slice(0, limits.recentTasks);
  const others = indexed.items.filter(one => one.task_id !== taskId);
  const ids = [...others.map(one => one.task_id), ...recent].filter(id => id !== taskId);
  const present = (await draft.find([...new Set(ids)])).flatMap(one => one.position ?? []);
  const between = (positions: readonly string[]) =>
    isDown
      ? positionBetween(
          anchor,
          positions.toSorted().find(one => one > anchor),
        )
      : positionBetween(
          positions.toSorted().findLast(one => one < anchor),
          anchor,
        );
  return between([...present, ...others.flatMap(one => one.position ?? [])]) ?? between(present);
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
