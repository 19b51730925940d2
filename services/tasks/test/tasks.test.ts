import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTask } from '../src/edit/create.ts';
import { getTask } from '../src/edit/update.ts';
import { userIdOf, type WireTask } from '../src/index.ts';
import { type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
beforeAll(async () => {
  f = await openTasks();
});
afterAll(() => f.close());

type List = { data: WireTask[]; next_cursor: string | null };
const list = (query: string, as = 'ann') => f.ok<List>('GET', `/v1/tasks?${query}`, { as });

describe('a task', () => {
  it('is created, read, changed and deleted', async () => {
    const input = {
      title: ' Buy milk ',
      priority: 'high',
      category: 'home',
      due_date: '2026-03-01',
      labels: ['a'],
    };
    const made = await f.call('POST', '/v1/tasks', { send: input });
    expect(made.status).toBe(201);
    const task = (await made.json()) as WireTask;
    const expected = {
      title: 'Buy milk',
      status: 'pending',
      priority: 'high',
      completed_at: null,
      version: 1,
    };
    expect(task).toMatchObject({ ...expected, created_at: 1767225600, labels: ['a'] });
    expect(task).not.toHaveProperty('user_id');
    const path = `/v1/tasks/${task.task_id}`;
    expect(made.headers.get('location')).toBe(path);
    expect(made.headers.get('etag')).toBe('"v1"');

    const read = await f.call('GET', path);
    expect(read.headers.get('etag')).toBe('"v1"');
    expect(await read.json()).toEqual(task);
    const again = await f.call('GET', path, { headers: { 'If-None-Match': '"v1"' } });
    expect(again.status).toBe(304);

    const patch = { status: 'completed', category: null, priority: 'low' };
    const changed = await f.call('PATCH', path, { send: patch, etag: '"v1"' });
    expect(changed.headers.get('etag')).toBe('"v2"');
    const after = await changed.json();
    expect(after).toMatchObject({
      status: 'completed',
      priority: 'low',
      completed_at: 1767225600,
      version: 2,
    });
    expect(after).not.toHaveProperty('category');

    for (const [method, send] of [
      ['PATCH', { title: 'x' }],
      ['DELETE', undefined],
    ] as const)
      expect((await f.call(method, path, { send, etag: '"v1"' })).status).toBe(412);
    expect((await f.call('DELETE', path, { etag: '"v2"' })).status).toBe(204);
    expect((await f.call('GET', path)).status).toBe(404);
  });

  it('keeps its version when nothing changes', async () => {
    const { task_id } = await f.create({ title: 'Same' });
    expect(await f.ok('PATCH', `/v1/tasks/${task_id}`, { send: { title: 'Same' } })).toMatchObject({
      version: 1,
    });
    expect(await f.ok('PATCH', `/v1/tasks/${task_id}`, { send: {} })).toMatchObject({ version: 1 });
  });

  it('is restored from the trash unchanged, within 30 days', async () => {
    const made = await f.create({ title: 'Twice', category: 'trash', due_date: '2026-05-05' });
    const path = `/v1/tasks/trash/${made.task_id}`;
    await f.ok('DELETE', `/v1/tasks/${made.task_id}`);
    const trash = await f.ok<List>('GET', '/v1/tasks/trash');
    expect(trash.data.find(one => one.task_id === made.task_id)).toMatchObject({
      title: 'Twice',
      deleted_at: 1767225600,
    });
    expect((await list('filter=category:trash')).data).toEqual([]);

    expect((await f.call('POST', `${path}/restore`, { etag: '"v9"' })).status).toBe(412);
    const restored = await f.ok('POST', `${path}/restore`);
    expect(restored).toEqual({ ...made, version: 2 });
    expect((await list('filter=category:trash')).data).toHaveLength(1);
    expect((await f.call('POST', `${path}/restore`)).status).toBe(404);

    await f.ok('DELETE', `/v1/tasks/${made.task_id}`);
    await f.ok('DELETE', path);
    expect((await f.call('POST', `${path}/restore`)).status).toBe(404);
  });

  it('is listed as a summary, or in full on request', async () => {
    const made = await f.create({ title: 'Long', description: 'A long story', category: 'views' });
    const [summary] = (await list('filter=category:views')).data;
    const { description: _, version: __, updated_at: ___, position: ____, ...rest } = made;
    expect(summary).toEqual(rest);
    expect((await list('filter=category:views&view=full')).data).toEqual([made]);
    const all = await list('limit=100');
    expect(all.data.find(one => one.task_id === made.task_id)).toEqual(rest);
  });

  it('pages in both directions, in rank order', async () => {
    for (const priority of ['low', 'urgent', 'medium', 'high', 'urgent', 'low', undefined])
      await f.create({ title: `${priority}`, priority }, { as: 'bob' });
    const titles = async (query: string) => {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await list(`${query}&limit=2${cursor}`, 'bob');
        found.push(...page.data.map(one => one.title));
        if (page.next_cursor === null) return found.join(' ');
        cursor = `&cursor=${page.next_cursor}`;
      }
    };
    expect(await titles('sort=priority')).toBe('urgent urgent high medium low low undefined');
    expect(await titles('sort=priority&order=desc')).toBe('low low medium high urgent urgent undefined');
    expect(await titles('filter=priority>%3Dhigh')).toBe('urgent urgent high');
  });

  it('is listed by category in the same order, for all categories or some', async () => {
    for (const category of ['work', '🏠', 'Ärger'])
      await f.create({ title: category, category }, { as: 'endUser' });
    const sorted = async (query: string) =>
      (await list(`sort=category&${query}`, 'endUser')).data.map(one => one.title);
    const some = `filter=${encodeURIComponent('category:work,Ärger,🏠')}`;
    expect(await sorted(some)).toEqual(await sorted(''));
    expect(await sorted(`${some}&order=desc`)).toEqual((await sorted('')).toReversed());
  });

  it('counts', async () => {
    const counts = await f.ok('GET', '/v1/tasks/counts', { as: 'bob' });
    expect(counts).toMatchObject({ total: 7, by_priority: { low: 2, urgent: 2, none: 1 }, overdue: 0 });
    expect(await f.tasks.taskStatistics('usr_bob')).toEqual({ done: 0, left: 7, blocked: 0, overdue: 0 });
  });
});

