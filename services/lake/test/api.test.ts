import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi, createMemoryRateLimits, type Principal, unguarded, withProblems } from '@stak/http';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDuck, type Duck } from '../src/duckdb/duck.ts';
import { lakeErrors } from '../src/errors.ts';
import * as limits from '../src/limits.ts';
import {
  ann,
  type Backend,
  bob,
  capture,
  endUser,
  keep,
  openBackend,
  openLake,
  silent,
  until,
} from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

let backend: Backend;
let lake: ReturnType<typeof openLake>;
let download: (
  body: unknown,
  accept?: string,
  as?: string,
) => Promise<{ status: number; headers: Headers; content: Uint8Array }>;
let call: (
  path: string,
  as: string,
  body?: unknown,
) => Promise<{ status: number; body: Record<string, unknown> }>;

const endings: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of endings) await end();
});
beforeAll(async () => {
  backend = await openBackend({ atEnd: end => void endings.push(end) });
  lake = openLake(backend, {
    queryLimits: async account =>
      account === 'usr_bob' ? { rows: 100, bytes: 50_000, seconds: 1 } : undefined,
    payerOf: async () => 'usr_ann',
  });
  await backend.store.put(chore, newChore('usr_ann', 'a', { due_date: '2025-12-31', priority: 'high' }));
  await backend.store.put(
    chore,
    newChore('usr_ann', 'b', {
      status: 'completed',
      completed_at: 1767225600 + 7200,
      due_date: '2025-12-31',
    }),
  );
  await backend.store.put(chore, newChore('t1:u1', 'c', { due_date: '2026-12-31' }));
  await backend.store.put(chore, newChore('usr_bob', 'd'));
  await capture(backend, lake);
  await keep(lake);
  const closed = { ...endUser, tenantId: 'closed' };
  const principals: Record<string, Principal> = { ann, bob, endUser, closed };
  const api = createApi({
    info: { title: 'Lake', version: '1' },
    endpoints: withProblems(lake.api, ['lake.table_not_found']),
    guards: {
      ...unguarded,
      enterTenant: async (_, tenant_id) => {
        if (tenant_id === 'closed') throw lakeErrors.create('lake.table_not_found', 'This tenant is closed.');
        return { tenant_id, account_id: 'usr_ann' };
      },
    },
    errors: [lake.errors],
    authenticate: async ({ token }) => principals[token],
    clock: backend.clock,
    log: silent,
    rateLimits: { store: createMemoryRateLimits() },
  });
  download = async (body, accept = '*/*', as = 'ann') => {
    const headers = { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json', Accept: accept };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await api.app.request('/v1/lake/query/export', init, { remoteAddress: '203.0.113.7' });
    const content = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, content };
  };
  call = async (path, as, body) => {
    const headers = { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await api.app.request(path, init, { remoteAddress: '203.0.113.7' });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
});

test('POST /v1/lake/query', async () => {
  const sql = 'select status, count(*) as tasks from tasks group by 1 order by 1';
  expect(await call('/v1/lake/query', 'ann', { sql })).toEqual({
    status: 200,
    body: {
      columns: [
        { name: 'status', type: 'VARCHAR' },
        { name: 'tasks', type: 'BIGINT' },
      ],
      rows: [
        ['completed', 1],
        ['pending', 2],
      ],
      truncated: false,
      as_of: new Date(backend.clock.now()).toISOString(),
      lag_ms: 0,
      caught_up: true,
    },
  });
  expect((await call('/v1/lake/query', 'endUser', { sql })).body).toMatchObject({ rows: [['pending', 1]] });
  const refused = await call('/v1/lake/query', 'ann', { sql: 'drop table tasks' });
  expect(refused).toMatchObject({ status: 400, body: { code: 'lake.sql_forbidden' } });
  expect((await call('/v1/lake/query', 'nobody', { sql })).status).toBe(401);
  expect((await call('/v1/lake/query', 'ann', { sql, more: 1 })).status).toBe(400);
  expect((await call('/v1/lake/query', 'ann', { sql: 'x'.repeat(limits.sqlChars + 1) })).status).toBe(400);
});

test('parameters are values, never SQL', async () => {
  const sql = 'select count(*) as n from tasks where status = $status or $1 = 1';
  const byName = 'select task_id from tasks where task_id = $id';
  const ask = async (params: unknown, text: string) =>
    (await call('/v1/lake/query', 'ann', { sql: text, params })).body;
  expect(await ask({ id: 'a' }, byName)).toMatchObject({ rows: [['a']] });
  expect(await ask({ id: "' or true --" }, byName)).toMatchObject({ rows: [] });
  expect(await ask(['b', null], 'select ? as x, ? as y')).toMatchObject({ rows: [['b', null]] });
  expect(await ask({}, byName)).toMatchObject({
    code: 'lake.sql_invalid',
    detail: 'The parameter $id has no value.',
  });
  expect(await ask({ id: 'a', more: 1 }, byName)).toMatchObject({ detail: 'There is no parameter $more.' });
  expect(await ask({ id: { deep: 1 } }, byName)).toMatchObject({ status: 400 });
  expect(await ask(['b'], sql)).toMatchObject({ code: 'lake.sql_invalid' });
});

test('GET /v1/lake/history/{table}/{id}', async () => {
  const changed = { ...newChore('usr_ann', 'h'), status: 'completed' as const };
  for (const one of [newChore('usr_ann', 'h'), changed]) await backend.store.put(chore, one);
  await backend.store.delete(chore, { user_id: 'usr_ann', task_id: 'h' });
  await capture(backend, lake);
  const answer = await call('/v1/lake/history/tasks/h', 'ann');
  expect(answer).toMatchObject({ status: 200, body: { caught_up: true } });
  const { data, since } = answer.body as { data: { kind: string; changes: unknown[] }[]; since: string };
  expect(data.map(({ kind }) => kind)).toEqual(['remove', 'modify', 'insert']);
  expect(data[1]!.changes).toEqual([{ field: 'status', before: 'pending', after: 'completed' }]);
  expect(since <= new Date(backend.clock.now()).toISOString()).toBe(true);
  expect((await call('/v1/lake/history/tasks/h', 'bob')).body).toMatchObject({ data: [] });
  expect((await call("/v1/lake/history/tasks/h'%20or%20true--", 'ann')).body).toMatchObject({ data: [] });
  expect((await call('/v1/lake/history/others/h', 'ann')).body).toMatchObject({
    code: 'lake.table_not_found',
  });
});

const typed = `select 9007199254740993::bigint as big, 'ünï' as text, null::varchar as nothing, true as yes,
  1.25::decimal(10,2) as money, timestamp '2026-01-02 03:04:05.123456' as at, date '2026-01-02' as day, [1, 2] as list`;

test('results as files: CSV, Arrow and Parquet', async () => {
  const csv = await download({ sql: typed, format: 'csv' });
  expect(csv.headers.get('content-type')).toBe('text/csv');
  expect(csv.headers.get('stak-truncated')).toBe('false');
  expect(Buffer.from(csv.content).toString()).toBe(
    'big,text,nothing,yes,money,at,day,list\n9007199254740993,ünï,,true,1.25,2026-01-02 03:04:05.123456,2026-01-02,"[1, 2]"\n',
  );

  const hostile = `select '=1+1' as a, ' @x' as b, '-5' as c, -5 as d, '＝x'::enum ('＝x') as e, '+x'::blob as f, ['=1'] as g, null as h`;
  expect(Buffer.from((await download({ sql: hostile, format: 'csv' })).content).toString()).toBe(
    "a,b,c,d,e,f,g,h\n'=1+1,' @x,'-5,-5,'＝x,'+x,['=1'],\n",
  );

  const arrow = await download({ sql: typed }, 'application/vnd.apache.arrow.stream');
  const table = tableFromIPC(arrow.content);
  expect(table.schema.fields.map(String)).toEqual([
    'big: Int64',
    'text: Utf8',
    'nothing: Utf8',
    'yes: Bool',
    'money: Decimal[10e+2]',
    'at: Timestamp<MICROSECOND>',
    'day: Date32<DAY>',
    'list: Utf8',
  ]);
  const [row] = table.toArray();
  expect([row.big, row.text, row.nothing, row.yes, row.list]).toEqual([
    9007199254740993n,
    'ünï',
    null,
    true,
    '[1,2]',
  ]);
  expect(row.at).toBeCloseTo(Date.UTC(2026, 0, 2, 3, 4, 5) + 123.456, 2);

  const own = await download({ sql: 'select task_id from tasks order by 1', format: 'parquet' });
  const path = join(backend.folder, 'answer.parquet');
  await writeFile(path, own.content);
  const duck = createDuck({ processes: 1, queue: 1, timeoutMs: 20_000 });
  const { rows } = await duck.run({ prepare: [], sql: `from '${path}'` });
  duck.close();
  expect(rows).toEqual([['a'], ['b'], ['c']]);
});

test('a file has the plan’s limits of rows, bytes and seconds', async () => {
  const many = 'select i from range(1000) r(i)';
  const cut = await download({ sql: many, format: 'arrow' }, undefined, 'bob');
  expect(cut.headers.get('stak-truncated')).toBe('true');
  expect(tableFromIPC(cut.content).numRows).toBe(100);
  const large = await download({ sql: "select repeat('x', 100000) as x", format: 'csv' }, undefined, 'bob');
  expect([large.status, JSON.parse(Buffer.from(large.content).toString()).code]).toEqual([
    400,
    'lake.query_too_large',
  ]);
  const slow = 'select count(*) from range(1000000000) a, range(1000) b';
  expect((await call('/v1/lake/query', 'bob', { sql: slow })).body).toMatchObject({
    code: 'lake.query_too_slow',
    detail: 'The query took longer than 1 seconds.',
  });
  expect((await call('/v1/lake/query', 'bob', { sql: many })).body).toMatchObject({ truncated: true });
  expect((await download({ sql: many, format: 'xlsx' })).status).toBe(400);
  const left = async () =>
    (await readdir(backend.folder, { recursive: true })).filter(name => /answer-/.test(name));
  await expect.poll(left).toEqual([]);
});

test('a text that is only comments is refused at once', async () => {
  const sql = `${'/**/'.repeat(4000)}x`;
  const refused = await call('/v1/lake/query', 'ann', { sql });
  expect(refused).toMatchObject({ status: 400, body: { code: 'lake.sql_forbidden' } });
});

test('an error or a column of any length takes no more than a page of text', async () => {
  const long = "repeat('x', 20000000)";
  for (const sql of [`select error(${long})`, `select ${long}::int`]) {
    const { status, body } = await call('/v1/lake/query', 'ann', { sql });
    expect([status, body.code]).toEqual([400, 'lake.sql_failed']);
    expect(String(body.detail).length).toBeLessThan(3000);
  }
  const fields = `list_transform(range(600), i -> '"' || repeat('n', 100) || i || '":"INTEGER"')`;
  const wide = `select json_transform('{}', '{' || array_to_string(${fields}, ',') || '}') as x`;
  const { status, body } = await call('/v1/lake/query', 'bob', { sql: wide });
  expect([status, body.code]).toEqual([400, 'lake.query_too_large']);
});

test('end users of a closed tenant get nothing', async () => {
  const sql = 'select 1';
  expect((await call('/v1/lake/query', 'closed', { sql })).status).toBe(404);
  expect((await call('/v1/insights/tasks-by-status', 'closed')).status).toBe(404);
  expect((await call('/v1/lake/query', 'endUser', { sql })).status).toBe(200);
});

test('GET /v1/insights and each of them', async () => {
  const { body } = await call('/v1/insights', 'ann');
  const names = (body.data as { name: string }[]).map(({ name }) => name);
  const read = async (name: string, as = 'ann') => (await call(`/v1/insights/${name}`, as)).body.data;
  for (const name of names) expect(await read(name), name).toBeInstanceOf(Array);
  expect(await read('tasks-created')).toEqual([{ day: '2026-01-01', tasks: 3 }]);
  expect(await read('tasks-completed')).toEqual([{ day: '2026-01-01', tasks: 1 }]);
  expect(await read('tasks-by-priority')).toEqual([
    { priority: 'high', tasks: 1 },
    { priority: 'none', tasks: 2 },
  ]);
  expect(await read('tasks-cycle-time')).toEqual([
    { day: '2026-01-01', tasks: 1, average_hours: 2, within_a_day: 1, within_a_week: 1 },
  ]);
  expect(await read('tasks-overdue')).toEqual([{ due: 2, overdue: 1, rate: 0.5 }]);
  expect(await read('tasks-activity', 'endUser')).toEqual([
    { user: 't1:u1', day: '2026-01-01', changes: 1, created: 1, removed: 0 },
  ]);
  expect(await read('tasks-by-status', 'bob')).toEqual([{ status: 'pending', tasks: 1 }]);
  expect(await call('/v1/insights/of-the-stars', 'ann')).toMatchObject({
    status: 404,
    body: { code: 'lake.insight_not_found' },
  });
  expect((await call('/v1/insights/tasks-created?days=0', 'ann')).status).toBe(400);
});

test('GET /v1/lake/status', async () => {
  const { status, body } = await call('/v1/lake/status', 'ann');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    tables: [{ table: 'chores', lag_ms: 0, caught_up: true, backfill: null }],
    views: [{ name: 'tasks', description: 'Something to be done.' }],
  });
  expect(body, 'how much others have is not shown').not.toHaveProperty('tables.0.bronze_rows');
  expect((await call('/v1/lake/status', 'endUser')).status).toBe(403);
});

