import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
beforeAll(async () => {
  f = await openTasks();
});
afterAll(() => f.close());

type Problem = { code: string; errors?: { pointer: string }[] };
const problem = async (response: Response) => (await response.json()) as Problem;

describe('bad input', () => {
  it.each([
    ['no title', {}, '#/title'],
    ['an empty title', { title: '   ' }, '#/title'],
    ['a long title', { title: 'x'.repeat(501) }, '#/title'],
    ['a title of two lines', { title: 'a\nb' }, '#/title'],
    ['half a character', { title: '\ud83d' }, '#/title'],
    ['an unknown status', { title: 'x', status: 'done' }, '#/status'],
    ['an unknown priority', { title: 'x', priority: 'highest' }, '#/priority'],
    ['the 30th of February', { title: 'x', due_date: '2026-02-30' }, '#/due_date'],
    ['a leap day without a leap year', { title: 'x', due_date: '2025-02-29' }, '#/due_date'],
    ['a moment instead of a date', { title: 'x', due_date: '2026-01-01T00:00:00Z' }, '#/due_date'],
    ['a date before time began', { title: 'x', due_date: '0001-01-01' }, '#/due_date'],
    ['a date after it has ended', { title: 'x', due_date: '9999-12-31' }, '#/due_date'],
    ['a long description', { title: 'x', description: 'x'.repeat(10_001) }, '#/description'],
    ['an empty category', { title: 'x', category: '' }, '#/category'],
    ['a control character', { title: 'x', category: 'a\u0000b' }, '#/category'],
    ['too many labels', { title: 'x', labels: Array.from({ length: 21 }, (_, i) => `${i}`) }, '#/labels'],
    ['a category that is longer than it looks', { title: 'x', category: '\u0958'.repeat(64) }, '#/category'],
    ['a label twice', { title: 'x', labels: ['caf\u00e9', 'cafe\u0301'] }, '#/labels'],
    ['an unknown field', { title: 'x', stauts: 'pending' }, '#/stauts'],
    ['a version', { title: 'x', version: 7 }, '#/version'],
    ['an owner', { title: 'x', user_id: 'usr_bob' }, '#/user_id'],
    [
      'a time that is none',
      { title: 'x', due_date: '2026-01-01', reminder: { days_before: 1, time: '25:00' } },
      '#/reminder/time',
    ],
  ])('%s is refused by name', async (_, send, pointer) => {
    const response = await f.call('POST', '/v1/tasks', { send });
    expect(response.status).toBe(400);
    const { code, errors } = await problem(response);
    expect(code).toBe('http.request_invalid');
    expect(errors?.map(error => error.pointer)).toContain(pointer);
  });

  it('overlong names of accents are refused before they are normalised, which would take seconds', async () => {
    const normalize = vi.spyOn(String.prototype, 'normalize');
    onTestFinished(() => normalize.mockRestore());
    const accents = '\u0301\u0316'.repeat(30_000);
    for (const send of [
      { title: 'x', category: `a${accents}` },
      { title: 'x', labels: [accents] },
    ])
      expect((await f.call('POST', '/v1/tasks', { send })).status).toBe(400);
    expect(normalize).not.toHaveBeenCalled();
    const { labels } = await f.create({ title: 'x', labels: ['u\u0308\u0301'.repeat(64)] });
    expect(labels).toEqual(['\u01d8'.repeat(64)]);
  });

  it.each([
    ['a rule without a due date', { title: 'x', recurrence: 'FREQ=DAILY' }, 400, 'tasks.recurrence_refused'],
    [
      'a rule that is none',
      { title: 'x', due_date: '2026-01-01', recurrence: 'daily' },
      400,
      'tasks.recurrence_refused',
    ],
    [
      'a reminder without a due date',
      { title: 'x', reminder: { days_before: 1, time: '09:00' } },
      400,
      'tasks.reminder_refused',
    ],
    [
      'a parent that is not there',
      { title: 'x', parent_id: 'tsk_000000000000000000000000' },
      409,
      'tasks.parent_refused',
    ],
  ])('%s is refused', async (_, send, status, code) => {
    const response = await f.call('POST', '/v1/tasks', { send });
    expect([response.status, (await problem(response)).code]).toEqual([status, code]);
  });

  it('a megabyte of description is refused before it is read', async () => {
    const response = await f.call('POST', '/v1/tasks', {
      send: { title: 'x', description: 'x'.repeat(1_000_000) },
    });
    expect(response.status).toBe(413);
  });

  it('categories may be any text, and are independent', async () => {
    const names = [
      'work',
      'work#x',
      'work%23x',
      '#',
      '🏠',
      'CATEGORY#work',
      '*',
      '名前'.repeat(32),
      '__proto__',
      'Ä',
    ];
    for (const category of names) await f.create({ title: category.slice(0, 9), category });
    for (const category of names) {
      const filter = encodeURIComponent(`category:"${category}"`);
      const { data } = await f.ok<{ data: { category: string }[] }>('GET', `/v1/tasks?filter=${filter}`);
      expect(data.map(one => one.category)).toEqual([category]);
    }
    const { by_category } = await f.ok<{ by_category: { category: string; tasks: number }[] }>(
      'GET',
      '/v1/tasks/counts',
    );
    expect(by_category.map(one => one.category).sort()).toEqual(names.toSorted());
  });

  it('categories beyond the tally’s limit are refused, and the first ones stay', async () => {
    for (let i = 0; i < 100; i++) await f.create({ title: 'x', category: `c${i}` }, { as: 'bob' });
    const response = await f.call('POST', '/v1/tasks', {
      as: 'bob',
      send: { title: 'x', category: 'one more' },
    });
    expect([response.status, (await problem(response)).code]).toEqual([409, 'tasks.limit_reached']);
    const { task_id } = await f.create({ title: 'x', category: 'c7' }, { as: 'bob' });
    const items = ['one more', 'c8'].map(category => ({ op: 'update', task_id, set: { category } }));
    const { results } = await f.ok<{ results: { ok: boolean }[] }>('POST', '/v1/tasks/bulk', {
      as: 'bob',
      send: { items },
    });
    expect(results.map(result => result.ok)).toEqual([false, true]);
  });

  it('filters with the maximum of values are answered, by no more queries than values', async () => {
    const values = Array.from({ length: 49 }, (_, i) => `v${i}`).join(',');
    for (const query of [
      `filter=label:${values}`,
      `filter=-label:${values}`,
      `filter=category:${values}`,
      `sort=due_date&filter=category:${values}`,
    ]) {
      f.ledger.clear();
      expect((await f.call('GET', `/v1/tasks?${query} is:open`)).status).toBe(200);
      expect(f.ledger.entries().reduce((sum, { calls }) => sum + calls, 0)).toBeLessThanOrEqual(50);
    }
  });

  it.each([
    ['/v1/tasks?filter=status:done', 'tasks.filter_refused'],
    ['/v1/tasks?sort=category&filter=due:2026-02-02..2026-01-01', 'tasks.filter_refused'],
    ['/v1/tasks?sort=title', 'http.request_invalid'],
    ['/v1/tasks?status=pending', 'http.request_invalid'],
    ['/v1/tasks?limit=101', 'http.request_invalid'],
    ['/v1/tasks?cursor=nonsense', 'http.cursor_refused'],
    ['/v1/tasks/search?q=', 'http.request_invalid'],
    ['/v1/tasks/search', 'http.request_invalid'],
    ['/v1/tasks/changes?since=yesterday', 'http.request_invalid'],
    ['/v1/tasks/changes?since=none.0.nonsense', 'http.request_invalid'],
    ['/v1/tasks/export?format=xml', 'http.request_invalid'],
    ['/v1/tasks/tsk%231', 'http.request_invalid'],
  ])('%s is a clear problem', async (path, code) => {
    const response = await f.call('GET', path);
    expect([response.status, (await problem(response)).code]).toEqual([400, code]);
  });
});

