import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstExample, inProject, root, runOutside, signUp, startOutside, writeOutside } from './outside.ts';

// The browser of the console's tests.
type Page = { goto(url: string): Promise<unknown>; waitForSelector(selector: string): Promise<unknown> };
type Browser = { newPage(): Promise<Page>; close(): Promise<void> };
const browserModule = pathToFileURL(join(root, 'apps/console/test/browser.ts')).href;
const { openBrowser } = (await import(browserModule)) as { openBrowser(): Promise<Browser | undefined> };

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
let token = '';
// The backend of the page: its files, and a token of its user.
const backend = createServer(async (request, response) => {
  if (request.url === '/stak-token') return void response.end(token);
  const path = request.url === '/' ? '/index.html' : request.url!;
  const body = await readFile(inProject('page/dist', path)).catch(() => undefined);
  response.writeHead(body ? 200 : 404, { 'content-type': types[extname(path)] ?? 'text/plain' });
  response.end(body);
});

let server: Awaited<ReturnType<typeof startOutside>>;
let origin: string;
beforeAll(async () => {
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  origin = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  server = await startOutside('for-the-page', { STAK_CORS_ORIGINS: origin });
});
afterAll(async () => {
  await server.stop();
  backend.close();
});

const browser = await openBrowser();

describe('a React app with <Inbox/>', () => {
  it('is right for the compiler and bundled by Vite', async () => {
    const page = (await firstExample('packages/inbox-react')).replace('http://127.0.0.1:8787', server.url);
    await writeOutside('page', {
      'index.html':
        '<!doctype html><body><div id="root"></div><script type="module" src="/main.tsx"></script></body>',
      'main.tsx': page,
      'style.d.ts': "declare module '*.css';\n",
    });
    await runOutside('page', 'tsc', [
      ...['--noEmit', '--strict', '--target', 'es2023', '--lib', 'es2023,dom', '--jsx', 'react-jsx'],
      ...['--module', 'preserve', '--moduleResolution', 'bundler', 'main.tsx', 'style.d.ts'],
    ]);
    await runOutside('page', 'vite', ['build', '--logLevel', 'warn']);
    expect(await readFile(inProject('page/dist/index.html'), 'utf8')).toContain('/assets/');
  });

  it.skipIf(!browser)('shows a message in a browser (needs Chromium)', async () => {
    const { call } = await signUp(server.url);
    await call('/v1/tenants', { tenant_id: 'acme', name: 'Acme', status: 'active' });
    await call('/v1/tenants/acme/users', { user_id: 'ann', display_name: 'Ann' });
    ({ token = '' } = await call('/v1/tenants/acme/tokens', { sub: 'ann', scope: 'inbox:read inbox:write' }));
    await call('/v1/tenants/acme/inboxes/main', { title: 'Main' }, 'PUT');
    const message = { title: 'It works outside', body: 'of the workspace' };
    await call('/v1/tenants/acme/inboxes/main/messages', { uids: ['ann'], message });
    try {
      const page = await browser!.newPage();
      await page.goto(origin);
      await page.waitForSelector('text=It works outside');
    } finally {
      await browser!.close();
    }
  });
});
