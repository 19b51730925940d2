import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAll, type Run, startWith } from './command.ts';

// A server of two processes, as it is started for real. Few tests: each start costs seconds.

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

async function addressOf(of: Run): Promise<string> {
  while (!of.stdout.includes('Stak is at')) await Promise.race([once(of.child.stdout!, 'data'), of.code]);
  return /Stak is at (http:\S+)/.exec(of.stdout)![1]!;
}

const workerPids = (): number[] =>
  execFileSync('pgrep', ['-P', String(run.child.pid), '-f', 'stak.mjs'], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);

// How many processes answer, by a metric that each of them counts as one.
async function serving(): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^stak_processes (\d+)$/m.exec(text)?.[1]);
}

test('says once where it is, serves with every process, and sums their metrics', async () => {
  expect(run.stdout.match(/Stak is at/g)).toHaveLength(1);
  expect(await serving()).toBe(2);
  expect(workerPids()).toHaveLength(2);
});

test('starts a process again that was killed, and goes on meanwhile', async () => {
  const [victim, other] = workerPids();
  process.kill(victim!, 'SIGKILL');
  await expect.poll(workerPids).not.toContain(victim);
  const { status } = await fetch(`${url}/readyz`, { headers: { Connection: 'close' } });
  expect(status).toBe(200);
  await expect.poll(serving, { timeout: 60_000 }).toBe(2);
  expect(workerPids()).toContain(other);
  expect(run.stdout).toContain('"signal":"SIGKILL"');
}, 90_000);

test('says what is wrong when it cannot start, once, and ends', async () => {
  const second = startIn(join(folder, 'second'), '--port', new URL(url).port, '--no-demo');
  expect(await second.code).toBe(1);
  expect(second.stderr).toBe(
    `stak: port ${new URL(url).port} is already in use; choose another with --port\n`,
  );
}, 60_000);

// The last one: it ends the server.
test('stops without failing a request of somebody who looks at its readiness', async () => {
  const answers: number[] = [];
  let isReady = true;
  const probe = async () => {
    while (isReady) {
      const { status } = await fetch(`${url}/readyz`, { headers: { Connection: 'close' } });
      isReady = status === 200;
      await new Promise(setImmediate);
    }
  };
  const client = async () => {
    while (isReady) answers.push((await fetch(`${url}/healthz`)).status);
  };
  const clients = [probe(), client(), client()];
  run.child.kill('SIGTERM');
  await Promise.all(clients);
  expect(answers.length).toBeGreaterThan(0);
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(await run.code).toBe(0);
}, 60_000);
