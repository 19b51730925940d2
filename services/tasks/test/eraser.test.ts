import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
beforeEach(async () => {
  f = await openTasks();
});
afterEach(() => f.close());

const everything = async () => JSON.stringify((await f.client.scan({ TableName: 'todo-app-data' })).Items);

async function live(as: string) {
  await f.ok('PATCH', '/v1/tasks/me', { as, send: { email: `${as}@example.com`, retention_days: 5 } });
  await f.ok('PUT', '/v1/tasks/feed', { as });
  for (let i = 0; i < 12; i++)
    await f.create({ title: `${i}`, reminder: { at: '2026-06-01T00:00:00Z' } }, { as, key: `k${i}` });
  const { data } = await f.ok<{ data: { task_id: string }[] }>('GET', '/v1/tasks', { as });
  await f.ok('DELETE', `/v1/tasks/${data[0]!.task_id}`, { as });
  await f.ok('PATCH', `/v1/tasks/${data[1]!.task_id}`, { as, send: { status: 'completed' } });
  const items = [{ op: 'update', task_id: data[2]!.task_id, set: { title: 'One of many' } }];
  await f.ok('POST', '/v1/tasks/bulk', { as, send: { items }, key: 'bulk' });
}

describe('the eraser', () => {
  it('removes all data of an account, and none of others', async () => {
    await live('bob');
    const others = await everything();
    await live('ann');
    let calls = 1;
    while ((await f.tasks.eraser.eraseAccount('usr_ann')) === 'more') calls++;
    expect(calls).toBeGreaterThan(1);
    expect(await everything()).toBe(others);
    expect(await f.tasks.eraser.eraseAccount('usr_ann')).toBe('done');
    await f.create({ title: 'Back again' });
    expect(await f.ok('GET', '/v1/tasks/counts')).toMatchObject({ total: 1 });
  });

  it('finds the users of a tenant without reading others', async () => {
    await live('bob');
    const others = await everything();
    await live('endUser');
    const scans: unknown[] = [];
    const { scan } = f.client;
    f.client.scan = input => {
      scans.push(input);
      return scan(input);
    };
    while ((await f.tasks.eraser.eraseTenant('acme')) === 'more');
    f.client.scan = scan;
    expect(scans).toEqual([]);
    expect(await everything()).toBe(others);
  });

  it('erases one user of a tenant, after exporting them', async () => {
    await live('endUser');
    const kinds: string[] = [];
    for await (const { kind } of f.tasks.eraser.exportUser('acme', 'u#1')) kinds.push(kind);
    expect(kinds.filter(kind => kind === 'task')).toHaveLength(11);
    expect(new Set(kinds)).toEqual(new Set(['profile', 'task', 'trashed task', 'reminder']));
    while ((await f.tasks.eraser.eraseUser('acme', 'u#1')) === 'more');
    expect(await everything()).toBe('[]');
  });
});
