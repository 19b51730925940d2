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
  const path = request.url!.endsWith('/') ? `${request.url}index.html` : request.url!;
  const body = await readFile(inProject('page/dist', path)).catch(() => undefined);
  response.writeHead(body ? 200 : 404, { 'content-type': types[extname(path)] ?? 'text/plain' });
  response.end(body);
});

let server: Awaited<ReturnType<typeof startOutside>>;
let origin: string;
let call: Awaited<ReturnType<typeof signUp>>['call'];
beforeAll(async () => {
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  origin = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  server = await startOutside('for-the-page', { STAK_CORS_ORIGINS: origin });
  ({ call } = await signUp(server.url));
  await call('/v1/tenants', { tenant_id: 'acme', name: 'Acme', status: 'active' });
  await call('/v1/tenants/acme/users', { user_id: 'ann', display_name: 'Ann' });
});
afterAll(async () => {
  await browser?.close();
  await server.stop();
  backend.close();
});

const browser = await openBrowser();

// The example of a package's README as a program of its own.
async function buildExample(name: string, folder: string): Promise<string> {
  const program = (await firstExample(`packages/${name}`)).replace('http://127.0.0.1:8787', server.url);
  await writeOutside('page', {
    [`${folder}/index.html`]:
      '<!doctype html><body><div id="root"></div><script type="module" src="./main.tsx"></script></body>',
    [`${folder}/main.tsx`]: program,
    'style.d.ts': "declare module '*.css';\n",
  });
  await runOutside('page', 'tsc', [
    ...['--noEmit', '--strict', '--target', 'es2023', '--lib', 'es2023,dom', '--jsx', 'react-jsx'],
    ...['--module', 'preserve', '--moduleResolution', 'bundler', `${folder}/main.tsx`, 'style.d.ts'],
  ]);
  await runOutside('page', 'vite', [
    ...['build', folder, '--base', `/${folder}/`, '--outDir', `../dist/${folder}`, '--logLevel', 'warn'],
  ]);
  return readFile(inProject(`page/dist/${folder}/index.html`), 'utf8');
}

describe('a React app with <Inbox/>', () => {
  it('compiles and is bundled by Vite', async () => {
    expect(await buildExample('inbox-react', 'inbox')).toContain('/inbox/assets/');
  });

  it.skipIf(!browser)('shows a message in a browser (needs Chromium)', async () => {
    ({ token = '' } = await call('/v1/tenants/acme/tokens', { sub: 'ann', scope: 'inbox:read inbox:write' }));
    await call('/v1/tenants/acme/inboxes/main', { title: 'Main' }, 'PUT');
    const message = { title: 'It works outside', body: 'of the workspace' };
    await call('/v1/tenants/acme/inboxes/main/messages', { uids: ['ann'], message });
    const page = await browser!.newPage();
    await page.goto(`${origin}/inbox/`);
    await page.waitForSelector('text=It works outside');
  });
});

describe('a React app with <Portal/>', () => {
  it('compiles and is bundled by Vite', async () => {
    expect(await buildExample('portal-react', 'portal')).toContain('/portal/assets/');
  });

  it.skipIf(!browser)('shows a task in a browser (needs Chromium)', async () => {
    ({ token = '' } = await call('/v1/tenants/acme/tokens', { sub: 'ann', scope: 'tasks:read tasks:write' }));
    const page = await browser!.newPage();
    await page.goto(`${origin}/portal/`);
    await page.waitForSelector('text=In progress');
  });
});
