// A server whose lake lies in a real S3 server, with faults between them: npm run test:s3
// The S3 server is versitygw, found in PATH or built with Go. Where there is neither, this says so and succeeds.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, iterate } from '@stak/client';
import { createLogger } from '@stak/kit';
import { s3Objects } from '@stak/lake/maintenance';
import { createCatchUp } from '@stak/streams';
import { type AnyEntity, entityOf } from '@stak/table';
import { task, todoAppData, trashed, user } from '@stak/tasks/tables';
import { readServerConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/process/server.ts';
import { openDatabase } from '../../src/store/database.ts';
import { eventually } from '../eventually.ts';
import { findFreePort } from '../free-ports.ts';
import { type Fault, type FaultProxy, openFaultProxy, type S3Request } from './fault-proxy.ts';

const version = 'v1.8.0';
const built = join(tmpdir(), `stak-versitygw-${version}`); // kept between runs: it takes a minute to build
const keys = { AWS_ACCESS_KEY_ID: 'stak', AWS_SECRET_ACCESS_KEY: 'a secret of the test' };
const credentials = { accessKeyId: keys.AWS_ACCESS_KEY_ID, secretAccessKey: keys.AWS_SECRET_ACCESS_KEY };
const bucket = 'lake';
const region = 'us-east-1';
const writeMs = 10_000;
const idleMs = 30_000;

const program = findProgram();
if (program === undefined) console.log('Skipped: there is no versitygw, and no Go that could build it.');
else await check(program);

function findProgram(): string | undefined {
  const runs = (path: string) => spawnSync(path, ['--version']).status === 0;
  const own = join(built, 'versitygw');
  if (runs('versitygw')) return 'versitygw';
  if (existsSync(own) && runs(own)) return own;
  const env = { ...process.env, GOBIN: built };
  const install = ['install', `github.com/versity/versitygw/cmd/versitygw@${version}`];
  return spawnSync('go', install, { env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
    ? own
    : undefined;
}

async function check(path: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stak-s3-'));
  const gateway = await startGateway(path, folder);
  const proxy = await openFaultProxy(gateway.url);
  Object.assign(process.env, keys);
  try {
    await checkObjects(proxy, folder);
    await checkLake(proxy, folder);
  } finally {
    proxy.close();
    gateway.child.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function startGateway(path: string, folder: string): Promise<{ child: ChildProcess; url: string }> {
  const port = await findFreePort();
  const [data, sidecar] = [join(folder, 'objects'), join(folder, 'attributes')];
  await mkdir(join(data, bucket), { recursive: true }); // a folder in it is a bucket
  await mkdir(sidecar);
  const access = ['--access', credentials.accessKeyId, '--secret', credentials.secretAccessKey];
  const args = [...access, '--region', region, '--port', `127.0.0.1:${port}`, '--quiet'];
  // Not every file system of a test has extended attributes.
  const child = spawn(path, [...args, 'posix', '--sidecar', sidecar, data], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => void (await fetch(url)));
  return { child, url };
}

// The operations by themselves: of writers that race one wins, and an upload that is interrupted is whole in the end.
async function checkObjects(proxy: FaultProxy, folder: string): Promise<void> {
  const open = () =>
    s3Objects({
      bucket,
      prefix: 'objects/',
      region,
      endpoint: proxy.url,
      credentials,
      cache: join(folder, 'cache'),
    });
  const objects = open();
  const wins = await Promise.all(
    Array.from({ length: 8 }, (_, n) => objects.putIfAbsent('race', Buffer.from(`writer ${n}`))),
  );
  assert.equal(wins.filter(Boolean).length, 1, 'one of several writers wins');
  assert.equal(String(await objects.get('race')), `writer ${wins.indexOf(true)}`);

  let parts = 0;
  let completions = 0;
  proxy.setFaults(({ query, method }) => {
    if (method === 'POST' && query.has('uploadId')) return completions++ === 0 ? 'lost answer' : undefined;
    if (!query.has('partNumber')) return undefined;
    return (['interrupted', undefined, 'slow down', 'lost answer', undefined] as const)[parts++ % 5];
  });
  const body = randomBytes(40 * 1024 * 1024);
  const file = join(folder, 'large');
  await writeFile(file, body);
  await objects.putFile('large', file);
  const located = await objects.locate('large');
  const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  assert.equal(digest(await readFile(located!)), digest(body), 'a large file is whole');
  proxy.setFaults(() => undefined);
  objects.close();
  assert(completions > 1, 'the answer to the last request of an upload was not lost');
  console.log(`A file of 40 MB was uploaded in parts through ${JSON.stringify(proxy.faults())}`);
}

// Every tenth request is refused; of every third commit, and of some other writes, the answer is lost.
function chooseFault(): (request: S3Request) => Fault | undefined {
  let requests = 0;
  let commits = 0;
  return ({ method, path, headers }) => {
    requests += 1;
    const isCommit = method === 'PUT' && headers['if-none-match'] === '*' && path.includes('/commits/');
    if (isCommit && ++commits % 3 === 0) return 'lost answer';
    if (requests % 10 === 0) return 'slow down';
    if (requests % 37 === 0 && method === 'PUT') return 'interrupted';
    return undefined;
  };
}

async function checkLake(proxy: FaultProxy, folder: string): Promise<void> {
  const config = readServerConfig(
    { path: join(folder, 'data'), port: 0, demo: false },
    {
      STAK_LAKE: `s3://${bucket}/stak`,
      STAK_AWS_REGION: region,
      STAK_S3_ENDPOINT: proxy.url,
      STAK_REQUESTS_PER_MINUTE: '1000000',
    },
  );
  const server = await startServer(config, { log: createLogger({ level: 'error' }) });
  try {
    const { localUrl: baseUrl } = server;
    const person = {
      email: 'ann@example.com',
      password: 'a long enough password',
      name: 'Ann',
      cookie: false,
    };
    const { data } = await createClient({ baseUrl }).accounts.signUp({ body: person });
    const client = createClient({ baseUrl, token: data.access_token });
    const lake = s3Objects({
      bucket,
      prefix: 'stak/',
      region,
      endpoint: proxy.url,
      credentials,
      cache: folder,
    });
    // All commits stay for a while: this counts rows that were written, whatever became of their files.
    const bronzeRows = async (): Promise<number> => {
      let rows = 0;
      for await (const { key } of lake.list(`manifest/${todoAppData.name}/commits/`)) {
        const { add = [] } = JSON.parse(String(await lake.get(key))) as { add?: { rows: number }[] };
        rows += add.reduce((sum, file) => sum + file.rows, 0);
      }
      return rows;
    };
    const isBackfilled = async () => {
      const { tables } = (await client.lake.status()).data;
      const found = tables.find(({ table }) => table === todoAppData.name);
      assert(found?.last_commit_at && found.backfill === null && found.caught_up, 'the lake has not begun');
    };
    await eventually(isBackfilled);
    const stream = await openStream(join(folder, 'data'));
    const rowsBefore = await bronzeRows();
    const before = proxy.faults();
    proxy.setFaults(chooseFault());
    const until = Date.now() + writeMs;
    let written = 0;
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (Date.now() < until) {
          const n = written++;
          const { data: task } = await client.tasks.create({ body: { title: `Task ${n}` } });
          const { task_id } = task;
          if (n % 3 === 0) await client.tasks.update({ task_id, body: { title: `${task.title}, changed` } });
          if (n % 7 === 0) await client.tasks.delete({ task_id });
        }
      }),
    );
    const titles: string[] = [];
    for await (const { title } of iterate(client.tasks.list, { limit: 100 })) titles.push(title);
    const changes = await stream.count();
    await eventually(async () => {
      const { data: answer } = await client.lake.query({ body: { sql: 'select title from tasks' } });
      assert.deepEqual((answer.rows as string[][]).map(([title]) => title).sort(), titles.toSorted());
      assert.equal(await bronzeRows(), rowsBefore + changes, 'every change is in the lake once');
    });
    proxy.setFaults(() => undefined);
    const after = proxy.faults();
    const met = (['slow down', 'lost answer', 'interrupted'] as const).map(
      fault => `${after[fault] - before[fault]} × ${fault}`,
    );
    assert(after['lost answer'] > before['lost answer'], 'no answer was lost');
    console.log(
      `${changes} changes of ${written} tasks are in the lake, each once, through ${met.join(', ')}`,
    );

    lake.close();
    await sleep(idleMs); // what is written after the last change
    const quiet = proxy.requests();
    await sleep(idleMs);
    const perSecond = (proxy.requests() - quiet) / (idleMs / 1000);
    console.log(`At rest it makes ${perSecond.toFixed(2)} requests a second`);
    assert(perSecond <= 1, 'an idle lake makes more than one request a second');
  } finally {
    await server.stop();
  }
}

// How many changes of what the lake follows there have been since.
async function openStream(path: string) {
  const database = await openDatabase({ kind: 'embedded', path }, { isSecondary: true });
  const stream = createCatchUp({ source: database.source, table: todoAppData.name }, new Map());
  await stream.read(() => {});
  const followed = new Set<AnyEntity>([task, user, trashed]);
  return {
    async count(): Promise<number> {
      let count = 0;
      await stream.read(change => {
        const found = entityOf(todoAppData, change.new ?? change.old ?? {});
        if (found && followed.has(found)) count += 1;
      });
      await database.close();
      return count;
    },
  };
}
