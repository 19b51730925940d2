import { createHash, createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { shiftedClock } from '../walk/credentials.ts';
import { type Answer, type Fixture, openFixture, send } from '../walk/fixture.ts';

// SQL of a customer that wants more than the customer's rows: files, the network, settings, time.

const secret = 'canary-0c2b0e5d';
const clock = shiftedClock();
let fixture: Fixture;
let folder: string;
let outside: Server;
let called = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-canary-'));
  await writeFile(join(folder, 'canary.csv'), `name\n${secret}\n`);
  await writeFile(join(folder, 'canary.json'), JSON.stringify({ name: secret }));
  await writeFile(join(folder, secret), ''); // for a list of files
  outside = createServer((_, response) => {
    called += 1;
    response.end(`name\n${secret}\n`);
  });
  await new Promise<void>(resolve => outside.listen(0, '127.0.0.1', resolve));
  // A plan whose queries may take ten seconds.
  fixture = await openFixture(clock, { STAK_OUTBOUND_ALLOW: '127.0.0.0/8', STAK_DEFAULT_PLAN: 'free' });
  for (const { keys } of [fixture.owner, fixture.stranger]) {
    const title = keys === fixture.owner.keys ? 'Walked secret plan' : 'Harmless';
    await send(fixture.server.url, { method: 'POST', path: '/v1/tasks', token: keys.admin, body: { title } });
  }
  for (const token of [fixture.owner.keys.admin, fixture.stranger.keys.admin])
    await vi.waitFor(
      async () => expect((await query('select count(*) from tasks', token)).text).toContain('[[1]]'),
      { timeout: 60_000, interval: 1000 },
    );
}, 120_000);
afterAll(async () => {
  await fixture?.server.stop();
  outside?.close();
  await rm(folder, { recursive: true, force: true });
});

// The stranger's queries. Sixty a minute are allowed: a minute passes after fifty.
let sent = 0;
function query(sql: string, token = fixture.stranger.keys.admin, path = '/v1/lake/query'): Promise<Answer> {
  if (++sent % 50 === 0) clock.shift(sent * 1_250);
  return send(fixture.server.url, { method: 'POST', path, token, body: { sql } });
}

function expectNothing(sql: string, { status, text }: Answer): void {
  const about = `${sql}: ${status} ${text.slice(0, 500)}`;
  expect([200, 400, 404, 413, 422, 503, 504], about).toContain(status);
  for (const trace of [secret, 'root:x:', 'Walked', fixture.owner.email])
    expect(text.includes(trace), about).toBe(false);
}

const rowsOf = ({ json }: Answer) => (json as { rows: unknown[][] }).rows;

test('no function of DuckDB that has a table reads a file or the network', async () => {
  const asked = await query(
    `select distinct function_name from duckdb_functions() where function_type in ('table', 'table_macro', 'pragma')`,
  );
  const names = rowsOf(asked).map(([name]) => String(name));
  expect(names.length).toBeGreaterThan(60);
  const port = (outside.address() as AddressInfo).port;
  const files = [join(folder, 'canary.csv'), join(folder, '*'), `http://127.0.0.1:${port}/canary.csv`];
  for (const name of names) {
    expectNothing(name, await query(`select * from ${name}()`));
    for (const file of files) expectNothing(name, await query(`select * from ${name}('${file}')`));
  }
  expect(called).toBe(0);
}, 600_000);

test('nor does a scalar function whose name says so', async () => {
  const asked = await query(
    `select distinct function_name from duckdb_functions() where function_type in ('scalar', 'macro', 'aggregate')
      and regexp_matches(function_name, 'read|file|env|path|setting|secret|load|write|glob|http|query|exec|import|parquet|csv|json|blob|schema|database|user|nextval|variable|error|sleep|system')`,
  );
  const names = rowsOf(asked).map(([name]) => String(name));
  expect(names.length).toBeGreaterThan(20);
  for (const name of names)
    for (const args of ['', `'${join(folder, 'canary.csv')}'`, `'home_directory'`, `'PATH'`])
      expectNothing(name, await query(`select ${name}(${args})`));
}, 300_000);

