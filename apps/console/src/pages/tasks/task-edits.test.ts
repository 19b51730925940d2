import { expect, test } from 'vitest';
import { editList, joinPages } from './task-edits.ts';
import type { ListKey, Task, TaskStatus } from './task-queries.ts';

const task = (task_id: string, status: TaskStatus = 'pending'): Task =>
  ({ task_id, status, title: task_id, created_at: 0, completed_at: null }) as Task;
const key = (change: Partial<ListKey> = {}): ListKey => ({ q: '', filter: '', sort: 'position', ...change });
const ids = (tasks: readonly Task[]) => tasks.map(task => task.task_id);
const toDo = [task('a'), task('b'), task('c')];

test('appends a new task if the last page is loaded', () => {
  const edit = { kind: 'add', task: task('d') } as const;
  const pending = key({ status: 'pending' });
  expect(editList(toDo, pending, edit, true)).toMatchObject({ isExact: true, tasks: [...toDo, task('d')] });
  expect(ids(editList(toDo, pending, edit, false).tasks)).toEqual(['a', 'b', 'c']);
  expect(ids(editList([], key({ status: 'completed' }), edit, true).tasks)).toEqual([]);
  const subtask = { kind: 'add', task: { ...task('e'), parent_id: 'a' } } as const;
  expect(editList(toDo, pending, subtask, true)).toEqual({ isExact: true, tasks: toDo });
});

test('moves a task exactly between columns', () => {
  const drop = { task: toDo[1]!, status: 'completed' as const, position: { before: 'x' } };
  const edit = { kind: 'move', drop } as const;
  const left = editList(toDo, key({ status: 'pending' }), edit, false);
  expect([ids(left.tasks), left.isExact]).toEqual([['a', 'c'], true]);
  const done = [task('w', 'completed'), task('x', 'completed')];
  const entered = editList(done, key({ status: 'completed' }), edit, false);
  expect([ids(entered.tasks), entered.isExact]).toEqual([['w', 'b', 'x'], true]);
});

test('a task that changes its status leaves its column at once; its position in the new one is unknown', () => {
  const edit = { kind: 'update', task_id: 'b', set: { status: 'completed' } } as const;
  const left = editList(toDo, key({ status: 'pending' }), edit, true);
  expect([ids(left.tasks), left.isExact]).toEqual([['a', 'c'], true]);
  expect(editList([], key({ status: 'completed' }), edit, true).isExact).toBe(false);
  expect(editList(toDo, key(), edit, true)).toMatchObject({ isExact: true, tasks: [{}, edit.set, {}] });
});

test.each([{ q: 'a' }, { filter: 'is:overdue' }, { sort: 'due_date' as const }])(
  'edits are not exact in a list with %o',
  change => {
    const edits = [
      { kind: 'add', task: task('d') },
      { kind: 'remove', task_id: 'a' },
      { kind: 'update', task_id: 'a', set: { title: 'A' } },
      { kind: 'move', drop: { task: toDo[0]!, status: 'pending', position: { after: 'b' } } },
    ] as const;
    for (const edit of edits) expect(editList(toDo, key(change), edit, true).isExact).toBe(false);
  },
);

test('a task that a later page repeats keeps its first position', () => {
  const pages = [{ data: [task('b'), task('a')] }, { data: [task('b'), task('c')] }];
  expect(ids(joinPages(pages))).toEqual(['b', 'a', 'c']);
});
