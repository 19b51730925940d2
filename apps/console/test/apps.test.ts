import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { newAccount, openPage, openSignedInPage } from './signed-in-page.ts';
import { openTestServer, type TestServer } from './test-server.ts';
import { expectUsable } from './usability.ts';

// An app that wants to use somebody's data sends them to the console.

const browser = await openBrowser();
let server: TestServer;
let app: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  if (!browser) return;
  server = await openTestServer();
  app = await openApp();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  app?.close();
});

const verifier = 'a verifier that nobody guesses, 43 characters'.replaceAll(' ', '-').replaceAll(',', '.');

// Waits on the person's machine for the answer.
async function openApp() {
  const answers: URLSearchParams[] = [];
  const listener = createServer((request, response) => {
    answers.push(new URL(request.url!, 'http://127.0.0.1').searchParams);
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>App</title>Back in the app');
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const redirectUri = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
  const registered = await fetch(`${server.url}/v1/oauth/register`, {
    method: 'POST',
    body: JSON.stringify({ client_name: 'Assistant', redirect_uris: ['http://127.0.0.1/callback'] }),
  });
  const { client_id } = (await registered.json()) as { client_id: string };
  const link = `${server.url}/v1/oauth/authorize?${new URLSearchParams({
    client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: 'read write',
    state: 'a state',
  })}`;
  const redeem = async (code: string) => {
    const fields = { client_id, code, redirect_uri: redirectUri, code_verifier: verifier };
    const body = new URLSearchParams({ grant_type: 'authorization_code', ...fields });
    const answer = await fetch(`${server.url}/v1/oauth/token`, { method: 'POST', body });
    return (await answer.json()) as { access_token: string; scope: string };
  };
  return { answers, link, redeem, host: new URL(redirectUri).host, close: () => listener.close() };
}

describe.skipIf(!browser)(
  browser ? 'an app that asks' : 'an app that asks (needs a browser)',
  { timeout: 90_000 },
  () => {
    it('is shown with its name, redirect host and organisation, and approved with a click', async () => {
      const { page, failures, client } = await openSignedInPage(browser!, server.url);
      await page.goto(app.link);
      await page.getByRole('heading', { name: 'Connect an app' }).waitFor();
      for (const part of ['Assistant', app.host, 'Sample'])
        await page.getByRole('main').getByText(part).first().waitFor();
      await expectUsable(page, 'connect an app');
      await page.getByRole('radio', { name: 'Read', exact: true }).check();
      await page.getByRole('button', { name: 'Connect' }).click();
      await page.getByText('Back in the app').waitFor();
      const back = app.answers.at(-1)!;
      expect(back.get('state')).toBe('a state');
      expect(await app.redeem(back.get('code')!)).toMatchObject({ scope: 'read' });

      await page.goto(`${server.url}/console/account?tab=security`);
      const apps = page.getByRole('region', { name: 'Connected apps' });
      await apps.getByRole('cell', { name: 'Assistant', exact: true }).waitFor();
      await apps.getByRole('button', { name: 'Disconnect Assistant' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
      await apps.getByText('No app is connected.').waitFor();
      expect((await client.accounts.listApps()).data.data).toEqual([]);
      expect(failures).toEqual([]);
    });

    it('waits for sign-in, and gets an error when the user declines', async () => {
      const account = newAccount();
      await fetch(`${server.url}/v1/auth/signup`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...account, cookie: false }),
      });
      const { page, failures } = await openPage(browser!);
      await page.goto(app.link);
      await page.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();
      expect(await page.title()).toBe('Sign in · Stak');
      await page.getByLabel('E-mail').fill(account.email);
      await page.getByLabel('Password').first().fill(account.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('button', { name: 'Refuse' }).click();
      await page.getByText('Back in the app').waitFor();
      expect(Object.fromEntries(app.answers.at(-1)!)).toMatchObject({
        error: 'access_denied',
        state: 'a state',
      });
      expect(failures).toEqual([]);
    });

    it('that has no page of its own leaves one that says what was decided', async () => {
      const { page, failures } = await openSignedInPage(browser!, server.url);
      await page.route(`http://${app.host}/**`, route => route.fulfill({ status: 204 }));
      await page.goto(app.link);
      await page.getByRole('button', { name: 'Refuse' }).click();
      await page.getByText('You refused: Assistant has no access.').waitFor();
      expect(await page.getByRole('button').count()).toBe(0);
      expect(await page.title()).toBe('Connect an app · Stak');
      expect(failures).toEqual([]);
    });
  },
);
