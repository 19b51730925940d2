import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createEngine, createHttpServer } from '@stak/engine';
import { createApi, endpoint, json, route, unguarded } from '@stak/http';
import { createLogger, manualClock, seededRandom, systemClock } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { createStore, createTables, defineTable, entity, tableErrors } from '@stak/table';
import { createAdversary } from '@stak/table/adversary';
import { awsClient } from '@stak/table/aws';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { retryWhileUnavailable, storeCheck } from '../src/process/store-check.ts';
import { startWith } from './command.ts';
import { addressOf } from './signed-in.ts';

const run = promisify(execFile);
const succeeds = (program: string, ...args: string[]): Promise<boolean> =>
  run(program, args).then(
    () => true,
    () => false,
  );
const canMount = process.platform === 'linux' && (await succeeds('unshare', '-m', 'true'));
const canMountFile = canMount && (await succeeds('losetup', '--find')) && (await succeeds('mkfs.ext4', '-V'));

const log = createLogger({ level: 'silent' });
const failure = (type: string) => `{"__type":"com.amazonaws.dynamodb.v20120810#${type}","message":"x"}`;

test('probes share one read of one key per second', async () => {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  await createTables(engine, [streamsTable]);
  const clock = manualClock();
  const reads: object[] = [];
  const client = {
    get: (input: Parameters<typeof engine.client.get>[0]) => {
      reads.push(input);
      return engine.client.get(input);
    },
    put: engine.client.put,
  };
  const check = storeCheck(client, clock);
  for (let probe = 0; probe < 20; probe++) await check();
  expect(reads).toHaveLength(1);
  await clock.advance(1_000);
  await Promise.all([check(), check()]);
  expect(reads).toHaveLength(2);
});

test('a store in a folder must be able to commit', async () => {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  await createTables(engine, [streamsTable]);
  const { get, put } = engine.client;
  const check = (client: Pick<typeof engine.client, 'get' | 'put'>, folder?: string) =>
    storeCheck(client, manualClock(), folder)();
  const refuses = () => Promise.reject(new Error('the disk is full'));
  const hangs = () => new Promise<never>(() => {});
  await check({ get, put }, tmpdir());
  await expect(check({ get, put: refuses }, tmpdir())).rejects.toThrow('the disk is full');
  await expect(check({ get, put: hangs }, tmpdir())).rejects.toThrow();
  await expect(check({ get, put }, '/nowhere/at/all'), 'a disk that is gone').rejects.toThrow('ENOENT');
  await check({ get, put: refuses }); // elsewhere a read has to do
});

test.skipIf(process.platform !== 'linux')(
  'a disk that does not know its size is ready (needs /proc)',
  async () => {
    const client = { get: async () => ({}), put: async () => ({}) };
    await storeCheck(client, manualClock(), '/proc')();
  },
);

// In a process of its own: a store whose disk failed may take its process with it.
async function startOnDisk(mount: (disk: string) => Promise<unknown>) {
  const disk = await mkdtemp(join(tmpdir(), 'stak-disk-'));
  await mount(disk);
  const env = { STAK_LAKE: 'off', STAK_LOG_LEVEL: 'error' };
  const server = startWith({ env }, 'start', '--no-demo', '--port', '0', '--path', join(disk, 'data'));
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.code;
    await run('umount', [disk]);
    await rm(disk, { recursive: true });
  });
  const url = await addressOf(server);
  const status = async () => (await fetch(`${url}/readyz`)).status;
  await expect.poll(status).toBe(200);
  return { disk, status, server };
}

test.skipIf(!canMount)(
  'a full disk is not ready (needs the right to mount)',
  async () => {
    const { disk, status } = await startOnDisk(disk =>
      run('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', disk]),
    );
    const filler = join(disk, 'filler');
    await writeFile(filler, Buffer.alloc(31 * 1024 * 1024)).catch(() => {}); // as much as fits
    await expect.poll(status).toBe(503);
    await rm(filler);
    await expect.poll(status).toBe(200);
  },
  30_000,
);

test.skipIf(!canMountFile)(
  'a disk that became read-only is not ready (needs the right to mount a file, and mkfs.ext4)',
  async () => {
    const image = join(await mkdtemp(join(tmpdir(), 'stak-image-')), 'disk');
    onTestFinished(() => rm(dirname(image), { recursive: true }));
    await writeFile(image, '');
    await truncate(image, 64 * 1024 * 1024);
    await run('mkfs.ext4', ['-q', image]);
    const { disk, status, server } = await startOnDisk(disk => run('mount', ['-o', 'loop', image, disk]));
    // A plain `ro` is refused while files are open. This is what the kernel does when the disk has an error.
    await run('mount', ['-o', 'remount,abort', disk]);
    await expect(writeFile(join(disk, 'any'), '')).rejects.toThrow('EROFS');
    // The first one may fail at its flush, which LMDB does not print. The next ones do not reach LMDB.
    const failedWrites = () => server.stderr.match(/Write error/g)?.length ?? 0;
    await expect.poll(status).toBe(503);
    const reported = () => server.stdout.match(/must be opened again/g)?.length;
    await expect.poll(reported).toBeGreaterThan(2);
    expect(await status()).toBe(503);
    expect(failedWrites()).toBeLessThanOrEqual(1);
  },
  30_000,
);

test('a store that is sometimes throttled is ready, one that always is is not', async () => {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  await createTables(engine, [streamsTable]);
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const at = (throttled: number) => {
    const client = createAdversary(engine.client, { random: seededRandom(1), throttled });
    return storeCheck(client, clock);
  };
  await at(0.2)();
  await expect(at(1)()).rejects.toMatchObject({ name: 'ThrottlingException' });
});