test.each([
  ...['csv', 'json', 'parquet', 'duckdb', 'db'].map(
    end => `from '${end === 'csv' ? '/etc/passwd' : `canary.${end}`}'`,
  ),
  `from 'file:///etc/passwd'`,
  `from "/etc/passwd"`,
  `select * from './data/secret-key'`,
  `select * from query('select * from read_text(''/etc/passwd'')')`,
  `select * from query_table(['tasks', '/etc/passwd'])`,
  `select unnest(list_transform(['/etc/passwd'], f -> (select content from read_text(f))))`,
  `with recursive r as (from read_text('/etc/passwd') union all from r) from r limit 1`,
  `from tasks, lateral (from read_text('/etc/passwd'))`,
  `pivot read_csv('/etc/passwd') on column0`,
  `summarize '/etc/passwd'`,
  `describe '/etc/passwd'`,
  `show all tables`,
  `select * from duckdb_secrets()`,
  `select * from duckdb_databases()`,
  `select * from duckdb_temporary_files()`,
  `select * from information_schema.tables`,
  `select * from pg_catalog.pg_settings`,
  `select current_setting('temp_directory')`,
  `from (attach '/etc/passwd' as a)`,
  `select 1; copy tasks to 'stolen.csv'`,
  `with x as (copy tasks to 'stolen.csv') select 1`,
  `with x as (install httpfs) from x`,
  `select $1; load httpfs`,
  `from tasks; pragma enable_external_access`,
  `(select 1) union all (set enable_external_access = true)`,
  `select '\0' from tasks`,
])('nothing but rows of the caller: %s', async sql => {
  expectNothing(sql, await query(sql));
  const file = await query(sql, fixture.stranger.keys.admin, '/v1/lake/query/export');
  expectNothing(sql, file);
});

test.each([[`x' or 1=1 --`], [`'; attach '/etc/passwd'; --`], [`usr_x') or ('' = '`]])(
  'a parameter is a value: %s',
  async value => {
    const body = { sql: 'select count(*) from tasks where title = $1', params: [value] };
    const token = fixture.stranger.keys.admin;
    const answer = await send(fixture.server.url, { method: 'POST', path: '/v1/lake/query', token, body });
    expect(rowsOf(answer)).toEqual([[0]]);
  },
);

test('an insight, a history and a table of another account have names, not SQL', async () => {
  const token = fixture.stranger.keys.admin;
  for (const path of [
    `/v1/lake/history/tasks/${encodeURIComponent("x' or true or '")}`,
    `/v1/insights/${encodeURIComponent("tasks-activity' or '1'='1")}`,
    '/v1/lake/iceberg/v1/namespaces/silver/tables/tasks%22%20where%20true',
  ])
    expectNothing(path, await send(fixture.server.url, { method: 'GET', path, token }));
});

// Ten seconds for each of the four, one at a time, and as long to start DuckDB again after one was ended.
const endMs = 80_000;

test('queries without end are ended, and others are answered meanwhile', async () => {
  // The first two have no end. How long the others take is DuckDB's affair: an answer within the deadline is as good.
  const endless: [sql: string, mayEnd: boolean][] = [
    ['with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r', false],
    ['select count(*) from range(1000000) a, range(1000000) b where a.range * b.range = 7', false],
    [`select regexp_matches(repeat('a', 5000000), '(a+)+b') from range(1000)`, true],
    [`select sum(length(repeat(a.range::varchar, 10000))) from range(10000000) a`, true],
  ];
  const beganMs = performance.now();
  const asked = endless.map(async ([sql, mayEnd]) => {
    const answer = await query(sql);
    return { sql, mayEnd, answer, tookMs: performance.now() - beganMs };
  });
  expect((await query('select title from tasks', fixture.owner.keys.admin)).text).toContain(
    'Walked secret plan',
  );
  expect(performance.now() - beganMs).toBeLessThan(10_000);
  for (const { sql, mayEnd, answer, tookMs } of await Promise.all(asked)) {
    const isEnded = [400, 413, 422, 503, 504].includes(answer.status);
    expect(isEnded || (mayEnd && answer.status === 200), `${sql}: ${answer.status} ${answer.text}`).toBe(
      true,
    );
    expect(tookMs, sql).toBeLessThan(endMs);
  }
}, 120_000);