describe("another user's", () => {
  it('task, trash and cursor count as missing', async () => {
    const { task_id } = await f.create({ title: 'Mine' });
    for (const [method, path, send] of [
      ['GET', `/v1/tasks/${task_id}`, undefined],
      ['PATCH', `/v1/tasks/${task_id}`, { title: 'Yours' }],
      ['DELETE', `/v1/tasks/${task_id}`, undefined],
      ['PUT', `/v1/tasks/${task_id}/position`, { to: 'top' }],
      ['GET', `/v1/tasks/${task_id}/subtasks`, undefined],
      ['POST', `/v1/tasks/trash/${task_id}/restore`, undefined],
    ] as const) {
      const response = await f.call(method, path, { as: 'bob', send });
      expect([response.status, (await problem(response)).code]).toEqual([404, 'tasks.task_not_found']);
    }
    const parented = await f.call('POST', '/v1/tasks', {
      as: 'bob',
      send: { title: 'x', parent_id: task_id },
    });
    expect((await problem(parented)).code).toBe('tasks.parent_refused');

    for (const path of [
      '/v1/tasks?limit=1',
      '/v1/tasks?limit=1&sort=position',
      '/v1/tasks/search?limit=1&q=x',
    ]) {
      await f.create({ title: 'x' });
      await f.create({ title: 'x' });
      const { next_cursor } = await f.ok<{ next_cursor: string }>('GET', path);
      expect(next_cursor).toEqual(expect.any(String));
      const stolen = await f.call('GET', `${path}&cursor=${next_cursor}`, { as: 'bob' });
      expect((await problem(stolen)).code).toBe('http.cursor_refused');
      const bent = await f.call('GET', `${path.replace('q=x', 'q=y')}&order=desc&cursor=${next_cursor}`);
      expect(bent.status).toBe(400);
      expect((await f.call('GET', `${path}&cursor=${next_cursor}`)).status).toBe(200);
    }
  });

  it("position, or a position in another list of one's own, is refused", async () => {
    for (let i = 0; i < 3; i++)
      await f.create({ title: 'x', priority: i < 2 ? 'urgent' : 'high', category: 'c' });
    const cursorOf = async (path: string) => (await f.ok<{ next_cursor: string }>('GET', path)).next_cursor;
    const refused = async (path: string, cursor: string, as = 'ann') => {
      const response = await f.call('GET', `${path}&cursor=${cursor}`, { as });
      expect([response.status, (await problem(response)).code]).toEqual([400, 'http.cursor_refused']);
    };
    const ranked = '/v1/tasks?sort=priority';
    // Within the first of its queries, and at the start of the second.
    for (const limit of [1, 2]) {
      const path = `${ranked}&limit=${limit}`;
      const cursor = await cursorOf(path);
      expect((await f.call('GET', `${path}&cursor=${cursor}`)).status).toBe(200);
      await refused(path, cursor, 'bob');
      await refused(`${path}&order=desc`, cursor);
      await refused(`/v1/tasks?limit=${limit}&filter=category:c`, cursor);
      await refused(path, `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`);
    }
    const within = (await cursorOf(`${ranked}&limit=1`)).split('.')[1];
    for (const leg of ['1', '4', '5', '999', '-1', '1e0', ''])
      await refused(`${ranked}&limit=1`, `${leg}.${within}`);

    const { task_id } = await f.create({ title: 'x' });
    await f.create({ title: 'y' });
    await f.ok('POST', '/v1/tasks/bulk', {
      send: { items: [{ op: 'delete', task_id }] },
    });
    await f.ok('DELETE', `/v1/tasks/${(await f.create({ title: 'z' })).task_id}`);
    const trash = '/v1/tasks/trash?limit=1';
    const cursor = await cursorOf(trash);
    expect((await f.call('GET', `${trash}&cursor=${cursor}`)).status).toBe(200);
    await refused(trash, cursor, 'bob');
    await refused(trash, 'nonsense');
  });

  it('token is refused', async () => {
    const { token } = await f.ok<{ token: string }>('GET', '/v1/tasks/changes?limit=1');
    const whole = await f.call('GET', `/v1/tasks/changes?since=${token}`, { as: 'bob' });
    expect(whole.status).toBe(400);
    const [epoch, seq] = token.split('.');
    const foreign = await f.call('GET', `/v1/tasks/changes?since=${epoch}.${seq}`, { as: 'bob' });
    expect(foreign.status).toBe(410);
  });

  it('tenant does not matter: end users are separate, whatever their ids', async () => {
    const { task_id } = await f.create({ title: 'Guest' }, { as: 'endUser' });
    expect((await f.ok<{ data: object[] }>('GET', '/v1/tasks', { as: 'endUser' })).data).toHaveLength(1);
    expect((await f.call('GET', `/v1/tasks/${task_id}`)).status).toBe(404);
    expect((await f.call('GET', '/v1/tasks', { as: 'suspended' })).status).toBe(403);
    expect((await f.call('POST', '/v1/tasks', { as: 'reader', send: { title: 'x' } })).status).toBe(403);
    expect((await f.call('GET', '/v1/tasks', { as: 'nobody' })).status).toBe(401);
  });
});
