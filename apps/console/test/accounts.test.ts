import { codeOf } from '@stak/accounts/authenticator-app';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { openGithub } from './github.ts';
import { type MailFolder, openMailFolder } from './mail-folder.ts';
import { readQrCode } from './qr-code.ts';
import { newAccount, openPage, openSignedInPage } from './signed-in-page.ts';
import { openTestServer, type TestServer } from './test-server.ts';
import { expectUsable } from './usability.ts';

// From the screen to the mail and back.

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

const linkTo = (email: string, subject: string) => mails.linkTo(email, subject);

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByLabel('Password').first().fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describe.skipIf(!browser)(browser ? 'an account' : 'an account (needs a browser)', slowly, () => {
  it('recovers from a forgotten password', async () => {
    const { page, email, failures } = await openSignedInPage(browser!, server.url, { path: '/console/' });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
    await expectUsable(page, 'forgotten password');
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText(`If ${email} has an account`).waitFor();

    await page.goto(await linkTo(email, 'Reset'));
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
    await expectUsable(page, 'reset password');
    const field = page.getByLabel('New password').first();
    await field.fill('Password2024!');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('one of the first that are guessed').waitFor(); // at the field
    expect(await page.getByRole('alert').count()).toBe(0);
    await field.fill('eleven blue lampposts');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('heading', { name: 'Your password is changed' }).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signIn(page, email, 'eleven blue lampposts');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    await page.goto(await linkTo(email, 'Reset'));
    await page.getByLabel('New password').first().fill('nine red bicycles');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('This link was used already').waitFor();
    expect(failures).toEqual([]);
  });

  it('starts with a mail if the server requires it', async () => {
    const variables = { STAK_SMTP_URL: mails.url, STAK_SIGN_UP_BY_MAIL: 'true' };
    const strict = await openTestServer(variables);
    try {
      const { page, failures } = await openPage(browser!);
      await page.goto(`${strict.url}/console/sign-in`);
      await page.getByRole('button', { name: 'Create an account' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('New Person');
      await page.getByRole('textbox', { name: 'E-mail' }).fill('new-person@example.com');
      await page.getByLabel('Password').first().fill('eleven blue lampposts');
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
      await page.goto(await linkTo('new-person@example.com', 'Finish'));
      await page.getByRole('heading', { name: 'Finish your sign-up' }).waitFor();
      await expectUsable(page, 'finishing a sign-up');
      await page.getByLabel('Password').first().fill('the one of somebody else');
      await page.getByRole('button', { name: 'Create the account' }).click();
      await page.getByText('This is not the password that you signed up with').waitFor();
      await page.getByLabel('Password').first().fill('eleven blue lampposts');
      await page.getByRole('button', { name: 'Create the account' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(failures).toEqual([]);
    } finally {
      await strict.close();
    }
  });

  it('verifies its address, changes it with both addresses confirming, and changes its name', async () => {
    const { page, email, password, client, failures } = await openSignedInPage(browser!, server.url, {
      path: '/console/account?tab=profile',
    });
    await page.getByText('Verify your e-mail address').waitFor();
    await page.goto(await linkTo(email, 'Verify'));
    await page.getByRole('button', { name: 'This is my address' }).click();
    await page.getByRole('heading', { name: 'Your address is verified' }).waitFor();

    await page.goto(`${server.url}/console/account?tab=profile`);
    await page.getByRole('region', { name: 'Name' }).waitFor();
    await expectUsable(page, 'profile');
    expect(await page.getByText('Verify your e-mail address').count()).toBe(0);
    await page.getByLabel('Your name').fill('Dana');
    await page.getByRole('button', { name: 'Change the name' }).click();
    await page.getByText('Your name is changed.').waitFor();
    await page.getByRole('switch', { name: 'Failing deliveries' }).click();
    const wanted = async () => (await client.accounts.getMe()).data.mails;
    await expect.poll(wanted).toEqual({ deliveries: false, limits: true });
    await page.reload();
    await expect.poll(() => page.getByRole('switch', { name: 'Failing deliveries' }).isChecked()).toBe(false);
    await expect.poll(() => page.getByRole('switch', { name: 'Limits of the plan' }).isChecked()).toBe(true);

    const form = page.getByRole('region', { name: 'E-mail address' });
    const next = `new-${email}`;
    await form.getByLabel('New address').fill(next);
    await form.getByLabel('Your password').first().fill('not my password');
    await form.getByRole('button', { name: 'Change the address' }).click();
    await form.getByText('This is not your password.').waitFor();
    await form.getByLabel('Your password').first().fill(password);
    await form.getByRole('button', { name: 'Change the address' }).click();
    await form.getByText('Check your e-mail').waitFor();
    await page.goto(await linkTo(email, 'Confirm the change'));
    await page.getByRole('button', { name: 'Confirm the change' }).click();
    await page.getByRole('heading', { name: 'One more to go' }).waitFor();
    await page.goto(await linkTo(next, 'Confirm your new address'));
    await page.getByRole('button', { name: 'Confirm the change' }).click();
    await page.getByRole('heading', { name: 'Your address is changed' }).waitFor();
    expect((await client.accounts.getMe()).data).toMatchObject({ email: next, name: 'Dana' });
    // The old address learns where the account went, and whom to tell if it was somebody else.
    const told = await mails.textTo(email, 'Your Stak address was changed');
    expect(told).toContain(`you sign in with ${next}`);
    expect(told).toContain('If it was not you, write to those who run this server at once.');
    expect(failures).toEqual([]);
  });

  it('adds an authenticator app, and needs its code from then on', async () => {
    const { page, email, password, failures } = await openSignedInPage(browser!, server.url, {
      path: '/console/account?tab=security',
    });
    const app = page.getByRole('region', { name: 'Authenticator app' });
    await app.getByLabel('Your password').first().fill(password);
    await app.getByRole('button', { name: 'Add an app' }).click();
    const secret = await page.locator('code').first().innerText();
    expect(await readQrCode(page.getByRole('img', { name: /a code to scan/ }))).toMatch(
      new RegExp(`^otpauth://totp/.*[?&]secret=${secret}(?:&|$)`),
    );
    await expectUsable(page, 'an app');
    await page.getByRole('textbox', { name: 'Code' }).fill(codeOf(secret));
    await page.getByRole('button', { name: 'Confirm' }).click();
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await expect.poll(() => codes.count()).toBe(10);
    const recovery = await codes.first().innerText();
    await page.goto(await mails.linkTo(email, 'Sign-in to Stak was changed', /^http\S+security$/m));
    await app.getByRole('button', { name: 'Remove the app' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, email, password);
    await page.getByLabel('Code').fill('000000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The code is wrong').waitFor();
    await page.getByLabel('Code').fill(recovery);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('invites a person, who joins, works there and is removed', async () => {
    const { page, email, client, failures } = await openSignedInPage(browser!, server.url, {
      path: '/console/account?tab=members',
    });
    await page.getByLabel('Name of the organisation').fill('Harbour');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'Harbour' }).waitFor();
    const invite = page.getByRole('form', { name: 'Invite a member' });
    const send = async (address: string) => {
      await invite.getByLabel('Invite by e-mail').fill(address);
      await invite.getByRole('button', { name: 'Send the invitation' }).click();
    };
    await send(email);
    await invite.getByText('They are a member already.').waitFor(); // at the field
    expect(await page.getByText('This did not work').count()).toBe(0);
    const invited = newAccount();
    await send(invited.email);
    await page.getByRole('table', { name: 'Pending invitations' }).getByText(invited.email).waitFor();
    await page.getByRole('heading', { name: 'Harbour' }).hover(); // away from the button
    await expectUsable(page, 'members');

    const { page: theirs, failures: theirFailures } = await openPage(browser!);
    await theirs.goto(await linkTo(invited.email, 'Join'));
    await theirs.getByText('Sample invites').waitFor();
    await expectUsable(theirs, 'join');
    await theirs.getByRole('button', { name: 'Create an account' }).click();
    await theirs.getByRole('textbox', { name: 'Name' }).fill('Gus');
    await expect.poll(() => theirs.getByRole('textbox', { name: 'E-mail' }).inputValue()).toBe(invited.email);
    await theirs.getByLabel('Password').first().fill(invited.password);
    await theirs.getByRole('button', { name: 'Sign up' }).click();
    await theirs.getByRole('button', { name: 'Join Harbour' }).click();
    const switcher = theirs.getByRole('button', { name: 'Organisation Harbour' });
    await switcher.waitFor();

    // A member sees who is there, and manages nobody.
    await switcher.click();
    await theirs.getByRole('menuitem', { name: 'Members' }).click();
    await theirs.getByRole('table', { name: 'Members' }).getByText(email).waitFor();
    expect(await theirs.getByRole('form', { name: 'Invite a member' }).count()).toBe(0);
    await theirs.getByRole('button', { name: 'Organisation Harbour' }).click();
    await theirs.getByRole('menuitem', { name: /^Gus/ }).click();
    await theirs.getByRole('button', { name: 'Organisation Gus' }).waitFor();
    await theirs.getByRole('button', { name: 'Organisation Gus' }).click();
    await theirs.getByRole('menuitem', { name: /^Harbour/ }).click();
    await theirs.getByRole('button', { name: 'Organisation Harbour' }).waitFor();

    await page.reload();
    await page.getByRole('combobox', { name: 'Role of Gus' }).click();
    await page.getByRole('option', { name: 'viewer' }).click();
    await page.getByText('The role is changed.').waitFor();
    expect((await client.accounts.listMembers()).data.data.map(one => one.role).sort()).toEqual([
      'owner',
      'viewer',
    ]);
    await page.getByRole('button', { name: 'Actions for Gus' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => page.getByText(invited.email).count()).toBe(0);
    await theirs.reload();
    await theirs.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();
    await theirs.goto(await linkTo(invited.email, 'Join'));
    await theirs.getByText('This link was used already').waitFor();
    expect([...failures, ...theirFailures]).toEqual([]);
  });

  it('signs in with GitHub, and links it to an account', async () => {
    const { page, failures } = await openPage(browser!);
    github.person = { id: 7, email: 'octo@example.com' };
    await page.goto(`${server.url}/console/sign-in`);
    await page.getByRole('link', { name: 'Continue with GitHub' }).waitFor();
    await expectUsable(page, 'providers');
    await page.getByRole('link', { name: 'Continue with GitHub' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(`${server.url}/console/account?tab=profile`);
    await page.getByText('octo@example.com').first().waitFor();

    github.person = { id: 8, email: 'elsewhere@example.com' };
    const other = await openSignedInPage(browser!, server.url, { path: '/console/account?tab=security' });
    const form = other.page.getByRole('form', { name: 'Link GitHub' });
    await form.getByLabel('Your password').first().fill('not my password');
    await form.getByRole('button', { name: 'Link GitHub' }).click();
    await form.getByText('This is not your password.').waitFor();
    await form.getByLabel('Your password').first().fill(other.password);
    await form.getByRole('button', { name: 'Link GitHub' }).click();
    await other.page.getByRole('button', { name: 'Unlink GitHub' }).waitFor();
    await expectUsable(other.page, 'security');
    expect((await other.client.accounts.getMe()).data).toMatchObject({ githubId: '8' });
    await other.page.getByRole('button', { name: 'Unlink GitHub' }).click();
    await other.page.getByRole('dialog', { name: 'Unlink GitHub?' }).waitFor();
    expect((await other.client.accounts.getMe()).data, 'it asks first').toMatchObject({ githubId: '8' });
    await other.page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
    await form.waitFor();
    expect([...failures, ...other.failures]).toEqual([]);
  });

  it('unlinks the provider of its organisation', async () => {
    const { page, client, failures } = await openSignedInPage(browser!, server.url);
    const { accountId } = (await client.accounts.readOrganisation()).data;
    // The provider itself is tested with accounts: here it is there, and has linked this person.
    const provider = `**/v1/auth/organisations/${accountId}`;
    await page.route(provider, route => route.fulfill({ json: { accountId, name: 'Harbour' } }));
    let unlinked = 0;
    await page.route(`${provider}/link`, route => {
      unlinked += 1;
      return route.fulfill({ status: 204 });
    });
    await page.goto(`${server.url}/console/account?tab=security`);
    await page.getByRole('button', { name: 'Unlink Harbour' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
    await page.getByText('Your account is no longer linked to Harbour.').waitFor();
    expect([unlinked, failures]).toEqual([1, []]);
  });

  it('changes its password, which ends its other sessions', async () => {
    const { page, email, password, client, failures } = await openSignedInPage(browser!, server.url, {
      path: '/console/account?tab=profile',
    });
    const elsewhere = await openPage(browser!);
    await elsewhere.page.goto(`${server.url}/console/sign-in`);
    await signIn(elsewhere.page, email, password);
    await elsewhere.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const form = page.getByRole('region', { name: 'Password', exact: true });
    await form.getByLabel('Current password').first().fill('not my password');
    await form.getByLabel('New password').first().fill('eleven blue lampposts');
    await form.getByRole('button', { name: 'Change the password' }).click();
    await form.getByText('This is not your password.').waitFor();
    await form.getByLabel('Current password').first().fill(password);
    await form.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Your password is changed, and your other sessions have ended.').waitFor();
    expect((await client.accounts.getMe()).data.email).toBe(email); // this one goes on
    await elsewhere.page.reload();
    await elsewhere.page.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();
    await signIn(elsewhere.page, email, 'eleven blue lampposts');
    await elsewhere.page.getByRole('heading', { name: 'Overview' }).waitFor();
    // Somebody who did not do this themselves takes the account back from the mail.
    const { page: owner } = await openPage(browser!);
    await owner.goto(
      await mails.linkTo(email, 'Your Stak password was changed', /^http\S+forgot-password$/m),
    );
    await owner.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await owner.getByRole('button', { name: 'Send the link' }).click();
    await owner.goto(await linkTo(email, 'Reset'));
    await owner.getByLabel('New password').first().fill('nine red bicycles');
    await owner.getByRole('button', { name: 'Change the password' }).click();
    await owner.getByRole('heading', { name: 'Your password is changed' }).waitFor();
    await elsewhere.page.reload();
    await elsewhere.page.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();
    expect([...failures, ...elsewhere.failures]).toEqual([]);
  });

  it('creates a key with an expiry and allowed addresses, and revokes it', async () => {
    const { page, client, failures } = await openSignedInPage(browser!, server.url, {
      path: '/console/account?tab=keys',
    });
    await page.getByLabel('New key').fill('Backend');
    await page.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: 'in 30 days' }).click();
    await page.getByLabel('IP addresses').fill('everywhere');
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => page.getByLabel('IP addresses').getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByText('This did not work').count()).toBe(0);
    await page.getByLabel('IP addresses').fill('127.0.0.0/8, ::1');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('it is not shown again').waitFor();
    const key = await page.getByRole('alert').locator('code').innerText();
    const [made] = (await client.accounts.listKeys()).data.data;
    expect(made).toMatchObject({ name: 'Backend', permissions: 'write', addresses: ['127.0.0.0/8', '::1'] });
    const days = (Date.parse(made!.expiresAt!) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    const use = async () =>
      (await fetch(`${server.url}/v1/whoami`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await use()).toBe(200);
    await page.getByRole('button', { name: 'Revoke Backend' }).click();
    await page
      .getByRole('dialog', { name: 'Revoke Backend?' })
      .getByRole('button', { name: 'Cancel' })
      .click();
    expect(await use()).toBe(200);
    await page.getByRole('button', { name: 'Revoke Backend' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('There is no key yet.').waitFor();
    expect(await use()).toBe(401);
    expect(failures).toEqual([]);
  });

  it('gets new recovery codes, which replace the old ones', async () => {
    const { page, client, password, failures } = await openSignedInPage(browser!, server.url);
    const { secret } = (await client.accounts.beginAuthenticator({ body: { password } })).data;
    const { data: first } = await client.accounts.confirmAuthenticator({ body: { code: codeOf(secret) } });
    await page.goto(`${server.url}/console/account?tab=security`);
    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Get new codes' }).click();
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await expect.poll(() => codes.count()).toBe(10);
    const [code = ''] = await codes.allInnerTexts();
    expect(first.recoveryCodes).not.toContain(code);
    const stepUp = (given: string) => client.accounts.stepUp({ body: { code: given } });
    await expect(stepUp(first.recoveryCodes[0]!)).rejects.toMatchObject({ code: 'accounts.code_wrong' });
    await stepUp(code);
    expect(failures).toEqual([]);
  });

  it('lists its sessions, and ends one or all of them', async () => {
    const { page, email, password } = await openSignedInPage(browser!, server.url);
    const elsewhere = await openPage(browser!, { userAgent: 'Mozilla/5.0 (iPhone) Version/17 Safari/604.1' });
    await elsewhere.page.goto(`${server.url}/console/sign-in`);
    await signIn(elsewhere.page, email, password);
    await elsewhere.page.getByRole('heading', { name: 'Overview' }).waitFor();

    // The mail about the new device leads to where it is signed out.
    const link = await mails.linkTo(email, 'New sign-in', /^http\S+sessions$/m);
    expect(await mails.textTo(email, 'New sign-in')).toContain(
      'signed in to your account with a new device from 127.0.0.1',
    );
    await page.goto(link);
    await page.getByText('This one').waitFor();
    await page.getByRole('button', { name: 'Sign out Safari on iPhone' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await expect.poll(() => page.getByText('Safari on iPhone').count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();
  });
});
