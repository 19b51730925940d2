import { codeOf } from '@stak/accounts/authenticator-app';
import { type Client, createClient } from '@stak/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { openGithub } from './github.ts';
import { type MailFolder, openMailFolder } from './mail-folder.ts';
import { newAccount, openPage, openSignedInPage, returnLater } from './signed-in-page.ts';
import { openTestServer, type TestServer } from './test-server.ts';
import { expectUsable } from './usability.ts';

const browser = await openBrowser();
let server: TestServer;
let mails: MailFolder;
let github: Awaited<ReturnType<typeof openGithub>>;
const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

beforeAll(async () => {
  if (!browser) return;
  mails = await openMailFolder();
  github = await openGithub();
  server = await openTestServer({ STAK_SMTP_URL: mails.url }, { github: github.settings });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  github?.close();
  await mails?.close();
});

const openMembers = (path: string | undefined = '/console/account?tab=members') =>
  openSignedInPage(browser!, server.url, { path });
const accountIdOf = async (client: Client) => (await client.accounts.readOrganisation()).data.accountId;

const tokenTo = async (email: string, subject: string) =>
  new URL(await mails.linkTo(email, subject)).hash.slice('#token='.length);

// Beside the one of the page.
async function openSession(email: string, password: string): Promise<Client> {
  const baseUrl = server.url;
  const { data } = await createClient({ baseUrl }).accounts.logIn({
    body: { email, password, cookie: false },
  });
  return createClient({ baseUrl, token: (data as { access_token: string }).access_token });
}

// In another session, so that the one of the page has not shown it.
async function addFactor(email: string, password: string) {
  const { accounts } = await openSession(email, password);
  const { secret } = (await accounts.beginAuthenticator({ body: { password } })).data;
  return (await accounts.confirmAuthenticator({ body: { code: codeOf(secret) } })).data;
}

// Somebody with an account of their own, who has joined an organisation.
async function joinedBy(owner: Client, name: string, role: 'admin' | 'member') {
  const account = { ...newAccount(), name };
  const baseUrl = server.url;
  const { data } = await createClient({ baseUrl }).accounts.signUp({ body: { ...account, cookie: false } });
  const client = createClient({ baseUrl, token: data.access_token });
  await owner.accounts.invite({ body: { email: account.email, role } });
  await client.accounts.acceptInvitation({ body: { token: await tokenTo(account.email, 'Join') } });
  return { ...account, client, userId: data.user_id };
}

