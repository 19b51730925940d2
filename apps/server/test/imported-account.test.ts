import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { importFrom } from '../src/cli/store/archive-actions.ts';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { mallory, ofMallory, writeArchive } from './forged-archive-fixture.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('an account that was imported without its credentials keeps its data when its owner sets a new password by mail', {
  timeout: 60_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stak-imported-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'data');
  const mails = join(folder, 'mail');
  vi.stubEnv('STAK_SECRET_KEYS', `k1:${randomBytes(32).toString('base64')}`);
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await writeArchive(ofMallory(), undefined, { to: folder, written: new Map() });
  await importFrom({ path, from: folder, asStored: true, unverified: true });

  const variables = { STAK_LAKE: 'off', STAK_SMTP_URL: pathToFileURL(mails).href };
  const server = await startServer(readServerConfig({ port: 0, path, demo: false }, variables), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  try {
    const { accounts } = createClient({ baseUrl: server.localUrl });
    const email = 'mallory@example.com';
    await accounts.requestPasswordReset({ body: { email } });
    const mail = await vi.waitFor(async () => {
      const names = (await readdir(mails)).filter(name => name.endsWith('.eml'));
      const texts = await Promise.all(names.map(name => readFile(join(mails, name), 'utf8')));
      const found = texts.find(text => text.includes('Subject: Reset your Stak password'));
      expect(found).toBeDefined();
      return found!.replaceAll('=\r\n', '');
    }, 25_000);
    expect(mail).not.toContain('new, empty account');
    const token = /#token=3D(\S+)/.exec(mail)![1]!;
    const password = 'eleven blue lampposts';
    await accounts.finishPasswordReset({ body: { token, newPassword: password } });
    const { data } = await accounts.logIn({ body: { email, password, cookie: false } });
    const owner = createClient({ baseUrl: server.localUrl, token: data.access_token });
    expect((await owner.accounts.getMe()).data).toMatchObject({ userId: mallory, emailVerified: true });
    expect((await owner.tenants.get({ tenant_id: 'mallory-tenant' })).status).toBe(200);
  } finally {
    await server.stop();
  }
});