it('is stored for a user with the longest possible id', async () => {
  const user_id = userIdOf({ kind: 'endUser', tenantId: 'acme', userId: 'x'.repeat(995) });
  const { task_id } = await createTask(f.writing, user_id, { title: 'x', status: 'pending' });
  expect(await getTask(f.writing, user_id, task_id)).toMatchObject({ user_id });
});

it('is refused at once if the table refuses it, not retried as a conflict', async () => {
  let attempts = 0;
  const refused = Object.assign(new Error('refused'), {
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'ValidationError', Message: 'Item size has exceeded the maximum' }],
  });
  const transactWrite = async () => {
    attempts += 1;
    throw refused;
  };
  const strict = await openTasks({ ...f, wrap: client => ({ ...client, transactWrite }) });
  const response = await strict.call('POST', '/v1/tasks', { send: { title: 'x' } });
  expect([response.ok, attempts]).toEqual([false, 1]);
});

describe('bulk operations', () => {
  it('have a result for each item, and refuse only invalid ones', async () => {
    const [a, b, c] = await Promise.all(
      ['a', 'b', 'c'].map(title => f.create({ title, due_date: '2026-01-05' })),
    );
    const missing = 'tsk_000000000000000000000000';
    await f.ok('DELETE', `/v1/tasks/${c!.task_id}`);
    const items = [
      { op: 'update', task_id: a!.task_id, set: { status: 'completed' }, if_match: '"v1"' },
      { op: 'update', task_id: b!.task_id, set: { status: 'completed' }, if_match: '"v7"' },
      { op: 'update', task_id: b!.task_id, set: { due_date: null, recurrence: 'FREQ=DAILY' } },
      { op: 'update', task_id: a!.task_id, set: { title: 'A' }, if_match: '*' },
      { op: 'delete', task_id: missing },
      { op: 'restore', task_id: c!.task_id },
      { op: 'delete', task_id: a!.task_id },
      { op: 'restore', task_id: a!.task_id },
    ];
    const { results } = await f.ok<{ results: Record<string, unknown>[] }>('POST', '/v1/tasks/bulk', {
      send: { items },
    });
    const shown = results.map(
      result => result.code ?? (result.task as WireTask | undefined)?.version ?? 'deleted',
    );
    const refused = ['http.version_mismatch', 'tasks.recurrence_refused'];
    expect(shown).toEqual([2, ...refused, 3, 'tasks.task_not_found', 2, 'deleted', 4]);
    expect(await f.ok('GET', `/v1/tasks/${b!.task_id}`)).toEqual(b);
  });

  it('write a hundred tasks in a few transactions', async () => {
    const made = await Promise.all(
      Array.from({ length: 100 }, (_, i) => f.create({ title: `${i}`, category: 'bulk' })),
    );
    f.ledger.clear();
    const items = made.map(one => ({ op: 'update', task_id: one.task_id, set: { status: 'completed' } }));
    const { results } = await f.ok<{ results: { ok: boolean }[] }>('POST', '/v1/tasks/bulk', {
      send: { items },
    });
    expect(results.every(result => result.ok)).toBe(true);
    expect(f.ledger.entries().find(one => one.pattern === 'bulk')?.calls).toBe(2);
    const counts = await f.ok<{ by_status: Record<string, number> }>('GET', '/v1/tasks/counts');
    const deleted: object[] = [];
    for (let more = true; more; ) {
      const answer = await f.ok<{ deleted: object[]; has_more: boolean }>(
        'POST',
        '/v1/tasks/completed/clear',
      );
      deleted.push(...answer.deleted);
      more = answer.has_more;
    }
    expect(deleted).toHaveLength(counts.by_status.completed!);
    expect(await f.ok('GET', '/v1/tasks/counts')).toMatchObject({ by_status: { completed: 0 } });
  });

  it('list every task that is cleared, including those removed with their parent', async () => {
    const parent = await f.create({ title: 'Parent' });
    const [done, open] = [
      await f.create({ title: 'Done', parent_id: parent.task_id }),
      await f.create({ title: 'Open', parent_id: parent.task_id }),
    ];
    for (const one of [parent, done])
      await f.ok('PATCH', `/v1/tasks/${one.task_id}`, { send: { status: 'completed' } });
    const answer = await f.ok<{ deleted: WireTask[] }>('POST', '/v1/tasks/completed/clear');
    const ids = [parent, done, open].map(one => one.task_id);
    expect(answer.deleted.map(one => one.task_id).toSorted()).toEqual(ids);
  });
});

