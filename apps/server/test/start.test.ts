import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { mountConsole } from '../src/http/console-files.ts';
import { type ServerOptions, startServer } from '../src/process/server.ts';
import { killAll, startWith } from './command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-start-'));
});
afterEach(killAll);
afterAll(() => rm(folder, { recursive: true, force: true }));

const log = createLogger({ level: 'silent' });
const passwordCost = { logN: 4, r: 8, p: 1 };
const startAt = (path: string, env: Record<string, string> = {}) =>
  startServer(readServerConfig({ path, port: 0 }, { STAK_LAKE: 'off', ...env }), { log, passwordCost });

const password = 'a long enough password';

test('keeps its folder private, and reports a missing key before anyone signs in', async () => {
  const path = join(folder, 'own');
  const ann = { email: 'ann@example.com', password, cookie: false };
  const first = await startAt(path);
  expect((await stat(path)).mode & 0o077).toBe(0);
  await createClient({ baseUrl: first.localUrl }).accounts.signUp({ body: { ...ann, name: 'Ann' } });
  await first.stop();

  const other = `other:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`;
  const refused = startAt(path, { STAK_SECRET_KEYS: other });
  await expect(refused).rejects.toThrow(/^There is no key "local" .* STAK_SECRET_KEYS .* secret-key$/);
  const local = (await readFile(join(path, 'secret-key'), 'utf8')).trim();
  const second = await startAt(path, { STAK_SECRET_KEYS: `${other},${local}` });
  const { data } = await createClient({ baseUrl: second.localUrl }).accounts.logIn({ body: ann });
  expect(data.access_token).toBeTypeOf('string');
  await second.stop();
});

test('runs the thread of its lake from the sources, where there is no bundle', async () => {
  const config = readServerConfig({ path: join(folder, 'lake'), port: 0, demo: false }, {});
  const server = await startServer(config, { log, passwordCost });
  onTestFinished(async () => void (await server.stop()));
  const body = { email: 'ann@example.com', password, name: 'Ann', cookie: false };
  const { data } = await createClient({ baseUrl: server.localUrl }).accounts.signUp({ body });
  const client = createClient({ baseUrl: server.localUrl, token: data.access_token });
  await client.tasks.create({ body: { title: 'Buy milk' } });
  const rows = async () => (await client.lake.query({ body: { sql: 'select title from tasks' } })).data.rows;
  await expect.poll(rows, { interval: 200 }).toEqual([['Buy milk']]);
});

test('tells browsers to use https only, on its pages and its API', async () => {
  const config = (env: Record<string, string>) => readServerConfig({ memory: true, port: 0 }, env);
  const extend: ServerOptions['extend'] = api =>
    mountConsole(api, { isHttps: true, folder: import.meta.dirname });
  const server = await startServer(config({ STAK_PUBLIC_URL: 'https://stak.example.com' }), {
    log,
    passwordCost,
    extend,
  });
  onTestFinished(async () => void (await server.stop()));
  for (const page of [
    '/',
    '/console/',
    '/console/missing.js',
    '/docs',
    '/docs/api',
    '/docs/missing',
    '/openapi.json',
    '/v1/me',
    '/nothing',
  ]) {
    const answer = await fetch(server.localUrl + page, { redirect: 'manual' });
    expect(answer.headers.get('strict-transport-security'), page).toBe('max-age=31536000');
    if (answer.status !== 302) expect(answer.headers.get('x-content-type-options'), page).toBe('nosniff');
    if (answer.status === 404) expect(answer.headers.get('cache-control'), page).toMatch(/^no-/);
  }
});

const hasIPv6 = Object.values(networkInterfaces()).some(all => all?.some(one => one.address === '::1'));

test.skipIf(!hasIPv6)(
  'listens on IPv6 (needs ::1), and runs without a demo whose address is taken',
  async () => {
    const path = join(folder, 'data');
    const before = await startAt(path);
    const eve = { email: 'demo@example.com', password, name: 'Eve', cookie: false };
    await createClient({ baseUrl: before.localUrl }).accounts.signUp({ body: eve });
    await before.stop();

    await writeFile(join(folder, '.env'), 'STAK_HOST=::1\nSTAK_PORT=1\nSTAK_DATA=./data\n');
    const run = startWith({ cwd: folder }, 'start', '--port', '0');
    while (!run.stderr.includes('\n')) await Promise.race([once(run.child.stderr!, 'data'), run.code]);
    expect(run.stderr).toMatch(
      /^stak: there is no demo workspace: the store has an account demo@example.com already, and no demo.json .*\n$/,
    );
    const url = /^Stak is at (http:\/\/\[::1\]:\d+) /.exec(run.stdout)![1];
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
  },
);
