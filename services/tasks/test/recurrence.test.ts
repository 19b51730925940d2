import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WireTask } from '../src/index.ts';
import { type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
beforeEach(async () => {
  f = await openTasks();
});
afterEach(() => f.close());

const day = 24 * 60 * 60 * 1000;
type List = { data: WireTask[] };
const open = async () => (await f.ok<List>('GET', '/v1/tasks?filter=is:open&view=full')).data;
const complete = (task: WireTask) =>
  f.ok('PATCH', `/v1/tasks/${task.task_id}`, { send: { status: 'completed' } });

describe('a recurring task', () => {
  it('creates the next one in the transaction that completes it, without its history', async () => {
    const input = { title: 'Water', description: 'Well', category: 'home', labels: ['a'], priority: 'high' };
    const reminder = { days_before: 1, time: '09:00' };
    const due = { due_date: '2026-01-05', recurrence: 'FREQ=WEEKLY;BYDAY=MO,TH', reminder };
    const first = await f.create({ ...input, ...due });
    f.ledger.clear();
    const done = await complete(first);
    expect(f.ledger.entries().find(one => one.pattern === 'update task')?.calls).toBe(1);
    expect(done).not.toHaveProperty('recurrence');
    const [next, ...more] = await open();
    expect(more).toEqual([]);
    expect(next).toMatchObject({ ...input, reminder, due_date: '2026-01-08', status: 'pending', version: 1 });
    expect(next).toMatchObject({ recurrence: 'FREQ=WEEKLY;BYDAY=MO,TH', series_id: first.task_id });
    expect(next!.position).toBe(first.position);
    expect(await f.ok('GET', '/v1/tasks/counts')).toMatchObject({
      total: 2,
      by_status: { completed: 1, pending: 1 },
    });
  });

  it('finds the next date at once, however far it was moved from the start of its series', async () => {
    const first = await f.create({ title: 'x', due_date: '1970-01-01', recurrence: 'FREQ=DAILY' });
    await f.ok('PATCH', `/v1/tasks/${first.task_id}`, { send: { due_date: '9000-12-01' } });
    const before = process.cpuUsage();
    await complete(first);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000); // microseconds; half a minute by walking there
    expect(await open()).toMatchObject([{ due_date: '9000-12-02' }]);
  });

  it('does not recur twice when it is reopened and completed again', async () => {
    const first = await f.create({ title: 'x', due_date: '2026-01-05', recurrence: 'FREQ=DAILY' });
    await complete(first);
    await f.ok('PATCH', `/v1/tasks/${first.task_id}`, { send: { status: 'pending' } });
    await complete(first);
    expect(await open()).toHaveLength(1);
    expect(
      await f.ok('PATCH', `/v1/tasks/${first.task_id}`, { send: { status: 'completed' } }),
    ).toBeDefined();
    expect(await open()).toHaveLength(1);
  });

  it('continues when its rule is sent again, in any case', async () => {
    const recurrence = 'rrule:freq=daily;count=2;';
    const first = await f.create({ title: 'x', due_date: '2026-01-05', recurrence });
    await complete(first);
    const [second] = await open();
    const path = `/v1/tasks/${second!.task_id}`;
    const sent = await f.ok('PATCH', path, { send: { recurrence, title: 'y' } });
    expect(sent).toMatchObject({ recurrence: 'FREQ=DAILY;COUNT=2', series_start: '2026-01-05', title: 'y' });
    await complete(second!);
    expect(await open(), 'two are two').toEqual([]);
  });

  it('skips missed dates, and uses the user’s day', async () => {
    await f.ok('PATCH', '/v1/tasks/me', { send: { time_zone: 'America/Los_Angeles' } });
    await f.create({ title: 'x', due_date: '2025-12-01', recurrence: 'FREQ=DAILY' });
    // In Los Angeles it is still the last evening of the year.
    await complete((await open())[0]!);
    expect((await open())[0]).toMatchObject({ due_date: '2026-01-01' });
    await f.clock.advance(9 * 60 * 60 * 1000);
    await complete((await open())[0]!);
    expect((await open())[0]).toMatchObject({ due_date: '2026-01-02' });
    await complete((await open())[0]!); // ahead of time
    expect((await open())[0]).toMatchObject({ due_date: '2026-01-03' });
  });

  it('ends with its rule', async () => {
    await f.create({ title: 'x', due_date: '2026-02-01', recurrence: 'FREQ=DAILY;COUNT=3' });
    const dates: string[] = [];
    for (let [task] = await open(); task; [task] = await open()) {
      dates.push(task.due_date!);
      await complete(task);
    }
    expect(dates).toEqual(['2026-02-01', '2026-02-02', '2026-02-03']);
  });

  it('starts a new series with a new rule', async () => {
    const task = await f.create({ title: 'x', due_date: '2026-02-01', recurrence: 'FREQ=DAILY;INTERVAL=3' });
    const patch = { due_date: '2026-02-10', recurrence: 'FREQ=DAILY;INTERVAL=2' };
    await f.ok('PATCH', `/v1/tasks/${task.task_id}`, { send: patch });
    await complete(task);
    expect((await open())[0]).toMatchObject({ due_date: '2026-02-12', series_start: '2026-02-10' });
    const without = { send: { due_date: null } };
    expect((await f.call('PATCH', `/v1/tasks/${(await open())[0]!.task_id}`, without)).status).toBe(400);
  });

  it('recreates its subtasks', async () => {
    const parent = await f.create({ title: 'Pack', due_date: '2026-01-10', recurrence: 'FREQ=WEEKLY' });
    for (const [title, due_date] of [
      ['socks', '2026-01-09'],
      ['book', undefined],
    ] as const)
      await f.create({ title, due_date, parent_id: parent.task_id });
    const [socks] = (await f.ok<List>('GET', `/v1/tasks/${parent.task_id}/subtasks`)).data;
    await complete(socks!);
    await complete(parent);
    const next = (await open()).find(one => one.title === 'Pack')!;
    const subtasks = (await f.ok<List>('GET', `/v1/tasks/${next.task_id}/subtasks`)).data;
    expect(subtasks).toMatchObject([
      { title: 'socks', status: 'pending', due_date: '2026-01-16', parent_id: next.task_id },
      { title: 'book', status: 'pending', parent_id: next.task_id },
    ]);
    expect((await f.ok<List>('GET', `/v1/tasks/${parent.task_id}/subtasks`)).data).toHaveLength(2);
  });

  it('continues when its subtasks reach the last possible date', async () => {
    const parent = await f.create({ title: 'Far', due_date: '8999-01-01', recurrence: 'FREQ=YEARLY' });
    await f.create({ title: 'Further', due_date: '9000-12-31', parent_id: parent.task_id });
    await complete(parent);
    const next = (await open()).find(one => one.due_date === '9000-01-01')!;
    const subtasks = (await f.ok<List>('GET', `/v1/tasks/${next.task_id}/subtasks`)).data;
    expect(subtasks).toMatchObject([{ title: 'Further', due_date: '9000-12-31' }]);
  });

  it('passes on its position under its parent', async () => {
    const parent = await f.create({ title: 'Parent' });
    const child = await f.create({
      title: 'c',
      parent_id: parent.task_id,
      due_date: '2026-01-02',
      recurrence: 'FREQ=DAILY',
    });
    await f.create({ title: 'd', parent_id: parent.task_id });
    const done = await complete(child);
    expect(done).not.toHaveProperty('parent_id');
    const subtasks = (await f.ok<List>('GET', `/v1/tasks/${parent.task_id}/subtasks`)).data;
    expect(subtasks).toMatchObject([{ title: 'c', due_date: '2026-01-03' }, { title: 'd' }]);
    await f.clock.advance(day);
  });
});
