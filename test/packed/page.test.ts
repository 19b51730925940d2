import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  firstExample,
  inProject,
  root,
  runOutside,
  signUp,
  startOutside,
  strict,
  writeOutside,
} from './outside.ts';

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
  const [, project = '', ...file] = (
    request.url!.endsWith('/') ? `${request.url}index.html` : request.url!
  ).split('/');
  const path = join(project, 'dist', ...file);
  const body = await readFile(inProject(path)).catch(() => undefined);
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
async function buildExample(project: string, name: string): Promise<string> {
  const program = (await firstExample(`packages/${name}`)).replace('http://127.0.0.1:8787', server.url);
  await writeOutside(project, {
    [`${name}/index.html`]:
      '<!doctype html><body><div id="root"></div><script type="module" src="./main.tsx"></script></body>',
    [`${name}/main.tsx`]: program,
  });
  await runOutside(project, 'tsc', [
    ...['--noEmit', ...strict, '--lib', 'es2023,dom', '--jsx', 'react-jsx'],
    ...['--module', 'preserve', '--moduleResolution', 'bundler', `${name}/main.tsx`],
  ]);
  await runOutside(project, 'vite', [
    ...['build', name, '--base', `/${project}/${name}/`, '--outDir', `../dist/${name}`, '--logLevel', 'warn'],
  ]);
  return readFile(inProject(project, 'dist', name, 'index.html'), 'utf8');
}

describe.each([
  ['page', '19'],
  ['oldest', '18'],
])('an app in the project %s, with React %s', (project, major) => {
  it('has that version', async () => {
    const react = await readFile(inProject(project, 'node_modules/react/package.json'), 'utf8');
    expect((JSON.parse(react) as { version: string }).version).toMatch(new RegExp(`^${major}\\.`));
  });

  it.each(['inbox-react', 'portal-react'])('compiles %s, and Vite bundles it', async name => {
    expect(await buildExample(project, name)).toContain(`/${project}/${name}/assets/`);
  });

  it.skipIf(!browser)('shows a message in a browser (needs Chromium)', async () => {
    ({ token = '' } = await call('/v1/tenants/acme/tokens', { sub: 'ann', scope: 'inbox:read inbox:write' }));
    await call('/v1/tenants/acme/inboxes/main', { title: 'Main' }, 'PUT');
    const message = { title: `React ${major} works outside`, body: 'of the workspace' };
    await call('/v1/tenants/acme/inboxes/main/messages', { uids: ['ann'], message });
    const page = await browser!.newPage();
    await page.goto(`${origin}/${project}/inbox-react/`);
    await page.waitForSelector(`text=React ${major} works outside`);
  });

  it.skipIf(!browser)('shows a task in a browser (needs Chromium)', async () => {
    ({ token = '' } = await call('/v1/tenants/acme/tokens', { sub: 'ann', scope: 'tasks:read tasks:write' }));
    const page = await browser!.newPage();
    await page.goto(`${origin}/${project}/portal-react/`);
    await page.waitForSelector('text=In progress');
  });
});
