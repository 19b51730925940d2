import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@stak/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findServer, recordServer } from '../src/process/server-file.ts';
import { killAll, type Run, stakWith, startWith } from './command.ts';
import { addressOf } from './signed-in.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-found-'));
});
afterEach(killAll);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function startIn(
  name: string,
  env: Record<string, string> = {},
): Promise<Run & { url: string; cwd: string }> {
  const cwd = join(folder, name);
  await mkdir(cwd, { recursive: true });
  const run = startWith({ cwd, env: { STAK_LAKE: 'off', ...env } }, 'start', '--port', '0', '--no-demo');
  return Object.assign(run, { cwd, url: await addressOf(run) });
}
const somewhere = { STAK_URL: 'http://127.0.0.1:1', XDG_CONFIG_HOME: tmpdir() };
const login = (cwd: string, ...more: string[]) =>
  stakWith(
    { cwd, env: { ...somewhere, XDG_CONFIG_HOME: cwd }, input: 'a long enough password\n' },
    ...['login', '--signup', '--email', 'ann@example.com', ...more],
  );

test('a server’s files are private, even in an existing folder', async () => {
  const data = join(folder, 'open/data');
  await mkdir(data, { recursive: true, mode: 0o755 });
  const server = await startIn('open', { STAK_LAKE: '' });
  const account = {
    email: 'ann@example.com',
    password: 'a long enough password',
    name: 'Ann',
    cookie: false,
  };
  await createClient({ baseUrl: server.url }).accounts.signUp({ body: account });
  const inLake = () => readdir(join(data, 'lake'), { recursive: true }).catch(() => []);
  await expect.poll(inLake).toContainEqual(expect.stringMatching(/\.parquet$/));
  const isOpen = async (path: string) => ((await lstat(join(data, path))).mode & 0o077) !== 0;
  const open: string[] = [];
  for (const path of await readdir(data, { recursive: true }))
    if (await isOpen(path).catch(() => false)) open.push(path);
  expect(open).toEqual([]);
});

describe('commands in the folder of a server', () => {
  test.each([
    ['one process', '1'],
    ['several', '2'],
  ])('find it: %s', async (_, STAK_WORKERS) => {
    const server = await startIn(`workers-${STAK_WORKERS}`, { STAK_WORKERS });
    const file = join(server.cwd, 'data/server.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    const signedUp = await login(server.cwd);
    expect(signedUp, signedUp.stderr).toMatchObject({ code: 0 });
    expect(signedUp.stdout).toContain(`Signed in to ${server.url} as`);
    expect(signedUp.stderr).toContain('not to STAK_URL');
    const elsewhere = await login(server.cwd, '--url', 'http://127.0.0.1:1');
    expect(elsewhere.stderr, 'a flag counts more').toContain('client.unreachable');

    server.child.kill('SIGTERM');
    expect(await server.code).toBe(0);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  test('ignore the file of a killed server', async () => {
    const server = await startIn('killed');
    server.child.kill('SIGKILL');
    await server.code;
    const file = join(server.cwd, 'data/server.json');
    expect(JSON.parse(await readFile(file, 'utf8')).url).toBe(server.url);
    expect(findServer(join(server.cwd, 'data'))).toBeUndefined();
    const again = await startIn('killed');
    expect(findServer(join(again.cwd, 'data'))).toBe(again.url);
  });
});

describe('the server file of a folder', () => {
  const write = async (record: unknown) => {
    const path = await mkdtemp(join(folder, 'word-'));
    await writeFile(join(path, 'server.json'), typeof record === 'string' ? record : JSON.stringify(record));
    return path;
  };

  test('is trusted if it names this machine and a running process', async () => {
    const path = await mkdtemp(join(folder, 'word-'));
    await writeFile(join(path, 'server.json'), 'old');
    await chmod(join(path, 'server.json'), 0o644);
    const forget = recordServer(path, 'http://127.0.0.1:8787');
    expect((await stat(join(path, 'server.json'))).mode & 0o777).toBe(0o600);
    expect(findServer(path)).toBe('http://127.0.0.1:8787');
    forget();
    expect(findServer(path)).toBeUndefined();
  });

  test('is ignored if it names another machine, another process with the same pid, or nonsense', async () => {
    const { pid } = process;
    const ours = await mkdtemp(join(folder, 'word-'));
    recordServer(ours, 'http://127.0.0.1:8787');
    const { began } = JSON.parse(await readFile(join(ours, 'server.json'), 'utf8'));
    const records = [
      { url: 'http://203.0.113.7:8787', pid, began },
      { url: 'https://evil.example', pid, began },
      { url: 'http://127.0.0.1:8787', pid, began: '1' },
      { url: 'http://127.0.0.1:8787', pid: 4_194_304, began },
      { url: 'file:///etc/passwd', pid, began },
      { url: 'http://127.0.0.1:8787', pid: -1 },
      {},
      [],
      'no JSON',
      '',
    ];
    for (const record of records)
      expect(findServer(await write(record)), JSON.stringify(record)).toBeUndefined();
    expect(findServer(join(folder, 'missing'))).toBeUndefined();
  });

  test('counts while the server that last wrote it runs', async () => {
    const path = await mkdtemp(join(folder, 'word-'));
    const forget = recordServer(path, 'http://127.0.0.1:1111');
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await writeFile(
      join(path, 'server.json'),
      JSON.stringify({ url: 'http://127.0.0.1:2222', pid: other.pid, began: await beganOf(other.pid!) }),
    );
    forget(); // not its own any more
    expect(findServer(path)).toBe('http://127.0.0.1:2222');
    other.kill('SIGKILL');
    await once(other, 'close');
    expect(findServer(path)).toBeUndefined();
  });
});

const beganOf = async (pid: number) =>
  (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined))?.replace(/^.*\) /s, '').split(' ')[19];

test('stak demo writes only to the server of its folder', async () => {
  const server = await startIn('somebody-else');
  const empty = join(folder, 'no-server');
  await mkdir(join(empty, 'data'), { recursive: true });
  const demo = { email: 'demo@example.com', password: 'a password', isFilled: true };
  await writeFile(join(empty, 'data/demo.json'), JSON.stringify(demo));
  const env = { STAK_URL: server.url };
  expect(await stakWith({ cwd: empty, env }, 'demo')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('no server runs in ./data'),
  });
  const other = await stakWith({ cwd: server.cwd }, 'demo', '--url', 'http://127.0.0.1:1');
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining(`is at ${server.url}, not at`) });
});
