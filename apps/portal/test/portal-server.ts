import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@stak/client';
import { openBrowserAnd } from '@stak/console/test/browser-and-server';
import { type Model, openModel } from '@stak/console/test/model';
import { freePort } from '@stak/console/test/test-server';
import { findBarriers, overhang } from '@stak/console/test/usability';
import { createLogger } from '@stak/kit';
import { mountPortal, readServerConfig, startServer } from '@stak/server';
import type { Page } from 'playwright-core';
import { expect, vi } from 'vitest';

/** A build folder for this worker alone: two workers would delete each other's files. */
export const builtIn = (name: string): string =>
  fileURLToPath(new URL(`../../.test/${name}-${process.env.VITEST_POOL_ID}/dist`, import.meta.url));

export const openBrowserAndPortal = (variables: Record<string, string> = {}) =>
  openBrowserAnd(() => openPortalServer(variables));

// The portal as it is built for production, on a server in memory, with a model and a folder for mail.
async function openPortalServer(variables: Record<string, string>) {
  const build = fileURLToPath(new URL('../build.mjs', import.meta.url));
  const folder = builtIn('portal');
  await promisify(execFile)(process.execPath, [build, folder], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const mails = await mkdtemp(join(tmpdir(), 'stak-portal-'));
  const model: Model = await openModel();
  // A tenant's provider needs our address, so the port is chosen before the server starts.
  const port = await freePort();
  const config = readServerConfig(
    { port, memory: true, demo: false },
    {
      STAK_REQUESTS_PER_MINUTE: '100000',
      STAK_OPENAI_URL: model.url,
      STAK_SMTP_URL: pathToFileURL(mails).href,
      ...variables,
    },
  );
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
    extend: (api, services) => mountPortal(api, { folder, readPage: services.portalPageOf }),
  });
  const account = {
    email: 'host@example.com',
    password: 'a long enough password',
    name: 'Host',
    cookie: false,
  };
  const baseUrl = server.localUrl;
  const { data } = await createClient({ baseUrl }).accounts.signUp({ body: account });
  const host = createClient({ baseUrl, token: data.access_token });
  let tenants = 0;
  return {
    url: baseUrl,
    host,
    model,
    async newTenant(settings: object = {}): Promise<string> {
      const tenant_id = `shop-${++tenants}`;
      await host.tenants.create({ body: { tenant_id, name: 'Bookshop', status: 'active' } });
      const body = {
        ai_provider: 'openai-compatible',
        ai_model: 'parrot',
        enabled_skills: ['remember'],
        portal_sign_in: 'mail' as const,
        ...settings,
      };
      await host.tenants.updateSettings({ tenant_id, body }, { ifMatch: '*' });
      return tenant_id;
    },
    // The newest e-mail to an address, with its lines unfolded.
    mailTo: (address: string, subject: string): Promise<string> =>
      vi.waitFor(async () => {
        const names = (await readdir(mails)).filter(name => name.endsWith('.eml')).sort();
        for (const name of names.reverse()) {
          const mail = await readFile(join(mails, name), 'utf8');
          const text = mail.replaceAll('=\r\n', '').replaceAll('=3D', '=');
          if (text.includes(`To: ${address}`) && text.includes(`Subject: ${subject}`)) return text;
        }
        throw new Error(`no mail to ${address}`);
      }, 60_000),
    async close() {
      await server.stop();
      model.close();
      await rm(mails, { recursive: true });
    },
  };
}

export async function expectUsable(page: Page, name: string): Promise<void> {
  expect(await findBarriers(page), name).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await findBarriers(page, ['color-contrast']), `${name} in dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(() => overhang(page), { message: name }).toBe(0);
}
