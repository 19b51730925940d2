import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Client, createClient, iterate } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { httpTable } from '@stak/http/table';
import { createLogger, systemClock } from '@stak/kit';
import { listConsumers, readStatus } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { openDatabase } from '../src/store/database.ts';
import { designs } from '../src/store/designs.ts';
import { killAll, type Run, runHere, stakWith, startWith } from './command.ts';
import { untilPrinted } from './signed-in.ts';

const aws = { AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-migrate-'));
  for (const [name, value] of Object.entries(aws)) vi.stubEnv(name, value);
});
afterEach(async () => {
  killAll();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const you = { email: 'you@example.com', password: 'a long enough password', name: 'You', cookie: false };

type Request = { operation: string; text: string };

// A DynamoDB whose answers get lost: every seventh batch is written and answered with an error, others are refused.
async function openTarget() {
  const engine = await createEngine({ path: ':memory:' });
  await engine.execute('CreateTable', {
    TableName: 'of-somebody-else',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  let batches = 0;
  const watch: { onRequest?(request: Request): void | Promise<void> } = {};
  const failWith = (name: string) => Object.assign(new Error('not now'), { name, statusCode: 500 });
  const execute: typeof engine.execute = async (operation, input) => {
    await watch.onRequest?.({ operation, text: JSON.stringify(input) });
    if (operation !== 'BatchWriteItem') return engine.execute(operation, input);
    batches += 1;
    if (batches % 11 === 0) throw failWith('InternalServerError');
    const answer = await engine.execute(operation, input);
    if (batches % 7 === 0) throw failWith('InternalServerError');
    return answer;
  };
  const dynamo = createHttpServer({ execute }, { port: 0 });
  const { url } = await dynamo.listen();
  const close = async () => {
    await dynamo.close();
    await engine.close();
  };
  return { url, watch, close, client: engine.client, execute: engine.execute };
}

// Somebody who writes all the time. Knows of each task what the last answer said, and which answers never came.
function startLoad(client: Client, baseUrl: string, sourceId: string) {
  const titles = new Map<string, Set<string | undefined>>(); // undefined: deleted
  let answered = 0;
  let longestMs = 0;
  let answeredMs = performance.now();
  let isOver = false;
  const note = () => {
    answered += 1;
    longestMs = Math.max(longestMs, performance.now() - answeredMs);
    answeredMs = performance.now();
  };
  async function change(id: string, title: string | undefined, make: () => Promise<unknown>) {
    const known = titles.get(id)!;
    known.add(title);
    await make();
    titles.set(id, new Set([title]));
    note();
  }
  async function write(writer: number): Promise<void> {
    for (let n = 0; !isOver; n++)
      try {
        const title = `${writer} ${n}`;
        const { data } = await client.tasks.create({ body: { title } });
        const { task_id } = data;
        titles.set(task_id, new Set([title]));
        note();
        const next = `${title} changed`;
        if (n % 3 === 1)
          await change(task_id, next, () => client.tasks.update({ task_id, body: { title: next } }));
        if (n % 5 === 1) await change(task_id, undefined, () => client.tasks.delete({ task_id }));
      } catch {
        await setTimeout(20); // paused, killed or on its way
      }
  }
  let events = 0;
  async function send(): Promise<void> {
    while (!isOver)
      try {
        const response = await fetch(`${baseUrl}/in/${sourceId}`, { method: 'POST', body: '{}' });
        if (response.ok) events += 1;
        await response.text();
      } catch {
        await setTimeout(20);
      }
  }
  const running = [write(1), write(2), send()];
  return {
    titles,
    answered: () => answered,
    events: () => events,
    // The longest time without an answer since it was asked last.
    takeLongestMs(): number {
      const ms = Math.round(longestMs);
      longestMs = 0;
      return ms;
    },
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}

const untilMore = async (load: ReturnType<typeof startLoad>, more: number): Promise<void> => {
  const before = load.answered();
  await expect.poll(() => load.answered(), { timeout: 60_000 }).toBeGreaterThan(before + more);
};

test('a store moves under load, through kills and lost responses, without losing acknowledged writes', {
  timeout: 600_000,
}, async () => {
  const target = await openTarget();
  const env = {
    STAK_LAKE: 'off',
    STAK_DEFAULT_PLAN: 'selfhosted',
    STAK_REQUESTS_PER_MINUTE: '1000000',
    STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    STAK_PUBLIC_URL: 'http://127.0.0.1',
  };
  const data = join(folder, 'data');
  const startCommand = (port: string) =>
    startWith({ env }, 'start', '--path', data, '--port', port, '--no-demo');
  let server = startCommand('0');
  await untilPrinted(server, 'Stak is at');
  const { url } = JSON.parse(await readFile(join(data, 'server.json'), 'utf8')) as { url: string };
  const { port } = new URL(url);
  const { data: session } = await createClient({ baseUrl: url }).accounts.signUp({ body: you });
  const client = createClient({ baseUrl: url, token: session.access_token, retries: 0 });
  const { data: source } = await client.webhooks.createSource({ body: { name: 'Shop' } });
  const { sourceId } = source;
  const load = startLoad(client, url, sourceId);
  const migrate = (): Run =>
    startWith({}, 'migrate', '--path', data, '--to', 'aws', '--endpoint', target.url, '--pause', '30s');

  async function restart(): Promise<void> {
    server.child.kill('SIGKILL');
    await server.code;
    server = startCommand(port);
    await untilPrinted(server, 'Stak is at');
  }
  const isBatch = ({ operation }: Request) => operation === 'BatchWriteItem';
  const isHandOver = ({ text }: Request) => text.includes('"consumers"'); // where consumers begin: in the pause
  try {
    await untilMore(load, 150);
    const first = migrate();
    target.watch.onRequest = request => {
      if (isBatch(request)) first.child.kill('SIGKILL'); // while it copies
    };
    await first.code;

    const second = migrate();
    let restarted: Promise<void> | undefined;
    target.watch.onRequest = async request => {
      if (isBatch(request)) restarted ??= restart(); // while it copies
      await restarted;
      if (isHandOver(request)) second.child.kill('SIGKILL'); // while writes are paused
    };
    await second.code;
    delete target.watch.onRequest;
    expect(second.child.signalCode, second.stderr).toBe('SIGKILL');
    expect(second.stdout).toContain('todo-app-data: ');
    await untilMore(load, 50); // the pause has ended by itself

    load.takeLongestMs();
    const run = migrate();
    expect(await run.code, `${run.stderr}${server.stdout}${server.stderr}`).toBe(0);
    expect(run.stdout).toContain('The server continues there.');
    const [, paused] = /paused for ([\d.]+) s/.exec(run.stdout)!;
    expect(Number(paused)).toBeLessThan(10);
    await untilMore(load, 50);
    await load.stop();
    console.log(
      `writes were paused for ${paused} s; nothing was answered for ${load.takeLongestMs()} ms at most`,
    );

    const again = await stakWith({}, 'migrate', '--path', data, '--to', 'aws', '--endpoint', target.url);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('has moved to') });

    // The token of before is still good, and so is everything that was answered.
    const found = new Map<string, string>();
    for await (const task of iterate(client.tasks.list, { limit: 100 })) found.set(task.task_id, task.title);
    for (const [id, allowed] of load.titles) expect([...allowed], id).toContain(found.get(id));
    const { data: counts } = await client.tasks.counts();
    expect(counts.total).toBe(found.size);

    // Each event is counted once, whichever store it was counted in.
    let events = 0;
    for await (const _ of iterate(client.webhooks.listEvents, { sourceId, limit: 100 })) events += 1;
    expect(events).toBeGreaterThanOrEqual(load.events());
    const countOf = async () => (await client.webhooks.readSource({ sourceId })).data.eventCount;
    await expect.poll(countOf).toBe(events);
    await expect.poll(() => unhandled(target.url)).toEqual([]);

    // A server that is started on the folder again continues on the new store.
    await restart();
    const { data: last } = await client.tasks.create({ body: { title: 'Here now' } });
    const { Items = [] } = await target.client.scan({ TableName: 'todo-app-data' });
    expect(JSON.stringify(Items)).toContain(last.task_id);
  } finally {
    await load.stop();
    server.child.kill('SIGTERM');
    await server.code;
    await target.close();
  }
});

test('a migration overwrites nothing, can be abandoned, and is not served before it has finished', {
  timeout: 60_000,
}, async () => {
  const target = await openTarget();
  const open = (path: string) => openDatabase({ kind: 'embedded', path });
  const newStore = async (name: string): Promise<string> => {
    const path = join(folder, name);
    const database = await open(path);
    await createTables(database.control, designs);
    await database.client.put({ TableName: httpTable.name, Item: { pk: name } });
    await database.close();
    return path;
  };
  const migrate = (path: string, ...more: string[]) =>
    runHere('migrate', '--path', path, '--to', 'aws', '--endpoint', target.url, ...more);
  const serve = (prefix: string) => {
    const store = { STAK_STORE: 'aws', STAK_AWS_REGION: 'us-east-1', STAK_AWS_ENDPOINT: target.url };
    const keys = { STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`, STAK_TABLE_PREFIX: prefix };
    const log = createLogger({ level: 'silent' });
    return startServer(readServerConfig({ port: 0, demo: false }, { ...store, ...keys }), { log });
  };
  try {
    const [one, other] = [await newStore('one'), await newStore('other')];
    expect(await migrate(one, '--no-switch')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${httpTable.name}: 1 items`),
    });
    await expect(serve('')).rejects.toThrow('stak migrate is still writing to these tables');
    expect((await migrate(other)).stderr).toContain(
      'another migration or an import has written to these tables',
    );
    expect((await migrate(one, '--prefix', 'dev-')).stderr).toContain('was started here');
    expect((await migrate(one, '--abandon')).stdout).toContain('Given up');
    expect((await migrate(one)).stderr).toContain('an import has written to these tables');

    expect((await migrate(one, '--abandon')).code).toBe(0);
    expect(await migrate(one, '--prefix', 'dev-')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Moved to'),
    });
    const moved = await target.client.get({ TableName: `dev-${httpTable.name}`, Key: { pk: 'one' } });
    expect(moved.Item).toEqual({ pk: 'one' });
    const left = await open(one);
    const write = left.client.put({ TableName: httpTable.name, Item: { pk: 'late' } });
    await expect(write).rejects.toThrow('has moved elsewhere');
    await left.close();
    expect((await migrate(one, '--abandon')).stderr).toContain('has moved to');
    const status = await runHere('streams', 'status', '--path', one);
    expect(status.stderr).toContain(`has moved to ${target.url}, prefix dev-: name that one`);
    const { TimeToLiveDescription: ttl } = (await target.execute('DescribeTimeToLive', {
      TableName: `dev-${httpTable.name}`,
    })) as { TimeToLiveDescription: { TimeToLiveStatus: string } };
    expect(ttl.TimeToLiveStatus).toBe('ENABLED'); // a server of AWS may not change tables
    await (await serve('dev-')).stop();
    // Tables that a server has made by itself.
    await (await serve('own-')).stop();
    await migrate(other, '--abandon');
    expect((await migrate(other, '--prefix', 'own-')).stderr).toContain(
      'is not empty: stak migrate never overwrites',
    );
  } finally {
    await target.close();
  }
});

// Consumers with something left to do, letters included.
async function unhandled(endpoint: string): Promise<string[]> {
  const database = await openDatabase({ kind: 'aws', region: 'us-east-1', endpoint });
  try {
    const store = createStore({ client: database.client });
    const found = await Promise.all(
      (await listConsumers(store)).map(name =>
        readStatus({ store, source: database.source, clock: systemClock }, name),
      ),
    );
    return found
      .filter(({ shards, deadLetters }) => deadLetters > 0 || shards.some(({ behind }) => behind?.records))
      .map(({ consumer }) => consumer);
  } finally {
    await database.close();
  }
}
