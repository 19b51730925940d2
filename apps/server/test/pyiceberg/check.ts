// Reads the lake with pyiceberg, from PyPI, while it changes: through the catalog and by path.
//   npm run test:iceberg
// Where Python is missing, or PyPI cannot be reached, it says so and ends well.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { readServerConfig } from '../../src/config.ts';
import { startServer } from '../../src/server.ts';
import { eventually } from '../eventually.ts';
import { findFreePort } from '../free-ports.ts';

const version = '0.12.0';
const venv = join(tmpdir(), `stak-pyiceberg-${version}`); // kept between runs: it is 200 MB
const python = join(venv, 'bin', 'python');
const program = fileURLToPath(new URL('./read.py', import.meta.url));
const writeMs = 15_000;

type Row = Record<string, string | null>;
type Read = { snapshots: number[]; rows: Row[] };

const lacking = whatIsLacking();
if (lacking) console.log(`Skipped: ${lacking}`);
else await check();

function whatIsLacking(): string | undefined {
  if (existsSync(python) && spawnSync(python, ['-c', 'import pyiceberg, pyarrow']).status === 0)
    return undefined;
  if (spawnSync('python3', ['-m', 'venv', venv], { stdio: 'ignore' }).status !== 0)
    return 'there is no python3 with venv';
  const install = ['-m', 'pip', 'install', '--quiet', `pyiceberg[pyarrow]==${version}`];
  const { status } = spawnSync(python, install, { stdio: ['ignore', 'inherit', 'inherit'] });
  return status === 0 ? undefined : 'pip cannot reach pyiceberg';
}

function startReader(url: string, token: string) {
  const child = spawn(python, [program, url, token], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async ask<T>(command: object): Promise<T> {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value, done } = await lines.next();
      assert(!done, 'pyiceberg has ended');
      const { answer, error } = JSON.parse(value) as { answer: T; error?: string };
      assert.equal(error, undefined, JSON.stringify(command));
      return answer;
    },
    close: () => child.kill(),
  };
}

async function check(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stak-iceberg-'));
  const log = createLogger({ level: 'warn' });
  const port = await findFreePort(); // known beforehand: the catalog tells clients where its files are
  const flags = { path: join(folder, 'data'), port, demo: false };
  const variables = { STAK_REQUESTS_PER_MINUTE: '1000000' }; // it writes as fast as it can
  const server = await startServer(readServerConfig(flags, variables), {
    log,
  });
  try {
    await readWhileItChanges(server.url, join(folder, 'data', 'lake'));
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function readWhileItChanges(baseUrl: string, lake: string): Promise<void> {
  const signUp = async (name: string) => {
    const body = { email: `${name}@example.com`, password: 'a long enough password', name, cookie: false };
    return (await createClient({ baseUrl }).accounts.signUp({ body })).data.access_token;
  };
  const [token, strange] = [await signUp('ann'), await signUp('bob')];
  const client = createClient({ baseUrl, token });
  await createClient({ baseUrl, token: strange }).tasks.create({ body: { title: 'Not hers' } });
  await client.tenants.create({ body: { tenant_id: 'acme', name: 'Acme', status: 'active' } });
  const { data: user } = await client.tenants.mintToken({
    tenant_id: 'acme',
    body: { sub: 'mallory', scope: 'tasks:read tasks:write' },
  });
  await createClient({ baseUrl, token: user.token }).tasks.create({ body: { title: 'Of mallory' } });
  const reader = startReader(baseUrl, token);
  const titles = (rows: Row[]) => rows.map(row => row.title).sort();
  const bySql = async () => {
    const { data } = await client.lake.query({ body: { sql: 'select title from tasks' } });
    return (data.rows as string[][]).map(([title]) => title!).sort();
  };

  // While tasks are written as fast as one connection goes.
  const until = Date.now() + writeMs;
  let written = 0;
  const writing = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (Date.now() < until) await client.tasks.create({ body: { title: `Task ${written++}` } });
    }),
  );
  writing.catch(() => {}); // told below, if nothing else is
  const seen: { snapshot: number; rows: Row[] }[] = [];
  while (Date.now() < until) {
    const { snapshots, rows } = await reader.ask<Read>({ kind: 'read', table: 'silver.tasks' });
    assert(rows.length >= (seen.at(-1)?.rows.length ?? 0), 'rows are missing');
    if (snapshots.at(-1) !== seen.at(-1)?.snapshot) seen.push({ snapshot: snapshots.at(-1)!, rows });
    if (existsSync(join(lake, 'iceberg/bronze/tasks')))
      await reader.ask<Read>({ kind: 'read', path: join(lake, 'iceberg/bronze/tasks') });
    await sleep(500);
  }
  await writing;
  console.log(`${written} tasks were written, and read in ${seen.length} snapshots meanwhile`);

  // The same rows as SQL.
  await eventually(async () => assert.equal((await bySql()).length, written + 1));
  const silver = await reader.ask<Read>({ kind: 'read', table: 'silver.tasks' });
  assert.deepEqual(titles(silver.rows), await bySql());
  assert(!titles(silver.rows).includes('Not hers'));
  const bronze = await reader.ask<Read>({ kind: 'read', table: 'bronze.tasks' });
  assert(!JSON.stringify(bronze.rows).includes('Not hers'));

  // Time travel: older snapshots are as they were.
  for (const { snapshot, rows } of seen.slice(-5))
    if (silver.snapshots.includes(snapshot)) {
      const again = await reader.ask<Read>({ kind: 'read', table: 'silver.tasks', snapshot });
      assert.deepEqual(titles(again.rows), titles(rows));
    }
  const tables = await reader.ask<string[]>({ kind: 'tables' });
  for (const table of tables) await reader.ask<Read>({ kind: 'read', table });
  console.log(`All ${tables.length} tables of the catalog can be read`);

  // By path, with everybody's rows.
  const path = join(lake, 'iceberg/bronze/tasks');
  await eventually(async () => {
    const { rows } = await reader.ask<Read>({ kind: 'read', path });
    assert(new Set(rows.filter(row => row.new).map(row => row.key)).size >= written + 2);
  });
  console.log('The tables by path hold every task');
  reader.close();
}
