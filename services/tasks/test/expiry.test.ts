import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WireTask } from '../src/index.ts';
import { eventually, type Fixture, openTasks, startConsumers } from './tasks-fixture.ts';

let f: Fixture;
let stop: (() => Promise<void>) | undefined;
beforeEach(async () => {
  f = await openTasks();
});
afterEach(async () => {
  await stop?.();
  stop = undefined;
  await f.close();
});

const day = 24 * 60 * 60 * 1000;
const counts = () => f.ok<{ total: number; by_status: Record<string, number> }>('GET', '/v1/tasks/counts');
const keep = (retention_days: number | null) => f.ok('PATCH', '/v1/tasks/me', { send: { retention_days } });
const complete = (task: WireTask) =>
  f.ok('PATCH', `/v1/tasks/${task.task_id}`, { send: { status: 'completed' } });
const stored = async () =>
  (
    await f.client.scan({
      TableName: 'todo-app-data',
      FilterExpression: 'begins_with(PK, :t)',
      ExpressionAttributeValues: { ':t': 'TASK#' },
    })
  ).Items!;

describe('completed tasks of a user with a retention', () => {
  it('disappear at their second, from every list and count, before and after DynamoDB removes them', async () => {
    await keep(7);
    const [done, open] = [
      await f.create({ title: 'Done', category: 'a' }),
      await f.create({ title: 'Open' }),
    ];
    const { ttl } = await complete(done);
    expect(ttl).toBe(1767225600 + 7 * 86400);
    const { token } = await f.ok<{ token: string }>('GET', '/v1/tasks/changes');

    await f.clock.advance(7 * day - 1000);
    expect(await counts()).toMatchObject({ total: 2, by_status: { completed: 1 } });
    await f.clock.advance(1000);
    expect(await stored()).toHaveLength(2);
    for (const round of ['before', 'after']) {
      expect(await counts(), round).toMatchObject({ total: 1, by_status: { completed: 0 }, by_category: [] });
      expect((await f.ok<{ data: WireTask[] }>('GET', '/v1/tasks')).data.map(one => one.title)).toEqual([
        'Open',
      ]);
      expect(await f.ok('GET', `/v1/tasks/changes?since=${token}`)).toMatchObject({
        changed: [],
        deleted: [{ task_id: done.task_id }],
      });
      await f.clock.advance(60_000);
      await f.engine.sweep();
    }
    expect((await stored()).map(one => one.task_id)).toEqual([open.task_id]);
  });

  it('leave their subtasks, which become top-level tasks', async () => {
    await keep(1);
    const parent = await f.create({ title: 'Done', status: 'completed' });
    const { task_id } = await f.create({ title: 'Still open', parent_id: parent.task_id });
    await f.clock.advance(30 * 60 * 60 * 1000);
    const idsOf = async (query: string) =>
      (await f.ok<{ data: WireTask[] }>('GET', `/v1/tasks?${query}`)).data.map(one => one.task_id);
    expect(await idsOf('sort=position')).toEqual([task_id]);
    expect(await idsOf('filter=is:subtask')).toEqual([]);
    expect(await idsOf('')).toEqual([task_id]);
  });

  it('stay if they are reopened', async () => {
    await keep(1);
    const task = await f.create({ title: 'Not yet', priority: 'high' });
    await complete(task);
    const reopened = await f.ok('PATCH', `/v1/tasks/${task.task_id}`, { send: { status: 'pending' } });
    expect(reopened).not.toHaveProperty('ttl');
    await f.clock.advance(3 * day);
    expect(await counts()).toMatchObject({ total: 1, by_status: { pending: 1 }, by_priority: { high: 1 } });
  });

  it('are subtracted from the counts with their last values', async () => {
    await keep(1);
    const task = await f.create({ title: 'x', category: 'a', priority: 'low' });
    await complete(task);
    await f.ok('PATCH', `/v1/tasks/${task.task_id}`, { send: { category: 'b', priority: 'high' } });
    await f.clock.advance(2 * day);
    expect(await counts()).toMatchObject({ total: 0, by_category: [], by_priority: { low: 0, high: 0 } });
  });

  it('may be many at once', async () => {
    await keep(1);
    const made = await Promise.all(Array.from({ length: 70 }, (_, i) => f.create({ title: `${i}` })));
    const items = made.map(({ task_id }) => ({ op: 'update', task_id, set: { status: 'completed' } }));
    await f.ok('POST', '/v1/tasks/bulk', { send: { items } });
    await f.clock.advance(2 * day);
    await f.create({ title: 'The next write counts them off' });
    expect(await counts()).toMatchObject({ total: 1, by_status: { completed: 0, pending: 1 } });
  });

  it('leave their relatives in place', async () => {
    await keep(1);
    const parent = await f.create({ title: 'Parent' });
    const children = [];
    for (const title of ['one', 'two']) children.push(await f.create({ title, parent_id: parent.task_id }));
    await complete(children[0]!);
    await f.clock.advance(2 * day);
    expect(
      (await f.ok<{ data: WireTask[] }>('GET', `/v1/tasks/${parent.task_id}/subtasks`)).data,
    ).toHaveLength(1);
    await counts();
    expect((await f.ok('GET', `/v1/tasks/${parent.task_id}`)).subtask_ids).toEqual([children[1]!.task_id]);

    await complete(parent);
    await f.clock.advance(2 * day);
    await counts();
    const orphan = await f.ok('GET', `/v1/tasks/${children[1]!.task_id}`);
    expect(orphan).not.toHaveProperty('parent_id');
    const ordered = await f.ok<{ data: WireTask[] }>('GET', '/v1/tasks?sort=position');
    expect(ordered.data.map(one => one.task_id)).toEqual([orphan.task_id]);
  });

  it('are subtracted in time if their days changed while a relative expired', async () => {
    await keep(1);
    const parent = await f.create({ title: 'Parent' });
    const child = await f.create({ title: 'Child', parent_id: parent.task_id });
    await complete(child);
    await keep(100);
    await complete(parent);
    await keep(3);
    // Removing the child from the counts writes the parent, which is kept for three days from then on.
    await f.clock.advance(2 * day);
    expect(await counts()).toMatchObject({ total: 1 });
    await f.clock.advance(2 * day);
    expect(await counts()).toMatchObject({ total: 0, by_status: { completed: 0 } });
  });

  it('may be many with many relatives, all of which get new days', async () => {
    await keep(10);
    const children = [];
    const parent = await f.create({ title: 'Parent' });
    for (let i = 0; i < 20; i++) children.push(await f.create({ title: 'x', parent_id: parent.task_id }));
    await complete(parent);
    for (let i = 0; i < 11; i++) {
      const { task_id: parent_id } = await f.create({ title: 'Later' });
      await complete(await f.create({ title: 'x', parent_id }));
      children.push({ task_id: parent_id } as WireTask);
    }
    await f.clock.advance(5 * day);
    for (const child of children) await complete(child);
    await keep(20);
    await f.clock.advance(5 * day);
    expect(await counts()).toMatchObject({ total: 31 });
    await f.clock.advance(16 * day);
    expect(await counts()).toMatchObject({ total: 0 });
  });

  it('follow a change of the retention', async () => {
    stop = startConsumers(f);
    const tasks = await Promise.all(Array.from({ length: 40 }, (_, i) => f.create({ title: `${i}` })));
    for (const task of tasks) await complete(task);
    await keep(10);
    const path = `/v1/tasks/${tasks[39]!.task_id}`;
    await eventually(async () => (await f.ok('GET', path)).ttl === 1767225600 + 10 * 86400);
    await keep(null);
    await eventually(async () => (await f.ok('GET', path)).ttl === undefined);
    await f.clock.advance(20 * day);
    expect(await counts()).toMatchObject({ total: 40 });
    await keep(5); // over for all of them already
    await eventually(async () => (await counts()).total === 0);
  });

  it('get new days when they are restored', async () => {
    await keep(10);
    const task = await f.create({ title: 'Old' });
    await complete(task);
    await f.ok('DELETE', `/v1/tasks/${task.task_id}`);
    await f.clock.advance(20 * day);
    const restored = await f.ok('POST', `/v1/tasks/trash/${task.task_id}/restore`);
    expect(restored.ttl).toBe(1767225600 + 30 * 86400);
    expect(await counts()).toMatchObject({ total: 1 });
    await f.clock.advance(10 * day);
    expect(await counts()).toMatchObject({ total: 0 });
  });
});

