import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';

// Two servers on one store, as two workers are, in one process. What each keeps for itself has to be right for both.

const servers: RunningServer[] = [];
let folder: string;
let authorization: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-two-'));
  const env = {
    STAK_LAKE: 'off',
    STAK_DEFAULT_PLAN: 'free',
    STAK_REQUESTS_PER_MINUTE: '120',
    STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
  };
  const config = readServerConfig({ path: join(folder, 'data'), port: 0, workers: 2 }, env);
  const options = { log: createLogger({ level: 'silent' }), passwordCost: { logN: 4, r: 8, p: 1 } };
  for (let n = 0; n < 2; n++) servers.push(await startServer(config, options));
  const person = { email: 'ann@example.com', password: 'a long enough password', name: 'Ann', cookie: false };
  const { json } = await ask(0, 'POST', '/v1/auth/signup', person);
  authorization = `Bearer ${json.access_token}`;
}, 60_000);
afterAll(async () => {
  for (const server of servers) await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function ask(n: number, method: string, path: string, body?: object, headers: object = {}) {
  const response = await fetch(servers[n]!.localUrl + path, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(authorization && { Authorization: authorization }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
  return { status: response.status, json, headers: response.headers };
}

// A limit a minute gets this much back, and a process lets some through before it hears of the other's.
const refilled = (limit: number, sinceMs: number): number => ((performance.now() - sinceMs) / 60_000) * limit;
const late = 20;

test("an account's events per minute are limited by its plan, across processes", async () => {
  const { json } = await ask(0, 'POST', '/v1/sources', { name: 'shop' });
  const send = (n: number) => ask(n % 2, 'POST', `/in/${json.sourceId}`, { n });
  const statuses: number[] = [];
  const beganMs = performance.now();
  // Ten at a time, on both.
  for (let round = 0; round < 16; round++)
    statuses.push(
      ...(await Promise.all(Array.from({ length: 10 }, (_, n) => send(n)))).map(({ status }) => status),
    );
  const accepted = statuses.filter(status => status === 200).length;
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(accepted).toBeGreaterThanOrEqual(100);
  expect(accepted).toBeLessThanOrEqual(100 + refilled(100, beganMs) + late); // each for itself, they would take all
}, 30_000);

test('a change by one process applies in the other', async () => {
  const { json: source } = await ask(0, 'POST', '/v1/sources', { name: 'changing' });
  expect((await ask(1, 'GET', `/v1/sources/${source.sourceId}`)).json.name).toBe('changing');
  expect((await ask(1, 'POST', `/in/${source.sourceId}`, {})).status).not.toBe(404); // and is remembered
  await ask(0, 'DELETE', `/v1/sources/${source.sourceId}`);
  await expect.poll(async () => (await ask(1, 'POST', `/in/${source.sourceId}`, {})).status).toBe(404);
});

test('an idempotency key gets the same response from both processes', async () => {
  const key = { 'Idempotency-Key': 'once' };
  const first = await ask(0, 'POST', '/v1/tasks', { title: 'Tea' }, key);
  const again = await ask(1, 'POST', '/v1/tasks', { title: 'Tea' }, key);
  expect(again.json).toEqual(first.json);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const together = await Promise.all(
    [0, 1, 0, 1].map(n => ask(n, 'POST', '/v1/tasks', { title: 'Milk' }, { 'Idempotency-Key': 'together' })),
  );
  const made = together.filter(({ status }) => status === 201).map(({ json }) => json.task_id);
  expect(new Set(made).size).toBe(1);
});

// The last one: it uses up the limit.
test('requests per minute are counted across processes', async () => {
  let allowed = 0;
  let refused = 0;
  const beganMs = performance.now();
  for (let round = 0; refused === 0 && round < 100; round++) {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(n % 2, 'GET', '/v1/me')));
    allowed += answers.filter(({ status }) => status === 200).length;
    refused += answers.filter(({ status }) => status === 429).length;
  }
  expect(refused).toBeGreaterThan(0);
  expect(allowed).toBeLessThanOrEqual(120 + refilled(120, beganMs) + late); // each for itself, twice as many
}, 60_000);
