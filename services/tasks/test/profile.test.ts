import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tally, user } from '../src/tables.ts';
import { type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
beforeAll(async () => {
  f = await openTasks();
});
afterAll(() => f.close());

const set = (send: object, as = 'ann', etag?: string) => f.call('PATCH', '/v1/tasks/me', { send, as, etag });

describe('a profile', () => {
  it('exists for everybody, and is changed under its version', async () => {
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

  it('is the account’s until it is written, and stored with the first write of any kind', async () => {
    const known = { email: 'Cleo@Example.com', name: 'Cleo', createdAt: '2025-12-24T18:00:00.000Z' };
    const t = await openTasks({
      describeOwner: async ({ kind }) => (kind === 'account' ? known : undefined),
    });
    const me = () => t.ok<Record<string, unknown>>('GET', '/v1/tasks/me');
    const stored = () => t.store.get(user, { user_id: 'usr_ann' });
    const first = await me();
    expect(first).toEqual({
      email: 'cleo@example.com',
      name: 'Cleo',
      time_zone: 'UTC',
      created_at: Date.parse(known.createdAt) / 1000,
      updated_at: Date.parse(known.createdAt) / 1000,
      version: 0,
    });
    t.clock.set(t.clock.now() + 86_400_000);
    expect(await me()).toEqual(first);
    expect(await stored()).toBeUndefined(); // a GET writes nothing
    await t.ok('POST', '/v1/tasks', { send: { title: 'Milk' } });
    expect(await stored()).toMatchObject({ email: 'cleo@example.com', name: 'Cleo', version: 1 });
    expect(await me()).toEqual({ ...first, version: 1 });
    // Bob's account has the same address, which Ann's profile took first: his is stored without it.
    await t.ok('POST', '/v1/tasks', { as: 'bob', send: { title: 'Honey' } });
    expect(await t.ok('GET', '/v1/tasks/me', { as: 'bob' })).not.toHaveProperty('email');
    const renamed = { as: 'bob', send: { name: 'Bob' } };
    expect(await t.ok('PATCH', '/v1/tasks/me', renamed)).toMatchObject({ name: 'Bob', version: 2 });
    await t.close();
  });

  it('takes the account’s address with the first change, unless it is taken', async () => {
    const t = await openTasks({
      describeOwner: async () => ({ email: 'both@example.com', createdAt: '2025-12-24T18:00:00.000Z' }),
    });
    const change = (as: string, send: object) => t.call('PATCH', '/v1/tasks/me', { as, send });
    expect(await (await change('ann', { name: 'Ann' })).json()).toMatchObject({ email: 'both@example.com' });
    expect(await (await change('bob', { name: 'Bob' })).json()).not.toHaveProperty('email');
    expect((await change('bob', { email: 'both@example.com' })).status).toBe(409);
    await t.close();
  });

  it('of a user from before profiles were stored is stored with the next write', async () => {
    const t = await openTasks();
    await t.ok('POST', '/v1/tasks', { send: { title: 'Milk' } });
    await t.store.delete(user, { user_id: 'usr_ann' });
    await t.store.update(tally, { user_id: 'usr_ann' }, { remove: ['has_user'] });
    await t.ok('POST', '/v1/tasks', { send: { title: 'Honey' } });
    expect(await t.store.get(user, { user_id: 'usr_ann' })).toMatchObject({ version: 1 });
    await t.close();
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

  it('has a unique e-mail address, among accounts or within a tenant', async () => {
    expect((await set({ email: 'Ann@Example.com' })).status).toBe(200);
    const taken = await set({ email: 'ann@example.com' }, 'bob');
    expect([taken.status, ((await taken.json()) as { code: string }).code]).toEqual([
      409,
      'tasks.email_taken',
    ]);
    expect((await set({ email: 'ann@example.com' }, 'endUser')).status).toBe(200);
    expect((await set({ email: 'ann@example.com' })).status).toBe(200);
    expect((await set({ email: 'ann@new.example' })).status).toBe(200);
    expect((await set({ email: 'ann@example.com' }, 'bob')).status).toBe(200);
    const others = await Promise.all(['ann', 'bob'].map(as => set({ email: 'same@example.com' }, as)));
    expect(others.map(one => one.status).sort()).toEqual([200, 409]);
  });

  it('determines the day: a task is overdue when its user’s day is over', async () => {
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
