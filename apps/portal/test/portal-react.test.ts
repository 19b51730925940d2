import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { openPage } from '@stak/console/test/signed-in-page';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { builtIn, expectUsable, openBrowserAndPortal } from './portal-server.ts';

// A host page with the components in it: the program from the guide, unchanged.

const guide = new URL('../../../docs/guides/portal.md', import.meta.url);
const types: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css' };
const folder = builtIn('portal-host');
let asked = 0; // requests for tokens
let token: Promise<string>;
const host = createServer(async (request, response) => {
  if (request.url === '/stak-token') {
    asked++;
    return void response.end(await token);
  }
  const path = request.url === '/' ? '/index.html' : request.url!;
  response.setHeader('Content-Type', types[extname(path)] ?? 'text/html');
  response.end(await readFile(join(folder, path)).catch(() => ''));
});
await once(host.listen(0, '127.0.0.1'), 'listening');
const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
const { browser, server } = await openBrowserAndPortal({ STAK_CORS_ORIGINS: origin });
afterAll(() => host.close().closeAllConnections());

async function buildGuide(tenant_id: string): Promise<void> {
  const program = /^```tsx\n(.*?)^```$/ms
    .exec(await readFile(guide, 'utf8'))![1]!
    .replace('https://stak.example', server.url)
    .replace('"bookshop"', `"${tenant_id}"`);
  const source = builtIn('portal-host-source');
  await mkdir(source, { recursive: true });
  await writeFile(join(source, 'main.tsx'), program);
  await writeFile(
    join(source, 'index.html'),
    '<!doctype html><html lang="en"><title>Shop</title><style>button { font-size: 2rem }</style><main id="root"></main><script type="module" src="./main.tsx"></script></html>',
  );
  const vite = new URL('../../../node_modules/vite/bin/vite.js', import.meta.url).pathname;
  await promisify(execFile)(process.execPath, [vite, 'build', source, '--outDir', folder, '--emptyOutDir'], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
}

describe.skipIf(!browser)(
  browser ? '@stak/portal-react' : '@stak/portal-react (needs a browser)',
  { timeout: 90_000 },
  () => {
    it('shows tasks and a chat in a host’s page, as the guide describes', async () => {
      const tenant_id = await server.newTenant({ portal_sign_in: 'host', portal_color: '#e03131' });
      await buildGuide(tenant_id);
      const mint = async () => {
        const body = { sub: 'ann', scope: 'tasks:read tasks:write agents:chat' };
        return (await server.host.tenants.mintToken({ tenant_id, body })).data.token;
      };
      // Tokens issued in the same second as a revocation are refused too.
      const mintNew = () =>
        vi.waitFor(async () => {
          const given = await mint();
          const headers = { Authorization: `Bearer ${given}` };
          expect((await fetch(`${server.url}/v1/portal/${tenant_id}/me`, { headers })).status).toBe(200);
          return given;
        }, 60_000);
      token = mint();
      const { page, failures } = await openPage(browser!);
      await page.goto(origin);
      await page.getByLabel('New task').fill('Read Emma');
      await page.getByRole('button', { name: 'Add' }).click();
      await page.getByRole('region', { name: 'To do' }).getByText('Read Emma').waitFor();
      await page.getByRole('button', { name: 'New conversation' }).click();
      await page.getByRole('textbox', { name: 'Message' }).fill('Who wrote Emma?');
      await page.keyboard.press('Enter');
      const answer = await server.model.isAsked();
      answer.say('Jane Austen.');
      answer.finish();
      await page.getByRole('log', { name: 'Messages' }).getByText('Jane Austen.').waitFor();
      // The page has one heading of its own, and the tenant's colour.
      await expect
        .poll(() => page.getByRole('heading', { level: 1 }).allInnerTexts())
        .toEqual(['Your orders']);
      await expect.poll(() => page.getByRole('heading', { level: 2, name: 'Tasks' }).count()).toBe(1);
      const colour = await page.evaluate(
        "getComputedStyle(document.querySelector('form button')).backgroundColor",
      );
      expect(colour).toBe('rgb(224, 49, 49)');
      await expectUsable(page, 'embedded');
      expect(asked, 'a token is kept while it is good').toBe(1);

      // A revoked token is requested again, once for all callers.
      await server.host.tenants.revokeTokens({ tenant_id, body: { sub: 'ann' } });
      token = mintNew();
      await page.getByLabel('Status of Read Emma').selectOption('Done');
      await page.getByRole('region', { name: 'Done' }).getByText('Read Emma').waitFor();
      expect(asked).toBe(2);
      expect(failures).toEqual([]);
    });
  },
);