test('a start is retried only while the store is unavailable', async () => {
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const log = createLogger({ level: 'silent' });
  const failing = (times: number, error: Error) => {
    let calls = 0;
    return async () => {
      calls += 1;
      if (calls <= times) throw error;
      return calls;
    };
  };
  const busy = tableErrors.create('table.busy', 'away');
  expect(await retryWhileUnavailable(failing(20, busy), { clock, log })).toBe(21);
  const away = retryWhileUnavailable(failing(1000, busy), { clock, log });
  await expect(away).rejects.toThrow(/^the store was throttled or away for 60 seconds: away; check /);
  const wrong = new Error('a wrong key');
  await expect(retryWhileUnavailable(failing(1, wrong), { clock, log })).rejects.toBe(wrong);
});

const things = defineTable({ name: 'things', keys: { partition: 'pk' } });
const thing = entity(things, {
  name: 'thing',
  schema: z.object({ id: z.string() }),
  key: { partition: '{id}' },
});

type Fault = 'hangs' | 'resets' | { status: number; type: string };

function failWith(fault: Fault, incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (fault === 'hangs') return;
  if (fault === 'resets') incoming.socket.resetAndDestroy();
  else
    outgoing
      .writeHead(fault.status, { 'content-type': 'application/x-amz-json-1.0' })
      .end(failure(fault.type));
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// A store that has a fault for so many requests. What is asked of it after them is answered.
async function openFaultyStore(fault: Fault, faults: number) {
  const engine = await createEngine({ path: ':memory:' });
  const dynamo = createHttpServer(engine, { port: 0 });
  const { url } = await dynamo.listen();
  let left = faults;
  const front = createServer((incoming, outgoing) => {
    if (left-- > 0) return failWith(fault, incoming, outgoing);
    const { method, headers } = incoming;
    const asked = request(url, { method, headers }, answer => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on('error', () => outgoing.destroy());
    incoming.pipe(asked);
  });
  const env = {
    STAK_STORE: 'aws',
    STAK_AWS_REGION: 'us-east-1',
    STAK_AWS_ENDPOINT: await listen(front),
    STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    STAK_LAKE: 'off',
  };
  return {
    config: readServerConfig({ port: 0 }, env),
    async close() {
      front.closeAllConnections();
      front.close();
      await dynamo.close();
      await engine.close();
    },
  };
}

const throttles: Fault = { status: 400, type: 'ProvisionedThroughputExceededException' };

test.each<[string, Fault]>([
  ['throttled', throttles],
  ['away', 'resets'],
])('a server that starts while its store is %s becomes ready with the store', async (_, fault) => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } });
  const store = await openFaultyStore(fault, 12);
  const starting = startServer(store.config, { log, passwordCost: { logN: 4, r: 8, p: 1 } });
  onTestFinished(async () => {
    await (await starting).stop({ isAtOnce: true });
    await store.close();
    vi.unstubAllEnvs();
  });
  const { localUrl } = await starting;
  expect(lines.join('')).toContain('the store does not answer; the server starts when it does');
  await expect.poll(async () => (await fetch(`${localUrl}/readyz`)).status).toBe(200);
});

test.each<[string, Fault]>([
  ['throttled', throttles],
  ['away', 'resets'],
])('a server whose store stays %s does not start, and reports why', async (_, fault) => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  const store = await openFaultyStore(fault, Number.POSITIVE_INFINITY);
  onTestFinished(async () => {
    await store.close();
    vi.unstubAllEnvs();
  });
  await expect(startServer(store.config, { log, storeWithinMs: 1 })).rejects.toThrow(
    /^the store was throttled or away for 1 seconds: \S.*; check its address, its region and its capacity/,
  );
});

test.each<[string, Fault]>([
  ['hangs', 'hangs'],
  ['resets', 'resets'],
  ['fails', { status: 500, type: 'InternalServerError' }],
  ['throttles', { status: 400, type: 'ThrottlingException' }],
])('a store that %s causes a 503 with a Retry-After', async (_, fault) => {
  const server = createServer((incoming, outgoing) => failWith(fault, incoming, outgoing));
  const client = awsClient({
    region: 'us-east-1',
    endpoint: await listen(server),
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    answerMs: 50,
  });
  onTestFinished(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const store = createStore({ client, random: () => 0 });
  const read = (path: `/${string}`) =>
    route({
      method: 'get',
      path,
      reaches: 'nothing',
      audit: false,
      stores: 'nothing',
      tenant: 'none',
      mcp: false,
      auth: 'public',
      summary: 'Read',
      problems: ['table.busy', 'http.unavailable'],
      responses: { 200: json(z.object({})) },
    });
  const { app } = createApi({
    info: { title: 'Test', version: '1', description: '' },
    endpoints: [
      endpoint(read('/by-store'), async c => c.json({ found: await store.get(thing, { id: 'a' }) }, 200)),
      // Some read without a store, as those do that scan.
      endpoint(read('/by-client'), async c => c.json(await client.scan({ TableName: 'things' }), 200)),
    ],
    guards: unguarded,
    errors: [tableErrors],
    authenticate: async () => undefined,
    clock: systemClock,
    log,
    checks: { store: storeCheck(client, systemClock) },
  });
  for (const [path, code] of [
    ['/by-store', 'table.busy'],
    ['/by-client', 'http.unavailable'],
  ] as const) {
    const response = await app.request(path);
    expect([response.status, await response.json()]).toMatchObject([503, { code }]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  const ready = await app.request('/readyz');
  expect([ready.status, await ready.json()]).toMatchObject([503, { checks: { store: 'failed' } }]);
});
