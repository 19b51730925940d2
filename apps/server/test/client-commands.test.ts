import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeOf } from '@stak/accounts/authenticator-app';
import { createClient } from '@stak/client';
import { createLogger, systemClock } from '@stak/kit';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';
import { type Finished, killAll, stakWith, startWith } from './command.ts';

// The commands that talk to a server, as a person types them.

let home: string;
let server: RunningServer;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'stak-home-'));
  server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, {}), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
});
afterAll(async () => {
  killAll();
  await server.stop();
  await rm(home, { recursive: true });
});

const run = (input: string | undefined, ...args: string[]): Promise<Finished> =>
  stakWith({ env: { XDG_CONFIG_HOME: home }, ...(input !== undefined && { input }) }, ...args);
const good = async (...args: string[]): Promise<string> => {
  const { stdout, stderr, code } = await run(undefined, ...args);
  expect(code, `stak ${args.join(' ')}: ${stderr}`).toBe(0);
  return stdout.trim();
};

// A server that writes its mails to a folder, and the link of the newest one with a subject.
async function openMailing(variables: Record<string, string> = {}) {
  const mails = await mkdtemp(join(tmpdir(), 'stak-mails-'));
  const settings = { STAK_SMTP_URL: pathToFileURL(mails).href, ...variables };
  const mailing = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, settings), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  onTestFinished(async () => {
    await mailing.stop();
    await rm(mails, { recursive: true });
  });
  const linkOf = (subject: string) =>
    vi.waitFor(async () => {
      const names = (await readdir(mails)).filter(one => one.endsWith('.eml')).toSorted();
      const texts = await Promise.all(names.map(name => readFile(join(mails, name), 'utf8')));
      const found = texts.findLast(text => text.includes(`Subject: ${subject}`));
      return /http\S+#token=\S+/.exec(found!.replaceAll('=\r\n', '').replaceAll('=3D', '='))![0];
    }, 30_000);
  return { url: mailing.url, linkOf };
}

test('signs up by mail if the server requires it', async () => {
  const { url, linkOf } = await openMailing({ STAK_SIGN_UP_BY_MAIL: 'true' });
  const login = startWith(
    { input: 'seven green umbrellas\n', isInputOpen: true, env: { XDG_CONFIG_HOME: home } },
    ...['login', '--url', url, '--email', 'bea@example.com', '--signup'],
  );
  login.child.stdin!.end(`${await linkOf('Finish')}\n`);
  expect(await login.code, login.stderr).toBe(0);
  expect(login.stdout).toContain(`Signed in to ${url} as bea@example.com`);
}, 60_000);

