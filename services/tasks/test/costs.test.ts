import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteCompleted, setStatusOfMany } from '../src/edit/bulk.ts';
import { createTask, findReplay, type KeyedRequest } from '../src/edit/create.ts';
import { deleteTask } from '../src/edit/trash.ts';
import { getTask, updateTask } from '../src/edit/update.ts';
import { readQueries } from '../src/lists/list.ts';
import { createSearch, searchTasks } from '../src/lists/search.ts';
import { countByPriority, countByStatus } from '../src/lists/statistics.ts';
import * as patterns from '../src/queries/access-patterns.ts';
import type { NewTask } from '../src/schema.ts';
import { readChanges } from '../src/sync/changes.ts';
import { getUser, updateUser } from '../src/users/profile.ts';
import { type Fixture, openTasks } from './tasks-fixture.ts';

// What each access pattern of the document really costs, for a user with 40 tasks of about half a kilobyte, ten of each
// status and priority. The README's table says the same: if a number changes, this test fails until the table says so.

const user_id = 'usr_0mjuxvy9s00b8f0k3x1q2w4e';
const ann = { userId: user_id, accountId: user_id };
const text = 'It is not much, but it has to be done by somebody. '.repeat(4);
const statuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
const priorities = ['low', 'medium', 'high', 'urgent'] as const;
const request: KeyedRequest = { method: 'POST', route: '/v1/tasks', key: 'k', body: new Uint8Array([1]) };
const input = (i: number): NewTask => ({
  title: `Task number ${i}`,
  description: text,
  status: statuses[i % 4]!,
  priority: priorities[Math.floor(i / 4) % 4]!,
  category: ['work', 'home'][i % 2]!,
  due_date: `2026-01-${String(1 + (i % 20)).padStart(2, '0')}`,
});

let f: Fixture;
const ids: string[] = [];
beforeAll(async () => {
  f = await openTasks();
  await updateUser(f.writing, user_id, { email: 'ann@example.com', name: 'Ann' });
  for (let i = 0; i < 40; i++) ids.push((await createTask(f.writing, user_id, input(i))).task_id);
  await createTask(f.writing, user_id, { ...input(0), status: 'pending' }, { request });
  await f.clock.advance(9 * 24 * 60 * 60 * 1000);
});
afterAll(() => f.close());

const page = (queries: readonly patterns.PageReader[]) => readQueries(queries, 50);
const reading = () => ({ store: f.store, user_id });
const today = '2026-01-10';

const rows: [name: string, run: () => Promise<unknown>][] = [
  ['Fetch user by user_id', () => getUser(f.writing, user_id)],
  ['Fetch task by task_id', () => getTask(f.writing, user_id, ids[0]!)],
  ['Fetch all tasks for user', () => page(patterns.allTasksOf(reading()))],
  ['Fetch tasks by status', () => page(patterns.tasksGroupedByStatus(reading()))],
  ['Fetch tasks by specific status', () => page(patterns.tasksWithStatus(reading(), 'pending'))],
  ['Fetch tasks by due date', () => page(patterns.tasksWithDueDate(reading()))],
  ['Fetch tasks by specific due date', () => page(patterns.tasksDueOn(reading(), '2026-01-05'))],
  [
    'Fetch tasks by date range',
    () => page(patterns.tasksDueBetween(reading(), { from: '2026-01-05', to: '2026-01-09' })),
  ],
  ['Pagination: a page of 10', () => readQueries(patterns.tasksGroupedByStatus(reading()), 10)],
  ['Fetch tasks by priority', () => page(patterns.tasksRanked(reading()))],
  ['Fetch tasks by specific priority', () => page(patterns.tasksWithPriority(reading(), 'urgent'))],
  ['Fetch tasks by category', () => page(patterns.tasksGroupedByCategory(reading()))],
  ['Fetch tasks by specific category', () => page(patterns.tasksInCategory(reading(), 'work'))],
  ['Fetch completed tasks', () => page(patterns.completedTasks(reading()))],
  ['Fetch overdue tasks', () => page(patterns.overdueTasks(reading(), today))],
  ['Fetch all tasks with due dates', () => page(patterns.tasksWithDueDate(reading()))],
  ['Count by status', () => countByStatus(f.writing, user_id)],
  ['Count by priority', () => countByPriority(f.writing, user_id)],
  ['Search, index in memory', async () => searchTasks(search, ann, 'number 7', { limit: 10, start: 0 })],
  ['Changes since a token', () => readChanges(f.writing, user_id, token, 50)],
  ['Idempotency check', () => findReplay(f.writing, user_id, request)],
  ['Create task', () => createTask(f.writing, user_id, input(1))],
  [
    'Create task, keyed',
    () => createTask(f.writing, user_id, input(2), { request: { ...request, key: 'other' } }),
  ],
  ['Update: description only', () => updateTask(f.writing, user_id, ids[0]!, { description: 'Another' })],
  ['Update: title', () => updateTask(f.writing, user_id, ids[0]!, { title: 'Another title' })],
  ['Update: status', () => updateTask(f.writing, user_id, ids[0]!, { status: 'cancelled' })],
  [
    'Bulk update of status, 10 tasks',
    () => setStatusOfMany(f.writing, user_id, ids.slice(0, 10), 'completed'),
  ],
  ['Delete task (to the trash)', () => deleteTask(f.writing, user_id, ids[39]!)],
  ['Bulk delete of completed', () => deleteCompleted(f.writing, user_id)],
];

let search: Parameters<typeof searchTasks>[0];
let token: string;

describe('costs', () => {
  it('match the README', async () => {
    const index = createSearch(f.writing);
    await index.find(ann, 'number');
    search = { store: f.store, search: index };
    const first = await readChanges(f.writing, user_id, undefined, 100);
    token = first.token;
    await updateTask(f.writing, user_id, ids[5]!, { description: 'Changed' });
    await index.refresh(user_id);
    const measured: string[] = [];
    for (const [name, run] of rows) {
      f.ledger.clear();
      await run();
      const sum = (kind: 'readUnits' | 'writeUnits') =>
        f.ledger.entries().reduce((all, one) => all + one[kind], 0);
      measured.push(`| ${name} | ${sum('readUnits')} | ${sum('writeUnits')} |`);
    }
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const written = readme.split('\n').filter(line => rows.some(([name]) => line.startsWith(`| ${name} |`)));
    expect(written.map(line => line.split('|').slice(0, 4).join('|').concat('|'))).toEqual(measured);
  });
});