describe('a restored task', () => {
  const restoreLate = async () => {
    await keep(10);
    const task = await f.create({ title: 'Old' });
    await complete(task);
    await f.ok('DELETE', `/v1/tasks/${task.task_id}`);
    await f.clock.advance(20 * day);
    await f.ok('POST', `/v1/tasks/trash/${task.task_id}/restore`);
    return `/v1/tasks/${task.task_id}`;
  };
  const atDay = (days: number) => 1767225600 + days * 86400;

  it('keeps its days when the time zone changes', async () => {
    stop = startConsumers(f);
    const path = await restoreLate();
    const other = await f.create({
      title: 'x',
      due_date: '2026-03-01',
      reminder: { days_before: 0, time: '09:00' },
    });
    const before = other.remind_at;
    await f.ok('PATCH', '/v1/tasks/me', { send: { time_zone: 'Asia/Tokyo' } });
    await eventually(async () => (await f.ok('GET', `/v1/tasks/${other.task_id}`)).remind_at !== before);
    expect((await f.ok('GET', path)).ttl).toBe(atDay(30));
  });

  it('is kept for new days from when it was restored', async () => {
    stop = startConsumers(f);
    const path = await restoreLate();
    await keep(15);
    await eventually(async () => (await f.ok('GET', path)).ttl === atDay(35));
    await f.ok('PATCH', path, { send: { title: 'Edited' } });
    expect((await f.ok('GET', path)).ttl).toBe(atDay(35));
  });
});