test('a response says how old it is', async () => {
  const before = backend.clock.now();
  await backend.store.put(chore, newChore('usr_ann', 'late'));
  await backend.clock.advance(7000);
  const { body } = await call('/v1/insights/tasks-by-status', 'ann');
  expect(body).toMatchObject({
    caught_up: false,
    as_of: new Date(Math.floor(before / 1000) * 1000).toISOString(),
  });
  expect(body.lag_ms).toBeGreaterThanOrEqual(7000);
});

test('an insight says whose items it counts', async () => {
  const whose = async (as: string) => (await call('/v1/insights/tasks-by-status', as)).body.whose;
  expect([await whose('ann'), await whose('bob'), await whose('endUser')]).toEqual([
    'account_and_tenants',
    'account',
    'user',
  ]);
});

test('end users of an account wait for each other, and delay no other account', async () => {
  const running: string[] = [];
  const never: Duck = {
    run: ({ prepare }) => {
      running.push(prepare.join().includes('usr_bob') ? 'bob' : 'of ann');
      return new Promise(() => {});
    },
    close() {},
  };
  const lake = openLake(backend, {
    payerOf: async () => 'usr_ann',
    ducks: { callers: never, insights: never, maintenance: never },
  });
  const sql = 'select * from tasks';
  const refused: unknown[] = [];
  for (let i = 0; i < 30; i++)
    lake.query({ ...endUser, userId: `minted-${i}` }, sql).catch(error => refused.push(error.code));
  lake.query(bob, sql).catch(error => refused.push(error.code));
  await until(backend, () => running.includes('bob'), 0);
  expect(running.filter(name => name === 'of ann')).toHaveLength(1);
  expect(refused).toEqual(Array.from({ length: 25 }, () => 'lake.busy'));
});
