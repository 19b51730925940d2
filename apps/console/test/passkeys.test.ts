import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { openPage, openSignedInPage } from './signed-in-page.ts';
import { openTestServer, type TestServer } from './test-server.ts';
import { expectUsable } from './usability.ts';

const browser = await openBrowser();
let server: TestServer;
let url: string; // browsers make passkeys for names only
beforeAll(async () => {
  if (!browser) return;
  server = await openTestServer();
  url = server.url.replace('127.0.0.1', 'localhost');
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

// The browser's own authenticator, without anybody who would have to touch it.
async function addAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    credentials: async () =>
      (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
  };
}

describe.skipIf(!browser)(browser ? 'passkeys' : 'passkeys (needs a browser)', { timeout: 90_000 }, () => {
  it('are added, sign in alone and after a password, and are renamed and removed', async () => {
    const { page, email, password, client, failures } = await openSignedInPage(browser!, url, {
      path: '/console/account?tab=security',
    });
    const authenticator = await addAuthenticator(page);
    const section = page.getByRole('region', { name: 'Passkeys' });
    const form = section.getByRole('form', { name: 'Add a passkey' });
    await form.getByLabel('Name of the passkey').fill('Laptop');
    await form.getByLabel('Your password').first().fill('not my password');
    await form.getByRole('button', { name: 'Add a passkey' }).click();
    await form.getByText('This is not your password.').waitFor();
    await form.getByLabel('Your password').first().fill(password);
    await form.getByRole('button', { name: 'Add a passkey' }).click();
    await section.getByText('Laptop').waitFor();
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await expect.poll(() => codes.count()).toBe(10);
    await expectUsable(page, 'passkeys');
    const [made] = await authenticator.credentials();
    expect(made).toMatchObject({ isResidentCredential: true, rpId: 'localhost' });
    expect((await client.accounts.getMe()).data).toMatchObject({ passkeys: 1, secondFactor: true });

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await expectUsable(page, 'sign in with a passkey');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    // A password alone is not enough any more.
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await page.getByLabel('Password').first().fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('A recovery code; or sign in with your passkey').waitFor();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    await page.goto(`${url}/console/account?tab=security`);
    await page.getByRole('button', { name: 'Rename Laptop' }).click();
    await page.getByLabel('New name').fill('Old laptop');
    await page.getByRole('button', { name: 'Save the name' }).click();
    await page.getByRole('button', { name: 'Remove Old laptop' }).click();
    const removal = page.getByRole('form', { name: 'Remove the passkey' });
    await removal.getByLabel('Your password').first().fill(password);
    await removal.getByRole('button', { name: 'Remove the passkey' }).click();
    await expect.poll(() => section.getByText('Old laptop').count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await page.getByLabel('Password').first().fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('are required again before an admin key is created', async () => {
    const { page, password } = await openSignedInPage(browser!, url, {
      path: '/console/account?tab=security',
    });
    await addAuthenticator(page);
    const form = page.getByRole('form', { name: 'Add a passkey' });
    await form.getByLabel('Name of the passkey').fill('Laptop');
    await form.getByLabel('Your password').first().fill(password);
    await form.getByRole('button', { name: 'Add a passkey' }).click();
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await expect.poll(() => codes.count()).toBe(10);

    // As the server answers when ten minutes have passed.
    let answersLeft = 1;
    await page.route('**/v1/api-keys', async (route, request) => {
      if (request.method() !== 'POST' || answersLeft === 0) return route.continue();
      answersLeft -= 1;
      const problem = { code: 'accounts.step_up_needed', status: 403, title: 'Forbidden', detail: 'Again' };
      return route.fulfill({ status: 403, contentType: 'application/problem+json', json: problem });
    });
    await page.goto(`${url}/console/account?tab=keys`);
    await page.getByLabel('New key').fill('Deploy');
    await page.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'Show your second factor again' });
    await dialog.getByRole('button', { name: 'Use a passkey' }).waitFor();
    await expectUsable(page, 'step-up');
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('cell', { name: 'Deploy', exact: true }).waitFor();
  });

  it('that are lost or refused can be tried again, and are not offered on an IP address', async () => {
    const { page } = await openPage(browser!);
    await addAuthenticator(page);
    await page.goto(`${url}/console/sign-in`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('The passkey was not used.').waitFor();
    const other = await openSignedInPage(browser!, server.url, { path: '/console/account?tab=security' });
    await other.page.getByText(`Open ${url}/console/ instead`).waitFor();
  });
});