// As an S3 client signs (AWS Signature Version 4).
function signed(url: URL, id: string, key: string): Record<string, string> {
  const at = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${at.slice(0, 8)}/auto/s3/aws4_request`;
  const hmac = (secretKey: string | Buffer, text: string) =>
    createHmac('sha256', secretKey).update(text).digest();
  const headers = `host:${url.host}\nx-amz-date:${at}\n`;
  const canonical = ['GET', url.pathname, '', headers, 'host;x-amz-date', 'UNSIGNED-PAYLOAD'].join('\n');
  const text = ['AWS4-HMAC-SHA256', at, scope, createHash('sha256').update(canonical).digest('hex')].join(
    '\n',
  );
  const signing = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${key}`);
  const names = `SignedHeaders=host;x-amz-date, Signature=${hmac(signing, text).toString('hex')}`;
  return { 'x-amz-date': at, authorization: `AWS4-HMAC-SHA256 Credential=${id}/${scope}, ${names}` };
}

test('files of another account’s tables are not readable with any key', async () => {
  const load = async (token: string) => {
    const path = '/v1/lake/iceberg/v1/namespaces/silver/tables/tasks';
    const { json, status, text } = await send(fixture.server.url, { method: 'GET', path, token });
    expect(status, text).toBe(200);
    const { config, 'metadata-location': location } = json as {
      config: Record<string, string>;
      'metadata-location': string;
    };
    const url = new URL(`/v1/lake/iceberg/files/${location.replace(/^s3:\/\//, '')}`, fixture.server.url);
    return { url, id: config['s3.access-key-id']!, key: config['s3.secret-access-key']! };
  };
  const owner = await load(fixture.owner.keys.admin);
  const stranger = await load(fixture.stranger.keys.admin);
  const get = (url: URL, headers: Record<string, string>) =>
    send(url.origin, { method: 'GET', path: url.pathname, headers });
  const theirs = signed(owner.url, owner.id, owner.key);
  expect((await get(owner.url, theirs)).status).toBe(200);
  const own = await get(stranger.url, signed(stranger.url, stranger.id, stranger.key));
  expect(own.status).toBe(200);
  const other = new URL(owner.url.href.replace(/[^/]+$/, 'other.json'));
  const attempts: Record<string, Record<string, string>> = {
    'no signature': {},
    'the stranger’s key': signed(owner.url, stranger.id, stranger.key),
    'the owner’s id with another secret': signed(owner.url, owner.id, stranger.key),
    'a signature for another file': signed(other, owner.id, owner.key),
    'an old signature': { ...theirs, 'x-amz-date': '20200101T000000Z' },
    'an API key': { authorization: `Bearer ${fixture.stranger.keys.admin}` },
  };
  for (const [name, headers] of Object.entries(attempts)) {
    const { status, text } = await get(owner.url, headers);
    // The key decides whose file it is: files of two accounts may have one name, and each gets their own.
    if (status === 200) expect([name, text]).toEqual(['the stranger’s key', own.text]);
    else expect([401, 403, 404], name).toContain(status);
  }
  const up = new URL(owner.url.href.replace(/[^/]+$/, '..%2f..%2fsecret-key'));
  expect([400, 401, 404]).toContain((await get(up, signed(up, owner.id, owner.key))).status);
});
