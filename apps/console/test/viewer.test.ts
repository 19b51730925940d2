import { createClient } from '@stak/client';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { type MailFolder, openMailFolder } from './mail-folder.ts';
import { sampleWorkspace } from './sample-workspace.ts';
import { newAccount, openPage } from './signed-in-page.ts';
import { openTestServer, type TestServer } from './test-server.ts';

const browser = await openBrowser();
let server: TestServer;
let mails: MailFolder;
const slowly = { timeout: 300_000 }; // every button of every page

beforeAll(async () => {
  if (!browser) return;
  mails = await openMailFolder();
  server = await openTestServer({ STAK_SMTP_URL: mails.url });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await mails?.close();
});

// The pages of a member of an organisation that has one of everything.
async function openViewerPage() {
  const baseUrl = server.url;
  const signUp = async () => {
    const account = newAccount();
    const { data } = await createClient({ baseUrl }).accounts.signUp({ body: { ...account, cookie: false } });
    return { ...account, client: createClient({ baseUrl, token: data.access_token }) };
  };
  const owner = await signUp();
  const pages = await sampleWorkspace(owner.client);
  const viewer = await signUp();
  await owner.client.accounts.invite({ body: { email: viewer.email, role: 'viewer' } });
  const token = new URL(await mails.linkTo(viewer.email, 'Join')).hash.slice('#token='.length);
  await viewer.client.accounts.acceptInvitation({ body: { token } });
  const { accountId } = (await owner.client.accounts.readOrganisation()).data;

  const { page, failures } = await openPage(browser!, { viewport: { width: 1280, height: 900 } });
  const { request } = page.context();
  const { email, password } = viewer;
  const signedIn = await request.post(`${baseUrl}/v1/auth/login`, {
    data: { email, password, cookie: true },
  });
  const headers = {
    authorization: `Bearer ${((await signedIn.json()) as { access_token: string }).access_token}`,
  };
  const data = { accountId, cookie: true };
  const switched = await request.post(`${baseUrl}/v1/auth/switch`, { data, headers });
  expect(switched.status()).toBe(200);
  return { page, pages, failures };
}

// Everything clickable that is not just a link to another page. Each tab counts as a page.
const controls = 'button:not([role="tab"]), [role="menuitem"], [role="switch"], input[type="checkbox"]';
const overlays = '[role="dialog"], [role="menu"]';

// Actions that end the session, which everybody may do for themselves.
const farewells = /^(Leave|Sign out|Delete my account)/;

// Several may have the same name, such as one in each row.
const numbered = (names: readonly string[], at: number): string =>
  `${names[at]} ${names.slice(0, at).filter(name => name === names[at]).length}`;

// Waits until every request has received its headers. Event streams never finish.
function watchRequests(page: Page) {
  const waiting = new Set<Request>();
  page.on('request', request => waiting.add(request));
  page.on('response', response => waiting.delete(response.request()));
  page.on('requestfailed', request => waiting.delete(request));
  return async () => {
    await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await expect.poll(() => waiting.size).toBe(0);
  };
}

describe.skipIf(!browser)(browser ? 'a viewer' : 'a viewer (needs a browser)', slowly, () => {
  it('is offered no action that would be refused', async () => {
    const { page, pages, failures } = await openViewerPage();
    const settle = watchRequests(page);
    const refused: string[] = [];
    const clicked: string[] = [];
    page.on('response', response => {
      const request = response.request();
      if (response.status() === 403) refused.push(`${clicked.at(-1)}: ${request.method()} ${request.url()}`);
    });

    // Marks what can be clicked now. A mark stays with its element, whatever changes around it.
    const mark = (within: string, name: string) =>
      page.evaluate(
        `[...document.querySelectorAll(${JSON.stringify(within)})]
          .flatMap(box => [...box.querySelectorAll(${JSON.stringify(controls)})])
          .filter(one => !one.matches(':disabled') && one.checkVisibility())
          .map((one, at) => {
            one.setAttribute('data-${name}', at);
            return one.getAttribute('aria-label') ?? one.textContent;
          })`,
      ) as Promise<string[]>;

    // Clicks everything, including what opens after a click. If a click leads elsewhere, the page is opened again for
    // the rest.
    async function clickAll(within: string, where: string, depth: number): Promise<void> {
      let names = await mark(within, `try-${depth}`);
      const address = page.url();
      const seen = new Set<string>();
      const nextAt = () => names.findIndex((_, at) => !seen.has(numbered(names, at)));
      for (let at = nextAt(); at !== -1; at = nextAt()) {
        seen.add(numbered(names, at));
        const name = names[at]!;
        if (farewells.test(name)) continue;
        const control = page.locator(`[data-try-${depth}="${at}"]`);
        if ((await control.count()) === 0 || !(await control.isVisible()) || !(await control.isEnabled()))
          continue;
        clicked.push(`${where} › ${name}`);
        await control.click();
        await settle();
        if (depth < 3 && (await page.locator(overlays).count()) > 0)
          await clickAll(overlays, `${where} › ${name}`, depth + 1);
        for (let open = await page.locator(overlays).count(); depth === 1 && open > 0; open--)
          await page.keyboard.press('Escape');
        if (depth > 1 || page.url() === address) continue;
        await open(address, where);
        names = await mark(within, `try-${depth}`);
      }
    }
    async function open(address: string, where: string): Promise<void> {
      await page.goto(address);
      await page.getByRole('heading', { level: 2 }).first().waitFor();
      await settle();
      clicked.push(where);
    }
    for (const path of Object.keys(pages)) {
      await open(server.url + path, path);
      await clickAll('main', path, 1);
    }
    expect(refused).toEqual([]);
    expect(clicked.length).toBeGreaterThan(100);
    expect(failures).toEqual([]);
  });

  it('is offered no page and no command without permission', async () => {
    const { page } = await openViewerPage();
    await page.goto(`${server.url}/console/webhooks?create=true`);
    await page.getByText('Shop').first().waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'New source' }).count()).toBe(0);
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('textbox', { name: 'Search everything' }).fill('new');
    expect(await page.getByText('New webhook source').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.goto(`${server.url}/console/inbox?tab=settings`);
    await page.getByText('Your role lets you see this, but not change it.').first().waitFor();
    await expect.poll(() => page.getByRole('textbox', { name: 'Title' }).first().isEnabled()).toBe(false);
  });
});
