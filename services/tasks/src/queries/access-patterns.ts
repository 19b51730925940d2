import { type ResultPage, ref, type Store } from '@stak/table';
import { addDays } from '../dates.ts';
import * as limits from '../limits.ts';
import { openStatuses, type Priority, priorities, type Status, type Summary, type Task } from '../schema.ts';
import {
  allTasks,
  task,
  tasksByCategory,
  tasksByDueDate,
  tasksByPosition,
  tasksByPriority,
  tasksByStatus,
} from '../tables.ts';
import { type Clause, conditionOf, type Filter, matches } from './filter.ts';

// The design's access patterns that list tasks, under its names. Each is one or more queries that are read one after
// the other; other conditions become a filter.

export type Reading = { store: Store; user_id: string; filter?: Filter; newestFirst?: boolean };
export type Listed = Summary & Partial<Task>;
export type PageReader = (page: { limit: number; cursor?: string }) => Promise<ResultPage<Listed>>;

// A page with a filter is read until it is full or its budget is used up. Its cursor is that of the last item returned.
const optionsOf = ({ user_id, filter = [], newestFirst }: Reading) => ({
  caller: user_id,
  newestFirst,
  budget: limits.listBudget,
  filter: conditionOf(filter),
});

// Attributes that an index does not copy are optional in its items; those of a summary are all there.
const readerOf =
  (read: (page: { limit: number; cursor?: string }) => Promise<ResultPage<Partial<Task>>>): PageReader =>
  page =>
    read(page) as Promise<ResultPage<Listed>>;

export const allTasksOf = (reading: Reading): PageReader[] => [
  readerOf(page =>
    reading.store.query(allTasks, { user_id: reading.user_id }, { ...optionsOf(reading), ...page }),
  ),
];

export const tasksGroupedByStatus = (reading: Reading): PageReader[] => [byStatus(reading)];
export const tasksWithStatus = (reading: Reading, status: Status): PageReader[] => [
  byStatus(reading, status),
];
export const completedTasks = (reading: Reading): PageReader[] => tasksWithStatus(reading, 'completed');

const byStatus = (reading: Reading, status?: Status): PageReader =>
  readerOf(page =>
    reading.store.query(
      tasksByStatus,
      { user_id: reading.user_id, status },
      { ...optionsOf(reading), ...page },
    ),
  );

type Days = { from?: string; to?: string };

export const tasksWithDueDate = (reading: Reading): PageReader[] => [byDueDate(reading, {})];
export const tasksDueOn = (reading: Reading, date: string): PageReader[] => [
  byDueDate(reading, { from: date, to: date }),
];
// Both days are included. Nothing if they are in the wrong order.
export const tasksDueBetween = (reading: Reading, days: Days): PageReader[] =>
  days.from !== undefined && days.to !== undefined && days.from > days.to ? [] : [byDueDate(reading, days)];

// Due before today, in the user's time zone, and neither completed nor cancelled.
export const overdueTasks = (reading: Reading, today: string): PageReader[] =>
  tasksDueBetween(
    { ...reading, filter: [...(reading.filter ?? []), { kind: 'open', not: false }] },
    { to: addDays(today, -1) },
  );

const byDueDate = (reading: Reading, { from, to }: Days): PageReader =>
  readerOf(page =>
    reading.store.query(
      tasksByDueDate,
      { user_id: reading.user_id },
      {
        ...optionsOf(reading),
        ...page,
        ...(from !== undefined && { from: { due_date: from } }),
        ...(to !== undefined && { to: { due_date: to } }),
      },
    ),
  );

// The most urgent first: one query for each rank, because that is not the alphabetical order.
export const tasksRanked = (reading: Reading): PageReader[] =>
  priorities.toReversed().map(priority => byPriority(reading, priority));
export const tasksWithPriority = (reading: Reading, priority: Priority): PageReader[] => [
  byPriority(reading, priority),
];

const byPriority = (reading: Reading, priority: Priority): PageReader =>
  readerOf(page =>
    reading.store.query(
      tasksByPriority,
      { user_id: reading.user_id, priority },
      { ...optionsOf(reading), ...page },
    ),
  );

export const tasksGroupedByCategory = (reading: Reading): PageReader[] => [byCategory(reading)];
export const tasksInCategory = (reading: Reading, category: string): PageReader[] => [
  byCategory(reading, category),
];

const byCategory = (reading: Reading, category?: string): PageReader =>
  readerOf(page =>
    reading.store.query(
      tasksByCategory,
      { user_id: reading.user_id, category },
      { ...optionsOf(reading), ...page },
    ),
  );

export const openTasks = (reading: Reading): PageReader[] =>
  openStatuses.flatMap(status => tasksWithStatus(reading, status));

// Tasks that an index lacks, because they have no value for its key.
export const tasksWithout = (
  reading: Reading,
  attribute: (Clause & { kind: 'present' })['attribute'],
): PageReader[] =>
  allTasksOf({ ...reading, filter: [...(reading.filter ?? []), { kind: 'present', attribute, not: true }] });

// In the user's own order. The index has keys only, so the tasks are read by key and filtered here.
export const tasksInOrder = (reading: Reading): PageReader[] => [
  async ({ limit, cursor: start }) => {
    const { store, user_id, filter = [], newestFirst } = reading;
    const keys = (page: { limit: number; cursor?: string }) =>
      store.query(tasksByPosition, { user_id }, { ...page, caller: user_id, newestFirst });
    const items: Task[] = [];
    let cursor = start;
    for (let read = 0; read < limits.listBudget; ) {
      const left = limit - items.length;
      const page = await keys({ limit: filter.length > 0 ? limits.orderChunk : left, cursor });
      const ids = page.items.map(item => item.task_id);
      const found = (await readTasks(store, user_id, ids)).filter(one => matches(one, filter));
      items.push(...found.slice(0, left));
      if (found.length > left) {
        // There are more than needed: the list continues after the last one returned.
        const given = ids.indexOf(items.at(-1)!.task_id) + 1;
        return { items, cursor: (await keys({ limit: given, cursor })).cursor };
      }
      cursor = page.cursor;
      read += ids.length;
      if (cursor === undefined || found.length === left) break;
    }
    return { items, cursor };
  },
];

export async function readTasks(
  store: Store,
  user_id: string,
  ids: readonly string[],
  consistent = false,
): Promise<Task[]> {
  const refs = ids.map(task_id => ref(task, { user_id, task_id }));
  if (refs.length === 0) return [];
  const found = await store.batchGet(refs, { consistent, pattern: 'tasks by id' });
  return found.filter(one => one !== undefined);
}
