import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, StakError } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';
import { runHere } from './command.ts';

let path: string;
let server: RunningServer;
const ann = { email: 'ann@example.com', password: 'seven green umbrellas', name: 'Ann', cookie: false };
let session: string;
let key: string;

beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'stak-accounts-'));
  const env = { STAK_LAKE: 'off', STAK_DEFAULT_PLAN: 'free' };
  server = await startServer(readServerConfig({ path, port: 0, demo: false, workers: 1 }, env), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  session = (await as().accounts.signUp({ body: ann })).data.access_token;
  const made = await as(session).accounts.createKey({ body: { name: 'k', permissions: 'admin' } });
  key = made.data.key;
});
afterAll(async () => {
  await server.stop();
  await rm(path, { recursive: true });
});

const as = (token?: string) =>
  createClient({ baseUrl: server.localUrl, ...(token !== undefined && { token }) });
const run = async (...args: string[]) => {
  const { stdout, stderr, code } = await runHere('accounts', ...args, '--path', path);
  expect(code, stderr).toBe(0);
  return stdout;
};
const logIn = (password: string) =>
  as().accounts.logIn({ body: { email: ann.email, password, cookie: false } });
const codeOf = (error: unknown) => (error instanceof StakError ? error.code : error);
const planNow = async () => (await as(session).accounts.getUsage()).data.plan;

it('lists accounts, sets their plans, and verifies them', async () => {
  expect(await run('list')).toMatch(/usr_\w+ +ann@example\.com +\w+ +unverified/);
  await run('plan', ann.email, '--plan', 'team');
  expect(await planNow()).toBe('team');
  await run('plan', ann.email, '--plan', 'free');
  expect(await planNow()).toBe('free');
  await run('verify', ann.email);
  const { data: me } = await as(session).accounts.getMe();
  expect(me.emailVerified).toBe(true);
  expect(JSON.parse(await run('show', me.userId, '--json'))).toMatchObject({
    email: ann.email,
    state: 'verified',
  });
  const { data: trail } = await as(session).accounts.listAudit({});
  const actions = trail.data.filter(({ via }) => via === 'operator').map(({ action }) => action);
  expect(actions).toEqual(['email.verified', 'plan.changed', 'plan.changed']);
});

it('reports invalid arguments', async () => {
  const fail = async (...args: string[]) => (await runHere('accounts', ...args, '--path', path)).stderr;
  expect(await fail('show')).toContain('which account?');
  expect(await fail('show', 'nobody@example.com')).toContain('User not found');
  expect(await fail('plan', ann.email, '--plan', 'huge')).toContain('--plan needs one of free');
  expect(await fail('remove', ann.email)).toContain('stak accounts knows list, show');
});

it('restores an owner’s access without mail', async () => {
  const link = (await run('reset-password', ann.email)).trim();
  const token = link.split('#token=')[1]!;
  await as().accounts.finishPasswordReset({ body: { token, newPassword: 'eleven blue lampposts' } });
  await expect(
    as()
      .accounts.finishPasswordReset({ body: { token, newPassword: ann.password } })
      .catch(codeOf),
  ).resolves.toBe('accounts.token_refused');
  await expect(as(session).accounts.getMe().catch(codeOf)).resolves.toBe('http.unauthenticated');
  session = (await logIn('eleven blue lampposts')).data.access_token;
});

it('blocks a disabled account, and restores its access when it is enabled', async () => {
  await run('disable', ann.email);
  const isRefused = (token: string) =>
    expect.poll(() => as(token).accounts.getMe().catch(codeOf)).toBe('http.unauthenticated');
  await isRefused(session);
  await isRefused(key);
  await expect(logIn('eleven blue lampposts').catch(codeOf)).resolves.toBe('accounts.disabled');
  await expect(logIn('a wrong password').catch(codeOf)).resolves.toBe('accounts.credentials_wrong');
  await run('enable', ann.email);
  await expect.poll(async () => (await as(key).accounts.getMe()).status).toBe(200);
  session = (await logIn('eleven blue lampposts')).data.access_token;
});