test('a person manages and deletes their own account', async () => {
  const { url, linkOf } = await openMailing();
  const own = await mkdtemp(join(tmpdir(), 'stak-home-'));
  onTestFinished(() => rm(own, { recursive: true }));
  const stakAs = (input: string, ...args: string[]) =>
    stakWith({ env: { XDG_CONFIG_HOME: own }, input }, ...args, '--url', url);
  const done = async (input: string, ...args: string[]) => {
    const { stdout, stderr, code } = await stakAs(input, ...args);
    expect(code, `stak ${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  };
  const password = 'seven green umbrellas';
  const login = (email: string, secret: string) => done(`${secret}\n`, 'login', '--email', email);
  await done(`${password}\n`, 'login', '--email', 'cleo@example.com', '--signup');
  await done('', 'me', 'rename', '--name', 'Cleo');
  await done(`${await linkOf('Verify')}\n`, 'me', 'verify');
  expect(await stakAs('', 'me', 'send-verification')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('accounts.already_verified'),
  });

  const next = 'cleo@new.example';
  expect(await done(`${password}\n`, 'me', 'change-email', '--email', next)).toContain('cleo@example.com');
  expect(await done('', 'me', 'confirm-email', await linkOf('Confirm the change'))).toContain('other');
  expect(await done('', 'me', 'confirm-email', await linkOf('Confirm your new'))).toContain('is changed');
  const shown = JSON.parse(await done('', 'me', 'show', '--json'));
  expect(shown).toMatchObject({ email: next, emailVerified: true, name: 'Cleo' });

  await done(`${password}\neleven blue lampposts\n`, 'me', 'change-password');
  await login(next, 'eleven blue lampposts');
  const sessions = JSON.parse(await done('', 'me', 'sessions', '--json'));
  const other = sessions.find((one: { isCurrent: boolean }) => !one.isCurrent);
  await done('', 'me', 'end-session', other.sessionId);
  expect(JSON.parse(await done('', 'me', 'sessions', '--json'))).toHaveLength(1);

  const reset = startWith(
    { input: '', isInputOpen: true, env: { XDG_CONFIG_HOME: own } },
    ...['me', 'reset-password', '--url', url, '--email', next],
  );
  reset.child.stdin!.end(`${await linkOf('Reset')}\nnine red bicycles\n`);
  expect(await reset.code, reset.stderr).toBe(0);
  await login(next, 'nine red bicycles');

  const { servers } = JSON.parse(await readFile(join(own, 'stak', 'credentials.json'), 'utf8'));
  const { accounts } = createClient({ baseUrl: url, token: servers[url].accessToken });
  const { secret } = (await accounts.beginAuthenticator({ body: { password: 'nine red bicycles' } })).data;
  const { recoveryCodes } = (await accounts.confirmAuthenticator({ body: { code: codeOf(secret) } })).data;

  const file = join(own, 'everything.tar');
  const sure = (code = '') => `${next}\nnine red bicycles\n${code}\na long passphrase\n`;
  expect(await stakAs(sure(), 'me', 'delete')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--without-download'),
  });
  expect(await stakAs('ann@example.com\n', 'me', 'delete', '--to', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not the address'),
  });
  await writeFile(file, 'something else');
  const taken = await stakAs(sure(recoveryCodes[0]), 'me', 'delete', '--to', file);
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('everything.tar') });
  expect(await readFile(file, 'utf8')).toBe('something else');
  await rm(file);
  const used = await stakAs(sure(recoveryCodes[0]), 'me', 'delete', '--to', file);
  expect(used).toMatchObject({ code: 1, stderr: expect.stringContaining('accounts.code_wrong') });
  expect(await done(sure(recoveryCodes[1]), 'me', 'delete', '--to', file)).toContain('is being deleted');
  expect((await stat(file)).size).toBeGreaterThan(1000);
  expect(await stakAs('', 'whoami')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('stak login'),
  });
}, 120_000);

test('a person adds and removes a second factor, which an admin key requires', async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };
  const server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, {}), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
    clock,
  });
  const own = await mkdtemp(join(tmpdir(), 'stak-home-'));
  onTestFinished(async () => {
    await server.stop();
    await rm(own, { recursive: true });
  });
  const env = { XDG_CONFIG_HOME: own };
  const url = ['--url', server.url];
  const stakAs = (input: string, ...args: string[]) => stakWith({ env, input }, ...args, ...url);
  const done = async (input: string, ...args: string[]) => {
    const { stdout, stderr, code } = await stakAs(input, ...args);
    expect(code, `stak ${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout.trim();
  };
  const password = 'seven green umbrellas';
  const login = ['login', '--email', 'finn@example.com'];
  await done(`${password}\n`, ...login, '--signup');
  expect(await stakAs('', 'me', 'passkeys')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining(`${server.url}/console/account?tab=security`),
  });
  const early = await stakAs(`${password}\n`, 'me', 'remove-authenticator');
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('accounts.factor_missing') });

  const adding = startWith(
    { input: `${password}\n`, isInputOpen: true, env },
    'me',
    'add-authenticator',
    ...url,
  );
  const secret = await vi.waitFor(() => {
    const [, shown] = /^ {2}((?:[A-Z2-7]{4} ?){8})$/m.exec(adding.stdout)!;
    return shown!.replaceAll(' ', '');
  }, 30_000);
  expect(adding.stdout).toContain(`secret=${secret}&`);
  adding.child.stdin!.write(`${codeOf(secret) === '123456' ? '654321' : '123456'}\n`);
  await vi.waitFor(() => expect(adding.stderr).toContain('wrong'), 30_000);
  adding.child.stdin!.end(`${codeOf(secret)}\n`);
  expect(await adding.code, adding.stderr).toBe(0);
  const recoveryCodes = adding.stdout.match(/^[a-z2-9]{5}-[a-z2-9]{5}$/gm)!;
  expect(recoveryCodes).toHaveLength(10);

  // Signing in asks for a code. It counts as shown, until it is ten minutes old.
  const without = await stakAs(`${password}\n`, ...login);
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('Code from your authenticator') });
  await done(`${password}\n${recoveryCodes[0]}\n`, ...login);
  expect(await done('', 'keys', 'create', '--name', 'fresh', '--scope', 'admin')).toMatch(/^stak_/);

  aheadMs = 11 * 60_000;
  const key = ['keys', 'create', '--name', 'ci', '--scope', 'admin'];
  expect(await stakAs('', ...key)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('Code from your authenticator'),
  });
  expect(await stakAs(`${recoveryCodes[0]}\n`, ...key)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('accounts.code_wrong'),
  });
  expect(await done('', 'keys', 'create', '--name', 'small', '--scope', 'write')).toMatch(/^stak_/);
  expect(await done(`${recoveryCodes[1]}\n`, ...key)).toMatch(/^stak_/);

  const renewed = (await done(`${recoveryCodes[2]}\n`, 'me', 'recovery-codes')).split('\n');
  expect(renewed).toHaveLength(10);
  await done(`${password}\n${renewed[0]}\n`, 'me', 'remove-authenticator');
  await done(`${password}\n`, ...login);
  expect(JSON.parse(await done('', 'me', 'show', '--json'))).toMatchObject({ secondFactor: false });

  expect(JSON.parse(await done('', 'me', 'mails', '--off', 'deliveries', '--json'))).toEqual({
    deliveries: false,
    limits: true,
  });
  expect(await done('', 'me', 'mails', '--on', 'deliveries', '--off', 'limits')).toMatch(
    /^deliveries +on\nlimits +off$/,
  );
  expect(await stakAs('', 'me', 'mails', '--off', 'invoices')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('deliveries and limits'),
  });
}, 120_000);