describe('a task that has expired by a clock a second ahead', () => {
  let expired: WireTask;
  let token: string;
  beforeEach(async () => {
    await keep(1);
    expired = await f.create({ title: 'Done', priority: 'low' });
    await f.create({ title: 'Open' });
    await complete(expired);
    token = (await f.ok<{ token: string }>('GET', '/v1/tasks/changes')).token;
    await f.clock.advance(day - 1000);
    const ahead = await openTasks({ ...f, clock: { ...f.clock, now: () => f.clock.now() + 1000 } });
    expect(await ahead.ok('GET', '/v1/tasks/counts')).toMatchObject({ total: 1 });
  });

  it.each([
    ['reopened', 'PATCH', { status: 'pending' }],
    ['changed', 'PATCH', { priority: 'high' }],
    ['deleted', 'DELETE', undefined],
  ])('is subtracted once, and not %s by a process whose clock is behind', async (_, method, send) => {
    expect((await f.call(method, `/v1/tasks/${expired.task_id}`, { send })).status).toBe(404);
    for (const ms of [0, 2000]) {
      await f.clock.advance(ms);
      expect(await counts()).toMatchObject({ total: 1, by_priority: { low: 0, high: 0, none: 1 } });
    }
  });

  it('gets no new subtasks', async () => {
    const send = { title: 'Too late', parent_id: expired.task_id };
    expect((await f.call('POST', '/v1/tasks', { send })).status).toBe(409);
  });

  it('is reported as deleted by all processes', async () => {
    const gone = [{ task_id: expired.task_id }];
    const since = await f.ok('GET', `/v1/tasks/changes?since=${token}`);
    expect(since).toMatchObject({ changed: [], deleted: gone });
    expect(await f.ok('GET', '/v1/tasks/changes')).toMatchObject({ changed: [{ title: 'Open' }] });
  });
});

it('a task that is reopened while it is looked up is not missing', async () => {
  await keep(1);
  const task = await f.create({ title: 'Done' });
  await complete(task);
  let reads = 0;
  const slow = await openTasks({
    ...f,
    wrap: client => ({
      ...client,
      async batchGet(input) {
        // The first read found the task, the second one looks for its expiry.
        if (++reads === 2) await f.ok('PATCH', `/v1/tasks/${task.task_id}`, { send: { status: 'pending' } });
        return client.batchGet(input);
      },
    }),
  });
  const send = { priority: 'high' };
  expect(await slow.ok('PATCH', `/v1/tasks/${task.task_id}`, { send })).toMatchObject(send);
  expect(reads).toBeGreaterThan(1);
});

it('the trash is kept for 30 days', async () => {
  const { task_id } = await f.create({ title: 'x' });
  await f.ok('DELETE', `/v1/tasks/${task_id}`);
  await f.clock.advance(30 * day);
  expect((await f.ok<{ data: object[] }>('GET', '/v1/tasks/trash')).data).toEqual([]);
  expect((await f.call('POST', `/v1/tasks/trash/${task_id}/restore`)).status).toBe(404);
});
