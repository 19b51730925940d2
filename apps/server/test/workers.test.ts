import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAll, type Run, startWith } from './command.ts';
import { addressOf } from './signed-in.ts';

// A server of two processes, as it is started for real. Few tests: each start costs seconds.

const eventPollMs = 5_000; // how often an event stream looks by itself

let folder: string;
let run: Run;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-workers-'));
  run = startIn(folder, '--port', '0', '--no-demo');
  url = await addressOf(run);
}, 120_000);
afterAll(async () => {
  killAll();
  await rm(folder, { recursive: true, force: true });
});

const startIn = (path: string, ...flags: string[]): Run =>
  startWith(
    { env: { STAK_WORKERS: '2', STAK_LAKE: 'off', STAK_DRAIN_SECONDS: '1' } },
    'start',
    '--path',
    join(path, 'data'),
    ...flags,
  );

const workerPids = (of: Run = run): number[] =>
  execFileSync('pgrep', ['-P', String(of.child.pid), '-f', 'main.mjs'], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);

// How many processes answer, by a metric that each of them counts as one.
async function serving(at = url): Promise<number> {
  // A connection that was being handed to a process when that was killed is never answered.
  const init = { headers: { Connection: 'close' }, signal: AbortSignal.timeout(3_000) };
  const response = await fetch(`${at}/metrics`, init).catch(() => undefined);
  const text = (await response?.text()) ?? '';
  return Number(/^stak_processes (\d+)$/m.exec(text)?.[1]);
}

test('prints its address once, serves with every process, and sums their metrics', async () => {
  expect(run.stdout.match(/Stak is at/g)).toHaveLength(1);
  await expect.poll(() => serving(), { timeout: 60_000, interval: 20 }).toBe(2); // the address is said when the first serves
  expect(workerPids()).toHaveLength(2);
});

