import { readdirSync, readFileSync } from 'node:fs';
import { AppError } from '@stak/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDuck } from '../src/duckdb/duck.ts';
import { ann, type Backend, bob, capture, openBackend, openLake } from './lake-fixture.ts';
import { chore, followed, newChore } from './test-table.ts';

// SQL that wants more than its caller's rows. Each is a clear problem, and nothing else happens.

let lake: ReturnType<typeof openLake>;
let backend: Backend;
let folder = '';

const endings: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of endings) await end();
});
beforeAll(async () => {
  backend = await openBackend({ atEnd: end => void endings.push(end) });
  lake = openLake(backend);
  folder = backend.folder;
  await backend.store.put(chore, newChore('usr_ann', 'a', { secret: 'hush' }));
  await backend.store.put(chore, newChore('usr_bob', 'b', { title: 'of bob alone' }));
  await capture(backend, lake);
}, 60_000);

const codeOf = async (sql: string): Promise<string> => {
  const error: unknown = await lake.query(ann, sql).then(
    ({ rows }) => `${sql} answered ${JSON.stringify(rows)}`,
    cause => cause,
  );
  if (!(error instanceof AppError)) throw error;
  expect(error.message).not.toContain(folder);
  return error.code;
};

const forbidden = [
  `copy tasks to 'stolen.csv'`,
  `copy (select 1) to 'stolen.parquet' (format parquet)`,
  `attach 'other.db' as other`,
  `install httpfs`,
  `load httpfs`,
  `pragma version`,
  `pragma database_list`,
  `call pragma_version()`,
  `set memory_limit = '100GB'`,
  `set enable_external_access = true`,
  `reset lock_configuration`,
  `insert into tasks select * from tasks`,
  `update tasks set title = 'mine'`,
  `delete from tasks`,
  `drop table tasks`,
  `create table other as select 1`,
  `create macro f() as 1`,
  `create secret (type s3)`,
  `export database 'out'`,
  `import database 'out'`,
  `checkpoint`,
  `vacuum`,
  `begin`,
  `explain analyze select 1`,
  `select 1; select 2`,
  `select 1; drop table tasks`,
  `select * from read_csv('/etc/passwd')`,
  `select * from read_text('/etc/passwd')`,
  `select * from read_blob('/etc/passwd')`,
  `select * from read_json('/etc/passwd')`,
  `select * from read_parquet('objects/bronze/*')`,
  `select * from glob('/etc/*')`,
  `select * from sniff_csv('/etc/passwd')`,
  `select * from parquet_metadata('x.parquet')`,
  `select * from read_csv('https://example.com/x.csv')`,
  `with x as (select * from read_text('/etc/passwd')) select * from x`,
  `select (select content from read_text('/etc/passwd'))`,
  `-- harmless\n drop table tasks`,
  `/* select */ delete from tasks`,
];

test.each(forbidden)('refused: %s', async sql => {
  expect(await codeOf(sql)).toMatch(/^lake\.sql_(forbidden|invalid)$/);
});

test.each([
  [`select * from '/etc/passwd'`, 'lake.sql_invalid'],
  [`select getenv('PATH')`, 'lake.sql_invalid'],
  [`selec 1`, 'lake.sql_forbidden'],
  [`select from from`, 'lake.sql_invalid'],
  [`select nothing from tasks`, 'lake.sql_invalid'],
  [`select * from tasks_of_bob`, 'lake.sql_invalid'],
  [`select secret from tasks`, 'lake.sql_invalid'],
  [`select 'x'::integer`, 'lake.sql_failed'],
  [`select * from query('drop table tasks')`, 'lake.sql_invalid'],
])('a clear problem: %s', async (sql, code) => {
  expect(await codeOf(sql)).toBe(code);
});

test('no query returns rows of another caller', async () => {
  const everything = [
    `select * from tasks`,
    `select * from tasks where user_id = 'usr_bob'`,
    `select * from tasks where true or user_id <> ''`,
    `select * from duckdb_tables()`,
    `select * from duckdb_settings()`,
    `select * from duckdb_external_file_cache() -- of tasks`,
    `select * from duckdb_logs() -- of tasks`,
    `select * from duckdb_columns() where table_name = 'tasks'`,
    `select * from query('select * from tasks')`,
    `summarize tasks`,
    `show tables`,
    `describe tasks`,
  ];
  for (const sql of everything) {
    const { rows } = await lake.query(ann, sql);
    expect(JSON.stringify(rows), sql).not.toMatch(/bob alone|hush|usr_bob/);
    expect(JSON.stringify(rows), sql).not.toContain(folder);
  }
  expect((await lake.query(bob, `select title from tasks`)).rows).toEqual([['of bob alone']]);
});