async function choose(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

const describeOrganisation = describe.skipIf(!browser);
describeOrganisation(browser ? 'an organisation' : 'an organisation (needs a browser)', slowly, () => {
  it('gets another admin, with a recent second factor', async () => {
    const { page, client, email, password, failures } = await openMembers(undefined);
    await joinedBy(client, 'Gus', 'member');
    const { recoveryCodes } = await addFactor(email, password);

    await page.goto(`${server.url}/console/account?tab=members`);
    await page.getByRole('combobox', { name: 'Role of Gus' }).click();
    await page.getByRole('option', { name: 'admin' }).click();
    const dialog = page.getByRole('dialog', { name: 'Show your second factor again' });
    await dialog.getByLabel('Code').fill(recoveryCodes[0]!);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('The role is changed.').waitFor();
    const roles = (await client.accounts.listMembers()).data.data.map(one => [one.name, one.role]);
    expect(Object.fromEntries(roles)).toEqual({ Gus: 'admin', Sample: 'owner' });
    expect(failures).toEqual([]);
  });

  it('gets another owner, with a recent second factor', async () => {
    const { page, client, email, password, failures } = await openMembers(undefined);
    await joinedBy(client, 'Gus', 'member');
    const { recoveryCodes } = await addFactor(email, password);

    await page.goto(`${server.url}/console/account?tab=members`);
    await choose(page, 'Gus', 'Transfer ownership');
    const form = page.getByRole('form', { name: 'Transfer the organisation' });
    await form.getByLabel('Your password').first().fill('not my password');
    await form.getByRole('button', { name: 'Transfer' }).click();
    await form.getByText('This is not your password.').waitFor();
    expect(await page.getByText('This did not work').count()).toBe(0);
    await form.getByLabel('Your password').first().fill(password);
    await form.getByRole('button', { name: 'Transfer' }).click();
    const dialog = page.getByRole('dialog', { name: 'Show your second factor again' });
    await dialog.getByLabel('Code').fill(recoveryCodes[0]!);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await form.waitFor({ state: 'detached' });
    const roles = (await client.accounts.listMembers()).data.data.map(one => [one.name, one.role]);
    expect(Object.fromEntries(roles)).toEqual({ Gus: 'owner', Sample: 'admin' });
    await page.getByRole('row', { name: /Sample.*Admin/ }).waitFor();

    // With nowhere else to go, who leaves is signed out.
    await choose(page, 'Sample', 'Leave');
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('is switched for another one, and the page shows if that failed', async () => {
    const { page, email, password, failures } = await openMembers(undefined);
    const client = await openSession(email, password); // does not move when the page does
    await client.accounts.verifyEmail({ body: { token: await tokenTo(email, 'Verify') } });
    const { userId } = await joinedBy(client, 'Gus', 'admin');
    await client.accounts.changeMemberRole({ userId, body: { role: 'owner' } });
    await page.goto(`${server.url}/console/account?tab=members`);
    await page.getByRole('button', { name: 'Organisation Sample' }).click();
    await page.getByRole('menuitem', { name: 'New organisation' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Harbour');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Organisation Harbour' }).click();
    await page.getByRole('menuitem', { name: /^Sample/ }).click();
    await page.getByRole('button', { name: 'Organisation Sample' }).click();
    await page.getByRole('menuitem', { name: 'Members' }).click();
    await expect.poll(() => page.title()).toBe('Members · Settings · Stak');

    const leave = async () => {
      await choose(page, 'Sample', 'Leave');
      await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    };
    await page.getByRole('row', { name: /Gus.*Owner/ }).waitFor();
    await client.accounts.changeMemberRole({ userId, body: { role: 'member' } }); // the page does not know yet
    await leave();
    await page.getByRole('button', { name: 'Organisation Harbour' }).waitFor();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('This did not work').waitFor();

    await client.accounts.changeMemberRole({ userId, body: { role: 'owner' } });
    await page.getByRole('button', { name: 'Organisation Harbour' }).click();
    await page.getByRole('menuitem', { name: /^Sample/ }).click();
    await page.getByRole('button', { name: 'Organisation Sample' }).click();
    await page.getByRole('menuitem', { name: 'Members' }).click();
    await leave();
    await page.getByRole('button', { name: 'Organisation Harbour' }).click();
    expect(await page.getByRole('menuitem', { name: /^Sample/ }).count()).toBe(0);
    expect(await page.getByText('This did not work').count()).toBe(0);
    expect(failures).toEqual([]);
  });

  it('reloads in a tab where another person has signed in', async () => {
    const { page, client, failures } = await openMembers();
    await page.getByRole('table', { name: 'Members' }).waitFor();
    const gus = await joinedBy(client, 'Gus', 'member');
    const { request } = page.context(); // the same cookies
    const { email, password } = gus;
    const data = { email, password, cookie: true };
    const { access_token } = await (await request.post(`${server.url}/v1/auth/login`, { data })).json();
    await request.post(`${server.url}/v1/auth/switch`, {
      data: { accountId: await accountIdOf(client), cookie: true },
      headers: { authorization: `Bearer ${access_token}` },
    });
    await page.evaluate('window.isAsBefore = true');
    await client.accounts.endSessions();
    await page.getByRole('link', { name: 'Tasks' }).first().click(); // is refused, and asks for another token
    await expect.poll(() => page.evaluate('window.isAsBefore')).toBe(undefined);
    await page.goto(`${server.url}/console/account?tab=profile`);
    await expect.poll(() => page.getByLabel('Your name').inputValue()).toBe('Gus');
    expect(failures).toEqual([]);
  });

  it('shows all its members, page by page', async () => {
    const { page, failures } = await openMembers(undefined);
    const memberOf = (name: string) => ({
      ...{ userId: `usr_${name}`, name, email: `${name}@example.com` },
      ...{ role: 'member', joinedAt: new Date().toISOString() },
    });
    await page.route(/\/v1\/members/, route => {
      const isFirst = !route.request().url().includes('cursor');
      return route.fulfill({
        json: { data: [memberOf(isFirst ? 'first' : 'last')], next_cursor: isFirst ? 'next' : null },
      });
    });
    await page.goto(`${server.url}/console/account?tab=members`);
    const members = page.getByRole('table', { name: 'Members' });
    await members.getByText('first@example.com').waitFor();
    await page.getByRole('button', { name: 'More members' }).click();
    await members.getByText('last@example.com').waitFor();
    expect(await page.getByRole('button', { name: 'More members' }).count()).toBe(0);
    expect(failures).toEqual([]);
  });

  it('keeps what its owner typed when another person changes the provider', async () => {
    const { page, failures } = await openMembers(undefined);
    const provider = {
      ...{ issuer: 'https://one.example', clientId: 'stak', domains: ['example.com'], defaultRole: 'member' },
      ...{ redirectUri: 'https://stak.example/back', signInUrl: 'https://stak.example/in' },
      updatedAt: '2026-01-01T00:00:00.000Z',
    };
    await page.route('**/v1/organisation/provider', route => route.fulfill({ json: provider }));
    await page.goto(`${server.url}/console/account?tab=members`);
    const issuer = page.getByRole('form', { name: 'Provider' }).getByLabel('Issuer');
    await issuer.fill('https://mine.example');
    provider.updatedAt = '2026-01-02T00:00:00.000Z';
    provider.signInUrl = 'https://stak.example/other';
    await returnLater(page, '/v1/organisation/provider');
    await page.getByText('https://stak.example/other').waitFor();
    await expect.poll(() => issuer.inputValue()).toBe('https://mine.example');
    expect(failures).toEqual([]);
  });
});

describeOrganisation(browser ? 'an invitation' : 'an invitation (needs a browser)', slowly, () => {
  const invited = async () => {
    const { client } = await openMembers(undefined);
    await client.accounts.renameOrganisation({ body: { name: 'Harbour' } });
    const account = newAccount();
    await client.accounts.invite({ body: { email: account.email, role: 'member' } });
    return { ...account, client, link: await mails.linkTo(account.email, 'Join') };
  };

  it('survives signing in through GitHub', async () => {
    const { email, link } = await invited();
    github.person = { id: 21, email };
    const { page, failures } = await openPage(browser!);
    await page.goto(link);
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByRole('link', { name: 'Continue with GitHub' }).waitFor();
    expect(new URL(page.url())).toMatchObject({ search: expect.not.stringContaining('token') });
    await page.getByRole('link', { name: 'Continue with GitHub' }).click();
    await page.getByRole('button', { name: 'Join Harbour' }).click();
    await page.getByRole('button', { name: 'Organisation Harbour' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('of a tenant is mailed once users can sign in to its portal, and leads there', async () => {
    const { page, client, failures } = await openMembers(undefined);
    const tenant_id = 'mailed-harbour';
    await client.tenants.create({ body: { tenant_id, name: 'Harbour', status: 'active' } });
    await page.goto(`${server.url}/console/tenants/${tenant_id}?tab=users`);
    await page.getByRole('button', { name: 'Invite a user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Let users sign in with a mailed code' }).click();
    await dialog.getByText('Nobody can sign in').waitFor({ state: 'detached' });
    await dialog.getByRole('textbox', { name: 'E-mail' }).fill('ines@example.com');
    await page.keyboard.press('Enter');
    await dialog.getByText('is on its way to ines@example.com').waitFor();
    const link = new URL(await mails.linkTo('ines@example.com', 'Join Harbour', /^http\S+#invitation=\S+$/m));
    expect(link.pathname).toBe(`/portal/${tenant_id}`);
    await expect.poll(() => dialog.getByText('#invitation=').innerText()).toBe(link.href);
    await dialog.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('tab', { name: 'Portal' }).click();
    await page.getByText(`${server.url}/portal/${tenant_id}`).waitFor();
    expect(await page.getByText('Nobody can sign in there yet').count()).toBe(0);
    await page.getByLabel('Name', { exact: true }).fill('Bookshop');
    await page.getByRole('button', { name: 'Save the portal' }).click();
    await expect
      .poll(async () => (await client.tenants.getPortal({ tenant_id })).data)
      .toMatchObject({ name: 'Bookshop', sign_in: true });
    await expectUsable(page, 'the portal of a tenant');
    expect(failures).toEqual([]);
  });

  it('survives a sign-up by mail', async () => {
    const variables = { STAK_SMTP_URL: mails.url, STAK_SIGN_UP_BY_MAIL: 'true' };
    const strict = await openTestServer(variables);
    try {
      const { page, failures } = await openPage(browser!);
      const to = encodeURIComponent('/join');
      await page.goto(`${strict.url}/console/sign-in?to=${to}&isNew=true#token=a.token`);
      await page.getByRole('textbox', { name: 'Name' }).fill('New Person');
      await page.getByRole('textbox', { name: 'E-mail' }).fill('joining@example.com');
      await page.getByLabel('Password').first().fill('eleven blue lampposts');
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
      const opened = await page.context().newPage(); // as mail programs do
      await opened.goto(await mails.linkTo('joining@example.com', 'Finish'));
      await opened.getByLabel('Password').first().fill('eleven blue lampposts');
      await opened.getByRole('button', { name: 'Create the account' }).click();
      await opened.getByRole('heading', { name: 'Join an organisation' }).waitFor();
      expect(new URL(opened.url()).hash).toBe('#token=a.token');
      expect(failures).toEqual([]);
    } finally {
      await strict.close();
    }
  });

  it('is resent and withdrawn, and accepted by a person who is signed in', async () => {
    const { page, client, failures } = await openMembers(undefined);
    await client.accounts.renameOrganisation({ body: { name: 'Harbour' } });
    const { email } = newAccount();
    await client.accounts.invite({ body: { email, role: 'member' } });
    const first = await mails.linkTo(email, 'Join');
    await page.goto(`${server.url}/console/account?tab=members`);
    await choose(page, `the invitation of ${email}`, 'Send again');
    await page.getByText('Another e-mail is on its way').waitFor();
    await expect.poll(() => mails.linkTo(email, 'Join')).not.toBe(first);
    await choose(page, `the invitation of ${email}`, 'Withdraw');
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await page.getByText('No open invitations.').waitFor();

    const other = await openSignedInPage(browser!, server.url, { path: '/console/' });
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await other.page.goto(await mails.linkTo(email, 'Join'));
    await other.page.getByRole('alert').waitFor();
    await other.page.getByRole('link', { name: 'Go to Stak' }).waitFor(); // and not the end of the way
    await client.accounts.invite({ body: { email: other.email, role: 'member' } });
    await other.page.goto(await mails.linkTo(other.email, 'Join'));
    await other.page.getByRole('button', { name: 'Join Harbour' }).click();
    await other.page.getByRole('button', { name: 'Organisation Harbour' }).waitFor();
    expect([...failures, ...other.failures]).toEqual([]);
  });
});