// Each call on a connection of its own: they are handed out in turn.
const call = async (path: string, init: RequestInit = {}) => {
  const headers = { Connection: 'close', 'Content-Type': 'application/json', ...init.headers };
  const response = await fetch(`${url}${path}`, { ...init, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json() as Promise<Record<string, string>>;
};

let session: Promise<{ Authorization: string }> | undefined;
const signedIn = () => {
  session ??= call('/v1/auth/signup', {
    method: 'POST',
    body: JSON.stringify({
      email: 'ann@example.com',
      password: 'a long enough password',
      name: 'Ann',
      cookie: false,
    }),
  }).then(({ access_token }) => ({ Authorization: `Bearer ${access_token}` }));
  return session;
};

test('an event stream receives what any process wrote, long before its next poll', async () => {
  const headers = await signedIn();
  const heard = new Map<string, number[]>();
  const over = new AbortController();
  const streams = await Promise.all(
    Array.from({ length: 4 }, () => fetch(`${url}/v1/tasks/events`, { headers, signal: over.signal })),
  );
  const reading = streams.map(async ({ body }) => {
    const text = body!.pipeThrough(new TextDecoderStream());
    for await (const chunk of text as unknown as AsyncIterable<string>)
      for (const [, title] of chunk.matchAll(/"title":"(task \d+)"/g))
        heard.get(title!)?.push(performance.now());
  });
  const waits: number[] = [];
  for (let n = 0; n < 6; n++) {
    heard.set(`task ${n}`, []);
    await call('/v1/tasks', { method: 'POST', headers, body: JSON.stringify({ title: `task ${n}` }) });
    const writtenAt = performance.now();
    await expect.poll(() => heard.get(`task ${n}`)!.length, { interval: 5 }).toBe(4);
    waits.push(Math.max(...heard.get(`task ${n}`)!) - writtenAt);
  }
  over.abort();
  await Promise.allSettled(reading);
  const sorted = waits.toSorted((a, b) => a - b);
  console.log(
    `all streams heard after ${sorted[3]!.toFixed(1)} ms (median), ${sorted[5]!.toFixed(1)} ms (most)`,
  );
  expect(sorted[3]).toBeLessThan(eventPollMs / 2); // four that poll would rarely all be that quick
}, 60_000);

test('deliveries of killed processes are taken over at once', async () => {
  const headers = await signedIn();
  const hits: string[] = [];
  const destination = createServer((request, response) => {
    hits.push(request.headers['webhook-id'] as string);
    if (hits.length > 1) response.end();
  });
  destination.listen(0, '127.0.0.1');
  await once(destination, 'listening');
  const { port } = destination.address() as AddressInfo;
  const post = (path: string, body: object) =>
    call(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const { sourceId } = await post('/v1/sources', { name: 'shop' });
  await post(`/v1/sources/${sourceId}/connections`, {
    name: 'there',
    destinationUrl: `http://127.0.0.1:${port}/`,
  });
  await call(`/in/${sourceId}`, { method: 'POST', body: '{}' });
  await expect.poll(() => hits.length).toBe(1);
  for (const pid of workerPids()) process.kill(pid, 'SIGKILL');
  await expect.poll(() => serving(), { timeout: 60_000, interval: 20 }).toBe(2);
  const servingAt = performance.now();
  await expect.poll(() => hits.length, { interval: 20 }).toBe(2);
  console.log(`delivered again ${(performance.now() - servingAt).toFixed(0)} ms after all served`);
  expect(new Set(hits).size).toBe(1);
  destination.close();
  destination.closeAllConnections();
}, 120_000);

test('restarts a killed process, and serves meanwhile', async () => {
  const [victim, other] = workerPids();
  process.kill(victim!, 'SIGKILL');
  await expect.poll(workerPids).not.toContain(victim);
  // A connection that was being handed to it as it died may be lost; the next one is answered.
  const ready = () =>
    fetch(`${url}/readyz`, { headers: { Connection: 'close' }, signal: AbortSignal.timeout(3000) }).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(ready).toBe(200);
  await expect.poll(() => serving(), { timeout: 60_000 }).toBe(2);
  expect(workerPids()).toContain(other);
  expect(run.stdout).toContain('"signal":"SIGKILL"');
}, 90_000);

test('reports once why it cannot start, and exits', async () => {
  const second = startIn(join(folder, 'second'), '--port', new URL(url).port, '--no-demo');
  expect(await second.code).toBe(1);
  expect(second.stderr).toBe(
    `stak: port ${new URL(url).port} is already in use; choose another with --port\n`,
  );
}, 60_000);

test('stops without failing a readiness request', async () => {
  const path = join(folder, 'stopped');
  const stopping = startIn(path, '--port', '0', '--no-demo');
  const at = await addressOf(stopping);
  await expect.poll(() => serving(at), { timeout: 60_000, interval: 20 }).toBe(2);
  const ask = (what: string, headers = {}) =>
    fetch(`${at}/${what}`, { headers, signal: AbortSignal.timeout(10_000) });
  const answers: number[] = [];
  let isReady = true;
  const probe = async () => {
    while (isReady) {
      const { status } = await ask('readyz', { Connection: 'close' });
      isReady = status === 200;
      await new Promise(setImmediate);
    }
  };
  const client = async () => {
    while (isReady) answers.push((await ask('healthz')).status);
  };
  const clients = [probe(), client(), client()];
  stopping.child.kill('SIGTERM');
  await Promise.all(clients);
  expect(answers.length).toBeGreaterThan(0);
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(await stopping.code, stopping.stdout).toBe(0);
}, 120_000);

test('stops at once while a process starts, which then does not serve', async () => {
  const stopping = startIn(join(folder, 'starting'), '--port', '0', '--no-demo');
  const at = await addressOf(stopping);
  await expect.poll(() => serving(at), { timeout: 60_000, interval: 20 }).toBe(2);
  const before = workerPids(stopping);
  process.kill(before[0]!, 'SIGKILL');
  const isStarting = () => workerPids(stopping).some(pid => !before.includes(pid));
  await expect.poll(isStarting, { interval: 5 }).toBe(true);
  stopping.child.kill('SIGTERM');
  expect(await stopping.code, stopping.stdout).toBe(0);
  expect(stopping.stdout).not.toContain('did not stop in time');
}, 120_000);

test('exits when its data folder is removed, instead of starting empty', async () => {
  const other = await mkdtemp(join(tmpdir(), 'stak-gone-'));
  try {
    const gone = startIn(other, '--port', '0', '--no-demo');
    const at = await addressOf(gone);
    await expect.poll(() => serving(at), { timeout: 60_000, interval: 20 }).toBe(2);
    await rm(join(other, 'data'), { recursive: true });
    process.kill(workerPids(gone)[1]!, 'SIGKILL');
    expect(await gone.code).toBe(1);
    expect(gone.stdout).toContain('the data folder is gone');
    expect(existsSync(join(other, 'data', 'stak.mdb'))).toBe(false);
  } finally {
    await rm(other, { recursive: true, force: true });
  }
}, 60_000);

test('processes end without their supervisor; a repeated signal counts once', async () => {
  const other = await mkdtemp(join(tmpdir(), 'stak-orphans-'));
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  try {
    const lost = startIn(other, '--port', '0', '--no-demo');
    await addressOf(lost);
    const pids = workerPids(lost);
    expect(pids).toHaveLength(2);
    lost.child.kill('SIGKILL');
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);

    const twice = startIn(other, '--port', '0', '--no-demo');
    await addressOf(twice);
    twice.child.kill('SIGTERM');
    twice.child.kill('SIGTERM');
    expect(await twice.code).toBe(0);
  } finally {
    await rm(other, { recursive: true, force: true });
  }
}, 60_000);