test('from signing up to an end user’s token, and signing out', async () => {
  const early = await run(undefined, 'keys', 'list', '--url', server.url);
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('use stak login') });

  const login = ['login', '--url', server.url, '--email', 'ann@example.com'];
  const signedUp = await run('a long enough password\n', ...login, '--signup', '--name', 'Ann');
  expect(signedUp, signedUp.stderr).toMatchObject({ code: 0 });
  expect(signedUp.stdout).toContain(`Signed in to ${server.url} as ann@example.com`);
  const wrong = await run('not the password\n', ...login);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('accounts.credentials_wrong') });

  const file = join(home, 'stak', 'credentials.json');
  expect((await stat(file)).mode & 0o077, 'nobody else may read it').toBe(0);
  expect(await readFile(file, 'utf8')).not.toContain('a long enough password');

  // As if fifteen minutes had passed, in two windows at once: one refreshes, the other waits for it.
  await age(file);
  const [who, keys] = await Promise.all([good('whoami'), good('keys', 'list')]);
  expect(who).toContain('ann@example.com');
  expect(keys, 'what to do is not among the keys').toBe('');

  const key = await good('keys', 'create', '--name', 'ci', '--scope', 'admin');
  expect(key).toMatch(/^stak_/);
  const asKey = await stakWith(
    { env: { XDG_CONFIG_HOME: home, STAK_TOKEN: key } },
    ...['tenants', 'create', '--id', 'acme', '--name', 'Acme'],
  );
  expect(asKey, asKey.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"status": "active"'),
  });
  expect(await good('tenants', 'list')).toContain('acme');
  expect(JSON.parse(await good('whoami', '--json'))).toMatchObject({
    plan: expect.any(String),
    usage: { storage: { usedBytes: expect.any(Number) } },
  });
  expect(JSON.parse(await good('tenants', 'list', '--json'))).toMatchObject([{ tenant_id: 'acme' }]);
  expect(JSON.parse(await good('keys', 'list', '--json'))).toMatchObject([{ name: 'ci' }]);
  expect(JSON.parse(await good('lake', 'insight', '--json'))).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'tasks-completed' })]),
  );

  const token = await good('tokens', 'mint', '--tenant', 'acme', '--user', 'zoe', '--scope', 'profile:read');
  const answer = await fetch(`${server.url}/v1/tenants/acme/users/bob`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status, 'an end user sees no other').toBe(404);

  const trail = (await good('audit', 'export'))
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(trail).toContainEqual(
    expect.objectContaining({ action: 'key.created', by: expect.stringMatching(/^usr_/) }),
  );
  expect(await good('audit', 'list')).toContain('key.created');
  const [, keyId] = /^(key_\w+) +ci /m.exec(await good('keys', 'list')) ?? [];
  await good('keys', 'delete', keyId!);
  expect(await good('logout')).toContain('Signed out');
  expect(await run(undefined, 'whoami')).toMatchObject({ code: 1 });
}, 120_000);

async function age(file: string): Promise<void> {
  const saved = JSON.parse(await readFile(file, 'utf8'));
  for (const one of Object.values<{ accessEndsMs: number }>(saved.servers)) one.accessEndsMs = 0;
  await writeFile(file, JSON.stringify(saved));
}

test('reports mistakes in one line', async () => {
  expect(await run(undefined, 'keys', 'make')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('knows list, create, delete'),
  });
  expect(await run(undefined, 'tenants', 'show')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('which tenant?'),
  });
});