test.each([
  `with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r`,
  `select repeat('a', 2000000000)`,
  `select list_transform(range(100000000), x -> list_sum(range(x)))[1]`,
  `select string_agg(repeat('x', 100000), '') from range(1000000)`,
])('ends: %s', async sql => {
  // The same process and the same limits of memory, with less time.
  const duck = createDuck({ processes: 1, queue: 5, timeoutMs: 1000 });
  try {
    const error = await duck.run({ prepare: [], sql, isUntrusted: true }).catch(cause => cause);
    expect(['lake.query_too_slow', 'lake.query_too_large', 'lake.sql_failed']).toContain(error.code);
    // The next one is answered by a process that is well.
    expect((await duck.run({ prepare: [], sql: 'select 42', isUntrusted: true })).rows).toEqual([[42]]);
  } finally {
    duck.close();
  }
});

// Peak memory of the processes that this one has started.
function peakOfChildren(): number {
  const children = readdirSync(`/proc/${process.pid}/task`).flatMap(thread =>
    readFileSync(`/proc/${process.pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean),
  );
  const peaks = children.map(pid => {
    try {
      return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
    } catch {
      return 0; // it is gone
    }
  });
  return Math.max(0, ...peaks);
}

test.runIf(process.platform === 'linux')(
  'a query that keeps its process too busy to watch itself is stopped near its limit (needs Linux)',
  async () => {
    const limit = 512 * 1024 ** 2;
    const duck = createDuck({
      processes: 1,
      queue: 5,
      timeoutMs: 60_000,
      memory: { limit: '512MB', rssBytes: limit },
    });
    // DuckDB needs 320 MB for the list. In JavaScript it is 40 million texts, made in one go.
    const asked = duck
      .run({ prepare: [], sql: 'select range(40000000)', isUntrusted: true })
      .catch(cause => cause);
    let peak = 0;
    const watching = setInterval(() => {
      peak = Math.max(peak, peakOfChildren());
    }, 5);
    try {
      expect((await asked).code).toBe('lake.query_too_large');
      expect(peak).toBeLessThan(limit * 2);
      expect((await duck.run({ prepare: [], sql: 'select 42', isUntrusted: true })).rows).toEqual([[42]]);
    } finally {
      clearInterval(watching);
      duck.close();
    }
  },
  120_000,
);

test('administrators’ tables do not exist for others', async () => {
  const entities = followed.entities.map(entity => ({ ...entity, scope: 'admin' as const }));
  const guarded = openLake(backend, { tables: [{ ...followed, entities }] });
  expect((await guarded.query(ann, 'select count(*) from tasks')).rows).not.toEqual([[0]]);
  const reader = { ...ann, scope: 'write' as const };
  await expect(guarded.query(reader, 'select count(*) from tasks')).rejects.toMatchObject({
    code: 'lake.sql_invalid',
  });
  expect((await guarded.query(reader, 'show tables')).rows).toEqual([]);
});

test('results are cut if they are too long', async () => {
  const many = await lake.query(ann, 'select * from range(20000)');
  expect(many.truncated).toBe(true);
  expect(many.rows).toHaveLength(10_000);
  const long = await lake.query(ann, `select repeat('x', 1000000) from range(10)`);
  expect(long.truncated).toBe(true);
  expect(long.rows.length).toBeLessThan(5);
});

test('numbers, dates, lists and nulls are returned as JSON', async () => {
  const { columns, rows } = await lake.query(
    ann,
    `select 1 as a, 9007199254740993 as b, 1.5 as c, date '2026-01-01' as d, [1, 2] as e, null as f, true as g`,
  );
  expect(rows).toEqual([[1, '9007199254740993', 1.5, '2026-01-01', [1, 2], null, true]]);
  expect(columns[0]).toEqual({ name: 'a', type: 'INTEGER' });
});
