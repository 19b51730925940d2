import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cardBelow, dropAt, dropBack, nearestColumn, reorder } from './board-drop.ts';
import type { Task, TaskStatus } from './task-queries.ts';

const statuses: TaskStatus[] = ['pending', 'in_progress', 'completed', 'cancelled'];
const task = (task_id: string, status: TaskStatus): Task =>
  ({ task_id, status, title: task_id, created_at: 0 }) as Task;
const board = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.constantFrom(...statuses)), {
    selector: ([number]) => number,
    minLength: 1,
    maxLength: 12,
  })
  .map(rows => rows.map(([number, status]) => task(`task_${number}`, status)));

const columnOf = (tasks: readonly Task[], status: TaskStatus) =>
  tasks.filter(task => task.status === status).map(task => task.task_id);

test('a card stays where it was dropped, and no other card moves', () => {
  fc.assert(
    fc.property(board, fc.nat(), fc.nat(), (tasks, heldAt, overAt) => {
      const held = tasks[heldAt % tasks.length]!;
      const dropTargets = [...tasks.filter(task => task !== held).map(task => task.task_id), ...statuses];
      const over = dropTargets[overAt % dropTargets.length]!;
      const anchor = tasks.find(task => task.task_id === over);
      const drop = dropAt(tasks, held, over, true);
      const after = drop ? reorder(tasks, drop) : tasks;
      const status = anchor?.status ?? (over as TaskStatus);
      const column = columnOf(after, status);
      const at = column.indexOf(held.task_id);
      expect(column[at + 1]).toBe(anchor?.task_id);
      expect(after.filter(one => one.task_id !== held.task_id)).toEqual(tasks.filter(task => task !== held));
    }),
  );
});

test('a card that is dragged back returns to its old position', () => {
  fc.assert(
    fc.property(board, fc.nat(), fc.nat(), (tasks, heldAt, overAt) => {
      const held = tasks[heldAt % tasks.length]!;
      const dropTargets = [...tasks.filter(task => task !== held).map(task => task.task_id), ...statuses];
      const drop = dropAt(tasks, held, dropTargets[overAt % dropTargets.length]!, true);
      if (!drop) return;
      const back = reorder(reorder(tasks, drop), dropBack(tasks, drop, true));
      for (const status of statuses) expect(columnOf(back, status)).toEqual(columnOf(tasks, status));
    }),
  );
});

test('the drops of each column add up to the order of the whole board', () => {
  fc.assert(
    fc.property(board, fc.nat(), fc.nat(), (tasks, heldAt, overAt) => {
      const held = tasks[heldAt % tasks.length]!;
      const dropTargets = [...tasks.filter(task => task !== held).map(task => task.task_id), ...statuses];
      const drop = dropAt(tasks, held, dropTargets[overAt % dropTargets.length]!, true);
      if (!drop) return;
      const after = reorder(tasks, drop);
      for (const status of statuses) {
        const column = reorder(
          tasks.filter(task => task.status === status),
          drop,
          status,
        );
        expect(columnOf(column, status)).toEqual(columnOf(after, status));
        expect(column.every(one => one.status === status)).toBe(true);
      }
    }),
  );
});

test('sends nothing if nothing changed', () => {
  const tasks = [task('a', 'pending'), task('x', 'completed'), task('b', 'pending')];
  const [a, , b] = tasks as [Task, Task, Task];
  expect(dropAt(tasks, a, 'b', true)).toBeUndefined();
  expect(dropAt(tasks, b, 'pending', true)).toBeUndefined();
  expect(dropAt(tasks, a, 'pending', true)).toEqual({ task: a, status: 'pending', position: { after: 'b' } });
  expect(dropAt(tasks, a, 'cancelled', true)).toEqual({ task: a, status: 'cancelled' });
});

test('in another sort order, a drop changes only the column', () => {
  const tasks = [task('a', 'pending'), task('b', 'pending'), task('x', 'completed')];
  const [a] = tasks as [Task];
  expect(dropAt(tasks, a, 'pending', false)).toBeUndefined();
  expect(dropAt(tasks, a, 'completed', false)).toEqual({ task: a, status: 'completed' });
});

test('a point belongs to the nearest column, and to the first card whose middle is below it', () => {
  const column = (id: string, left: number) => ({ id, rect: { left, top: 0, width: 100, height: 300 } });
  const columns = [column('left', 0), column('right', 110)];
  expect(nearestColumn(columns, { x: 50, y: 10 })?.id).toBe('left');
  expect(nearestColumn(columns, { x: 108, y: 10 })?.id).toBe('right');
  expect(nearestColumn(columns, { x: 150, y: 390 })?.id).toBe('right');
  expect(nearestColumn(columns, { x: 150, y: 500 })).toBeUndefined();
  const cards = [50, 0].map(top => ({ id: top, rect: { left: 0, top, width: 100, height: 40 } }));
  expect(cardBelow(cards, { x: 0, y: 10 })?.id).toBe(0);
  expect(cardBelow(cards, { x: 0, y: 25 })?.id).toBe(50);
  expect(cardBelow(cards, { x: 0, y: 80 })).toBeUndefined();
});
