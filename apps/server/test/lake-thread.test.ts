import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@stak/client';
import { createEngine, type Engine } from '@stak/engine';
import { createLogger, manualClock, superviseWorkers, systemClock } from '@stak/kit';
import { engineSource } from '@stak/streams';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { createLakeHost, type LakeThreadSettings } from '../src/store/lake/lake-host.ts';
import { lakeProgram } from './command.ts';

const log = createLogger({ level: 'silent' });

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stak-thread-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function openStore(path: string) {
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  onTestFinished(() => engine.close());
  await engine.execute('CreateTable', {
    TableName: 'things',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  return engine;
}

const settingsFor = (folder: string): LakeThreadSettings => ({
  store: { kind: 'embedded', path: join(folder, 'data') },
  location: { kind: 'folder', folder: join(folder, 'lake') },
  scratch: join(folder, 'scratch'),
  logLevel: 'silent',
  checkpointMs: 100,
});

const neverAsked = (engine: Engine) => ({
  client: engine.client,
  source: engineSource(engine),
  tables: ['things'],
  hasRequests: async () => false,
  clock: systemClock,
  log,
});

// A thread that is another program than ours.
const programOf = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);

test('a server on disk runs its lake in a thread, which captures, serves queries and stops', async () => {
  const path = join(await temporaryFolder(), 'data');
  const server = await startServer(readServerConfig({ path, port: 0, demo: false }, {}), {
    log,
    passwordCost: { logN: 4, r: 8, p: 1 },
    lakeThread: { program: lakeProgram }, // start.test.ts runs it from the sources
  });
  onTestFinished(async () => void (await server.stop()));
  const credentials = { email: 'ann@example.com', password: 'a long enough password', name: 'Ann' };
  const { data } = await createClient({ baseUrl: server.url }).accounts.signUp({
    body: { ...credentials, cookie: false },
  });
  const client = createClient({ baseUrl: server.url, token: data.access_token });
  await client.tasks.create({ body: { title: 'Buy milk' } });

  const sql = 'select title from tasks';
  await vi.waitUntil(async () => (await client.lake.query({ body: { sql } })).data.rows.length === 1, {
    timeout: 50_000,
    interval: 200,
  });

  // Who has read a message to everyone: one by one, and together with others.
  const location = { tenant_id: 'acme', inbox_key: 'news' };
  await client.tenants.create({ body: { tenant_id: location.tenant_id, name: 'Acme', status: 'active' } });
  await client.inbox.writeInbox({ ...location, body: { title: 'News' } });
  const sent = await client.inbox.broadcast({
    ...location,
    body: { message: { title: 'Sale', body: 'All chairs' } },
  });
  await client.inbox.markRead({ ...location, uid: 'ann', id: sent.data.id });
  await client.inbox.readMany({ ...location, uid: 'bob', body: {} });
  const readers = `select r.uid, b.id from receipts r join broadcasts b using (tenant_key, inbox_key, id)
    where r.readat > 0 order by 1`;
  const readersFor = async (who: typeof client) =>
    (await who.lake.query({ body: { sql: readers } })).data.rows;
  await vi.waitUntil(async () => (await readersFor(client)).length === 2, {
    timeout: 50_000,
    interval: 200,
  });
  expect(await readersFor(client)).toEqual([
    ['ann', sent.data.id],
    ['bob', sent.data.id],
  ]);
  const stranger = await createClient({ baseUrl: server.url }).accounts.signUp({
    body: { ...credentials, email: 'bob@example.com', cookie: false },
  });
  const { access_token: token } = stranger.data;
  expect(await readersFor(createClient({ baseUrl: server.url, token }))).toEqual([]);

  // Nothing of it runs on the thread that answers requests.
  const here = server.services.all.flatMap(({ subscriptions }) => subscriptions.map(({ name }) => name));
  expect(here.filter(name => name.startsWith('lake-'))).toEqual([]);
  await vi.waitFor(
    async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      expect(metrics).toContain('stak_worker_running{worker="lake"} 1');
      expect(metrics).toContain('stak_worker_running{worker="lake maintenance"} 1');
      expect(metrics).toMatch(
        /records_total\{consumer="stream lake-todo-app-data",outcome="records"\} [1-9]/,
      );
      expect(metrics).toMatch(/pattern="lake: places in the streams",kind="write"\} [1-9]/);
    },
    { timeout: 20_000, interval: 200 },
  );
  const { data: status } = await client.system.status();
  expect(status.streams.map(({ consumer }) => consumer)).toContain('lake-todo-app-data');
}, 120_000);

test('a thread that runs out of memory is restarted without affecting the store', async () => {
  const folder = await temporaryFolder();
  const engine = await openStore(join(folder, 'data'));
  const host = createLakeHost({
    settings: settingsFor(folder),
    ...neverAsked(engine),
    heapMb: 16,
    program: programOf('const all = []; for (;;) all.push(new Array(1000).fill({}));'),
  });
  const supervisor = superviseWorkers([host.worker], { clock: systemClock, log, backoffFirstMs: 1 });
  await vi.waitUntil(() => supervisor.states()[0]!.restarts > 0, { timeout: 50_000 });
  expect(supervisor.states()[0]!.lastError?.message).toMatch(/memory/);
  await engine.client.put({ TableName: 'things', Item: { pk: 'a' } });
  await supervisor.stop();
}, 120_000);

