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
import { readServerConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/process/server.ts';
import { eventually } from '../eventually.ts';
import { findFreePort } from '../free-ports.ts';

const version = '0.12.0';
const venv = join(tmpdir(), `stak-pyiceberg-${version}`); // kept between runs: it is 200 MB
const python = join(venv, 'bin', 'python');
const program = fileURLToPath(new URL('./read.py', import.meta.url));
const writeMs = 25_000;
const changesPerSecond = 2000; // of stored items, while it is read
const writers = 8;
const recipients = 18;
const changesOfPublish = recipients * 4 + 1; // message, expiry, state and count of each, and the send

type Row = Record<string, string | null>;
type Read = { snapshots: number[]; operations: string[]; rows: Row[] };

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
  // An erasure removes files while they are read: whoever reads again gets new ones.
  async function ask<T>(command: object, tries = 5): Promise<T> {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await lines.next();
    assert(!done, 'pyiceberg has ended');
    const { answer, error } = JSON.parse(value) as { answer: T; error?: string };
    if (error && /NOT_FOUND|not found|No such file/i.test(error) && tries > 1) return ask(command, tries - 1);
    assert.equal(error, undefined, JSON.stringify(command));
    return answer;
  }
  return {
    ask,
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
  const mallory = createClient({ baseUrl, token: user.token });
  for (let n = 0; n < 20; n++) await mallory.tasks.create({ body: { title: `Of mallory ${n}` } });
  const reader = startReader(baseUrl, token);
  const titles = (rows: Row[]) => rows.map(row => row.title).sort();
  const bySql = async () => {
    const { data } = await client.lake.query({ body: { sql: 'select title from tasks' } });
    return (data.rows as string[][]).map(([title]) => title!).sort();
  };

  const ids: string[] = [];
  for (let n = 0; n < 400; n++)
    ids.push((await client.tasks.create({ body: { title: `Task ${n}` } })).data.task_id);
  const written = ids.length;

  // While messages and tasks change so often that the lake compacts, and a user is erased.
  const startedAt = Date.now();
  const until = startedAt + writeMs;
  const inbox = { tenant_id: 'acme', inbox_key: 'news' };
  await client.inbox.writeInbox({ ...inbox, body: { title: 'News' } });
  const message = { title: 'Paid', body: 'x'.repeat(200) };
  let published = 0;
  let updated = 0;
  const publish = async (writer: number) => {
    const uids = Array.from({ length: recipients }, (_, n) => `user-${writer}-${n}`);
    published += 1;
    await client.inbox.publish({ ...inbox, body: { uids, message, taxonomy: { category: 'orders' } } });
  };
  const update = async () => {
    const task_id = ids[updated++ % ids.length]!;
    await client.tasks.update({ task_id, body: { description: `Now ${updated}` } });
  };
  const write = async (writer: number) => {
    while (Date.now() < until) {
      await publish(writer);
      if (writer === 0) await update();
      const dueMs = startedAt + ((published * changesOfPublish) / changesPerSecond) * 1000;
      await sleep(Math.max(0, dueMs - Date.now()));
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const erasing = sleep(writeMs / 5).then(() =>
    client.tenants.eraseUser({ tenant_id: 'acme', user_id: 'mallory' }),
  );
  for (const work of [writing, erasing]) work.catch(() => {}); // told below, if nothing else is
  let delivered = 0;
  const seen: { snapshot: number; rows: Row[] }[] = [];
  while (Date.now() < until) {
    const { snapshots, rows } = await reader.ask<Read>({ kind: 'read', table: 'silver.tasks' });
    assert(rows.length >= (seen.at(-1)?.rows.length ?? 0), 'rows are missing');
    if (snapshots.at(-1) !== seen.at(-1)?.snapshot) seen.push({ snapshot: snapshots.at(-1)!, rows });
    const messages = await reader.ask<Read>({ kind: 'read', table: 'silver.messages' });
    assert(messages.rows.length <= published * recipients && messages.rows.length >= delivered);
    delivered = messages.rows.length;
    if (existsSync(join(lake, 'iceberg/bronze/tasks')))
      await reader.ask<Read>({ kind: 'read', path: join(lake, 'iceberg/bronze/tasks') });
    await sleep(500);
  }
  await Promise.all([writing, erasing]);
  const rate = Math.round((published * changesOfPublish * 1000) / (Date.now() - startedAt));
  console.log(`${rate} changes a second were written, and read in ${seen.length} snapshots meanwhile`);
  if (rate < changesPerSecond * 0.9)
    console.log(
      `This machine is too slow or too busy for ${changesPerSecond}: what follows holds for ${rate}`,
    );

  // Everywhere in the lake, before anything is compared.
  const path = join(lake, 'iceberg/bronze/tasks');
  await eventually(async () => {
    const { rows } = await reader.ask<Read>({ kind: 'read', path });
    assert(!JSON.stringify(rows).includes('Of mallory'), 'the erased user is still there');
  });
  console.log('Nothing is left of the user who was erased');

  // The same rows as SQL.
  await eventually(async () => assert.equal((await bySql()).length, written));
  const silver = await reader.ask<Read>({ kind: 'read', table: 'silver.tasks' });
  assert.deepEqual(titles(silver.rows), await bySql());
  assert(!titles(silver.rows).includes('Not hers'));
  const bronze = await reader.ask<Read>({ kind: 'read', table: 'bronze.tasks' });
  assert(!JSON.stringify(bronze.rows).includes('Not hers'));

  // Time travel: older snapshots are as they were.
  const older: { snapshot: number; rows: Row[] }[] = [];
  while (older.length <= 5) {
    const { snapshots, rows } = await reader.ask<Read>({ kind: 'read', table: 'silver.tasks' });
    if (snapshots.at(-1) === older.at(-1)?.snapshot) await sleep(2000);
    else {
      older.push({ snapshot: snapshots.at(-1)!, rows });
      await client.tasks.update({ task_id: ids[older.length]!, body: { title: `Again ${older.length}` } });
    }
  }
  for (const { snapshot, rows } of older) {
    const again = await reader.ask<Read>({ kind: 'read', table: 'silver.tasks', snapshot });
    assert.deepEqual(titles(again.rows), titles(rows));
  }
  assert.equal(new Set(older.map(({ rows }) => titles(rows).join())).size, older.length);
  console.log(`${older.length - 1} older snapshots are as they were`);
  const sqlCount = async (view: string) => {
    const { data } = await client.lake.query({ body: { sql: `select count(*)::int from ${view}` } });
    return data.rows[0]![0];
  };
  await eventually(async () => assert.equal(await sqlCount('messages'), published * recipients));
  const messages = await reader.ask<Read>({ kind: 'read', table: 'silver.messages' });
  assert.equal(messages.rows.length, published * recipients);
  const bronzePath = join(lake, 'iceberg/bronze/messages');
  const { operations } = await reader.ask<Read>({ kind: 'read', path: bronzePath });
  const isCompacted = operations.includes('overwrite');
  console.log(isCompacted ? 'Files were merged meanwhile' : 'There was too little to be merged');
  assert(isCompacted || rate < changesPerSecond * 0.9);
  const tables = await reader.ask<string[]>({ kind: 'tables' });
  for (const table of tables) await reader.ask<Read>({ kind: 'read', table });
  console.log(`All ${tables.length} tables of the catalog can be read`);

  // By path, with everybody's rows.
  await eventually(async () => {
    const { rows } = await reader.ask<Read>({ kind: 'read', path });
    assert(new Set(rows.filter(row => row.new).map(row => row.key)).size >= written + 1);
  });
  console.log('The tables by path hold every task');
  reader.close();
}
