import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
beforeAll(async () => {
  f = await openTasks();
});
afterAll(() => f.close());

const set = (send: object, as = 'ann', etag?: string) => f.call('PATCH', '/v1/tasks/me', { send, as, etag });

describe('a profile', () => {
  it('is there for everybody, and is changed under its version', async () => {
    const first = await f.call('GET', '/v1/tasks/me', { as: 'bob' });
    expect([first.headers.get('etag'), await first.json()]).toMatchObject(['"v0"', { time_zone: 'UTC' }]);
    const changed = await set(
      { time_zone: 'europe/berlin', retention_days: 30, name: ' Bob ' },
      'bob',
      '"v0"',
    );
    expect(await changed.json()).toMatchObject({
      time_zone: 'Europe/Berlin',
      retention_days: 30,
      name: 'Bob',
      version: 1,
    });
    expect((await set({ name: 'Rob' }, 'bob', '"v0"')).status).toBe(412);
    const cleared = await (await set({ retention_days: null }, 'bob', '"v1"')).json();
    expect(cleared).not.toHaveProperty('retention_days');
    expect(await f.ok('GET', '/v1/tasks/me', { as: 'bob' })).toEqual(cleared);
  });

  it.each([
    { time_zone: 'Mars/Olympus' },
    { time_zone: '+01:00' },
    { retention_days: 0 },
    { retention_days: 1.5 },
    { retention_days: 99_999 },
    { email: 'nobody' },
    { name: '' },
    { admin: true },
  ])('refuses %j', async send => {
    expect((await set(send)).status).toBe(400);
  });

  it('has an e-mail address that nobody else has, among accounts or within a tenant', async () => {
    expect((await set({ email: 'Ann@Example.com' })).status).toBe(200);
    const taken = await set({ email: 'ann@example.com' }, 'bob');
    expect([taken.status, ((await taken.json()) as { code: string }).code]).toEqual([
      409,
      'tasks.email_taken',
    ]);
    expect((await set({ email: 'ann@example.com' }, 'guest')).status).toBe(200);
    expect((await set({ email: 'ann@example.com' })).status).toBe(200);
    expect((await set({ email: 'ann@new.example' })).status).toBe(200);
    expect((await set({ email: 'ann@example.com' }, 'bob')).status).toBe(200);
    const others = await Promise.all(['ann', 'bob'].map(as => set({ email: 'same@example.com' }, as)));
    expect(others.map(one => one.status).sort()).toEqual([200, 409]);
  });

  it('says which day it is: a task is overdue when its user’s day is over', async () => {
    const task = await f.create({ title: 'x', due_date: '2025-12-31' });
    await f.create({ title: 'cancelled', due_date: '2025-12-30', status: 'cancelled' });
    await f.create({ title: 'completed', due_date: '2025-12-30', status: 'completed' });
    const overdue = async () => {
      const { data } = await f.ok<{ data: { task_id: string }[] }>('GET', '/v1/tasks?filter=is:overdue');
      const { overdue: count } = await f.ok<{ overdue: number }>('GET', '/v1/tasks/counts');
      expect(data).toHaveLength(count);
      return data.map(one => one.task_id);
    };
    expect(await overdue()).toEqual([task.task_id]);
    await set({ time_zone: 'America/New_York' });
    expect(await overdue()).toEqual([]);
    await f.clock.advance(5 * 60 * 60 * 1000);
    expect(await overdue()).toEqual([task.task_id]);
  });
});