describe("tasks of a tenant's user", () => {
  const path = '/v1/tenants/acme/users/u%231/tasks';
  type Listed = { data: { title: string }[]; next_cursor: string | null };

  it('are listed for the tenant’s account, filtered and in pages', async () => {
    for (const [title, priority] of [
      ['Guest one', 'high'],
      ['Guest two', 'low'],
      ['Guest three', 'high'],
    ])
      await f.ok('POST', '/v1/tasks', {
        as: 'endUser',
        send: { title, priority, category: 'of an end user' },
      });
    const query = 'filter=category:"of an end user" priority:high&limit=1';
    const first = await f.ok<Listed>('GET', `${path}?${query}`);
    expect(first.data.map(one => one.title)).toEqual(['Guest one']);
    const rest = await f.ok<Listed>('GET', `${path}?${query}&cursor=${first.next_cursor}`, { as: 'reader' });
    expect(rest.data.map(one => one.title)).toEqual(['Guest three']);
    const theirs = await f.ok<Listed>('GET', '/v1/tasks?limit=100', { as: 'endUser' });
    expect(await f.ok('GET', `${path}?limit=100`)).toEqual(theirs);
  });

  it('include no tasks of others', async () => {
    for (const [as, url] of [
      ['bob', path],
      ['endUser', path],
      ['ann', '/v1/tenants/closed/users/u1/tasks'],
    ] as const)
      expect([as, (await f.call('GET', url, { as })).status]).toEqual([as, 403]);
    expect((await f.ok<Listed>('GET', '/v1/tenants/acme/users/nobody/tasks')).data).toEqual([]);
  });
});