test('the thread’s writes are made by its host, with DynamoDB’s responses', async () => {
  const folder = await temporaryFolder();
  const engine = await openStore(join(folder, 'data'));
  const asks = `
    import { parentPort } from 'node:worker_threads';
    const put = { TableName: 'things', Item: { pk: 'a' }, ConditionExpression: 'attribute_not_exists(pk)' };
    parentPort.postMessage({ kind: 'write', id: 1, operation: 'put', input: put });
    parentPort.once('message', ({ failure }) => {
      parentPort.postMessage({ kind: 'write', id: 2, operation: 'put', input: put });
      parentPort.once('message', ({ failure: second }) => {
        if (failure || second.name !== 'ConditionalCheckFailedException') throw new Error('not as expected');
        const workers = [{ name: 'was answered', status: 'running', sinceMs: 0, restarts: 0 }];
        parentPort.postMessage({ kind: 'report', workers, consumers: [], units: [] });
        parentPort.on('message', () => {});
      });
    });`;
  const deps = {
    settings: settingsFor(folder),
    ...neverAsked(engine),
    program: programOf(asks),
    stopMs: 100,
  };
  const host = createLakeHost(deps);
  const stopping = new AbortController();
  const ended = host.worker.run(stopping.signal);
  await vi.waitUntil(() => host.workers().length > 0, { timeout: 20_000 });
  // It does not stop by itself, so it is ended.
  stopping.abort();
  await ended;
  expect((await engine.client.get({ TableName: 'things', Key: { pk: 'a' } })).Item).toEqual({ pk: 'a' });
}, 60_000);

// Each thread rests at once: it has captured everything up to now, and heard nothing.
const rests = `
  import { parentPort, workerData } from 'node:worker_threads';
  const name = String(Math.random());
  const workers = [{ name, status: 'running', sinceMs: 0, restarts: 0 }];
  parentPort.postMessage({ kind: 'report', workers, consumers: [], units: [] });
  parentPort.postMessage({ kind: 'rest', since: Number(workerData.scratch), wakes: 0 });`;

test.each(['a change', 'a notice', 'a request of another process', 'time'] as const)(
  'an idle thread is started again by %s',
  async what => {
    const folder = await temporaryFolder();
    const engine = await openStore(join(folder, 'data'));
    const StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' };
    await engine.execute('UpdateTable', { TableName: 'things', StreamSpecification });
    const clock = manualClock();
    let hasRequests = false;
    const host = createLakeHost({
      ...neverAsked(engine),
      settings: { ...settingsFor(folder), scratch: String(engine.streamPosition()) },
      clock,
      program: programOf(rests),
      hasRequests: async () => hasRequests,
    });
    const stopping = new AbortController();
    const ended = host.worker.run(stopping.signal);
    const nameOfThread = () => host.workers()[0]?.name;
    const until = (isTrue: () => boolean) => vi.waitUntil(isTrue, { timeout: 20_000, interval: 5 });
    await until(() => nameOfThread() !== undefined && clock.sleepers() > 0);
    const first = nameOfThread();
    await clock.advance(60_000);
    expect(nameOfThread()).toBe(first);
    if (what === 'a change') await engine.client.put({ TableName: 'things', Item: { pk: 'a' } });
    if (what === 'a notice') host.wake();
    if (what === 'a request of another process') {
      hasRequests = true;
      await clock.advance(10_000);
    }
    if (what === 'time') await clock.advance(10 * 60_000);
    await until(() => nameOfThread() !== first && nameOfThread() !== undefined);
    stopping.abort();
    await ended;
  },
  60_000,
);

test('an idle thread ends, and starts again for the next change', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'data');
  const server = await startServer(readServerConfig({ path, port: 0, demo: false }, {}), {
    log,
    passwordCost: { logN: 4, r: 8, p: 1 },
    lakeThread: { program: lakeProgram, restAfterMs: 2000 },
  });
  onTestFinished(async () => void (await server.stop()));
  const { data } = await createClient({ baseUrl: server.url }).accounts.signUp({
    body: { email: 'ann@example.com', password: 'a long enough password', name: 'Ann', cookie: false },
  });
  const client = createClient({ baseUrl: server.url, token: data.access_token });
  const addTask = async (title: string, tasks: number) => {
    await client.tasks.create({ body: { title } });
    const sql = 'select title from tasks';
    await vi.waitUntil(async () => (await client.lake.query({ body: { sql } })).data.rows.length === tasks, {
      timeout: 50_000,
      interval: 200,
    });
  };
  const isResting = async () =>
    (await (await fetch(`${server.url}/metrics`)).text()).includes(
      'stak_stream_shards{consumer="stream lake-todo-app-data"} 0',
    );
  await addTask('Buy milk', 1);
  await vi.waitUntil(isResting, { timeout: 60_000, interval: 200 });
  await addTask('Buy bread', 2);
  await vi.waitUntil(async () => !(await isResting()), { timeout: 20_000, interval: 100 });
}, 150_000);
