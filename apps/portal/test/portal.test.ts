import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { openGoogle } from '@stak/accounts/google-stub';
import { openPage, returnLater } from '@stak/console/test/signed-in-page';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { expectUsable, openBrowserAndPortal } from './portal-server.ts';

const { browser, server } = await openBrowserAndPortal({ STAK_OUTBOUND_ALLOW: '127.0.0.0/8' });
const slowly = { timeout: 90_000 };
const phone = { width: 390, height: 800 };
const log = (page: Page) => page.getByRole('log', { name: 'Messages' });
const open = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click();

describe.skipIf(!browser)(browser ? 'the portal' : 'the portal (needs a browser)', slowly, () => {
  it('leads from an invitation mail to the agent’s first answer, on a phone', async () => {
    const tenant_id = await server.newTenant({ portal_color: '#ffd43b', portal_header_color: '#1864ab' });
    await server.host.tenants.createInvitation({ tenant_id, body: { email: 'ann@example.com', mail: true } });
    const mail = await server.mailTo('ann@example.com', 'Join Bookshop');
    const link = /(\/portal\/shop-\d+#invitation=[\w.-]+)/.exec(mail)![1]!;
    const { page, failures } = await openPage(browser!, { viewport: phone });
    await page.goto(server.url + link);
    await page.getByRole('heading', { name: 'Join Bookshop' }).waitFor();
    expect(page.url()).not.toContain('#');
    await expectUsable(page, 'joining');
    await page.getByLabel('Your name').fill('Ann');
    await page.getByRole('button', { name: 'Accept the invitation' }).click();
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Who wrote Emma?');
    await page.keyboard.press('Enter');
    const answer = await server.model.isAsked();
    answer.say('Jane ', 'Austen');
    await log(page).getByText('Jane Austen').waitFor();
    answer.say(' did.');
    answer.finish();
    await log(page).getByText('Jane Austen did.').waitFor();
    await expectUsable(page, 'chat');
    for (const name of ['Inbox', 'Tasks', 'Memory', 'Profile']) {
      await open(page, name);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectUsable(page, name);
    }
    expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(0);
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Bookshop' }).waitFor();
    await expectUsable(page, 'signing in');
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in to Bookshop' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('signs in with a mailed code, and with its link', async () => {
    const tenant_id = await server.newTenant();
    const body = { user_id: 'bo', display_name: 'Bo', email: 'bo@example.com' };
    await server.host.tenants.createUser({ tenant_id, body });
    const { page } = await openPage(browser!);
    await page.goto(`${server.url}/portal/${tenant_id}`);
    await page.getByLabel('E-mail').fill('bo@example.com');
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
    await page.getByLabel('Code').fill('0000 0000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Request another').waitFor();
    const mail = await server.mailTo('bo@example.com', 'Your code for Bookshop');
    await page.getByLabel('Code').fill(/Your code is (\d{4} \d{4})/.exec(mail)![1]!);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Chat' }).waitFor();

    const other = (await openPage(browser!)).page;
    await other.goto(`${server.url}/portal/${tenant_id}`);
    await other.getByLabel('E-mail').fill('bo@example.com');
    await other.getByRole('button', { name: 'Send me a code' }).click();
    await other.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
    const link = await vi.waitFor(async () => {
      const newest = await server.mailTo('bo@example.com', 'Your code for Bookshop');
      expect(newest).not.toBe(mail);
      return /(\/portal\/shop-\d+#sign-in=[\w.-]+)/.exec(newest)![1]!;
    }, 60_000);
    const elsewhere = (await openPage(browser!)).page;
    await elsewhere.goto(server.url + link);
    await elsewhere.getByRole('button', { name: 'Sign in' }).click();
    await elsewhere.getByRole('heading', { name: 'Chat' }).waitFor();
  });

  it('signs in through the tenant’s provider, and explains a refusal', async () => {
    const tenant_id = await server.newTenant({ portal_sign_in: 'host' });
    const early = await openPage(browser!);
    await early.page.goto(`${server.url}/portal/${tenant_id}#invitation=a-token`);
    const accept = early.page.getByRole('link', { name: 'Accept the invitation' });
    await expect.poll(() => accept.getAttribute('href')).toBe('/console/invitation#a-token');
    const redirectUri = `${server.url}/v1/portal/${tenant_id}/provider/callback`;
    const provider = await openGoogle({ redirectUri });
    onTestFinished(() => provider.close());
    provider.people
      .set('pat', { email: 'pat@books.example', email_verified: true, name: 'Pat Person' })
      .set('eve', { email: 'eve@evil.example', email_verified: true, name: 'Eve' });
    const { clientId: client_id, clientSecret: client_secret } = provider.client;
    await server.host.tenants.putPortalProvider({
      tenant_id,
      body: {
        ...{ issuer: provider.url, client_id, client_secret },
        ...{ domains: ['books.example'], creates_users: true },
      },
    });
    const enter = async (person: string) => {
      const { page, failures } = await openPage(browser!, { extraHTTPHeaders: { 'x-person': person } });
      await page.goto(`${server.url}/portal/${tenant_id}`);
      await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
      return { page, failures };
    };
    const { page, failures } = await enter('pat');
    await page.getByRole('heading', { name: 'Chat' }).waitFor();
    await open(page, 'Profile');
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Pat Person');
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in with your organisation' }).waitFor();
    const eve = await enter('eve');
    await eve.page.getByRole('alert').getByText('You have no access here').waitFor();
    expect(eve.page.url(), 'neither history nor a glance shows it').not.toContain('#');
    expect([...failures, ...eve.failures]).toEqual([]);
    expect((await server.host.tenants.listUsers({ tenant_id })).data.data).toHaveLength(1);
  });

  it('shows the tasks, messages and memory of the user whose token the host passed', async () => {
    const tenant_id = await server.newTenant({ portal_sign_in: 'host' });
    const scope = 'inbox:read inbox:write tasks:read tasks:write agents:chat';
    const token = (await server.host.tenants.mintToken({ tenant_id, body: { sub: 'cleo', scope } })).data
      .token;
    await server.host.inbox.writeInbox({ tenant_id, inbox_key: 'news', body: { title: 'News' } });
    await server.host.inbox.publish({
      tenant_id,
      inbox_key: 'news',
      body: { uids: ['cleo'], message: { title: 'Your order is here', body: 'Come by.' } },
    });
    const person = { tenant_id, user_id: 'cleo', session_id: 'earlier' };
    await server.host.agents.editMemory({ ...person, body: { key_facts: [{ fact: 'likes poems' }] } });
    const { page, failures } = await openPage(browser!);
    await page.goto(`${server.url}/portal/${tenant_id}#token=${token}`);
    // A link of somebody else's does not sign a visitor in as them.
    await page.getByRole('heading', { name: 'Continue as cleo?' }).waitFor();
    await expectUsable(page, 'the question');
    const other = (await openPage(browser!)).page;
    const tokens: string[] = [];
    other.on('request', request => tokens.push(request.headers().authorization ?? ''));
    await other.goto(`${server.url}/portal/${tenant_id}#token=${token}`);
    await other.getByRole('button', { name: 'Do not sign in' }).click();
    await other.getByRole('heading', { name: 'Continue as cleo?' }).waitFor({ state: 'detached' });
    await other.getByText('Loading…').waitFor({ state: 'detached' });
    expect(tokens.filter(header => header !== '')).toEqual([]);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Chat' }).waitFor();
    expect(page.url()).toBe(`${server.url}/portal/${tenant_id}`);
    expect(await page.title()).toBe('Chat · Bookshop');
    await page.getByRole('button', { name: 'Notifications, 1 unread' }).click();
    await page.getByRole('dialog').getByText('Your order is here').waitFor();
    await expectUsable(page, 'the bell');
    await page.keyboard.press('Escape');

    await open(page, 'Tasks');
    await page.getByLabel('New task').fill('Read Emma');
    await page.getByLabel('Due').fill('2030-01-02');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Due Wed, Jan 2, 2030').waitFor();
    await page.getByLabel('Status of Read Emma').selectOption('In progress');
    await page.getByRole('region', { name: 'In progress' }).getByText('Read Emma').waitFor();
    await expectUsable(page, 'tasks');
    const remove = page.getByRole('button', { name: 'Delete Read Emma', exact: true });
    await remove.press('Enter');
    await page.keyboard.press('Enter'); // the focus is on the way out, and then back
    await expect.poll(() => page.evaluate('document.activeElement?.ariaLabel')).toBe('Delete Read Emma');
    await remove.click();
    await page.getByRole('button', { name: 'Really delete Read Emma' }).click();
    await page.getByText('Read Emma').waitFor({ state: 'detached' });

    await open(page, 'Memory');
    await page.getByRole('button', { name: 'Edit likes poems' }).click();
    await page.getByLabel('What to remember').fill('likes sonnets');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('likes sonnets').waitFor();
    await expectUsable(page, 'memory');
    await page.getByRole('button', { name: 'Forget likes sonnets' }).click();
    await page.getByText('Nothing yet.').waitFor();
    await page.getByRole('button', { name: 'Forget me and remember nothing' }).click();
    await page.getByRole('button', { name: 'Really forget me and remember nothing' }).click();
    await page.getByText('Nothing is remembered, as you wanted.').waitFor();
    expect(failures).toEqual([]);
  });

  it('lets only admins manage the tenant', async () => {
    const tenant_id = await server.newTenant();
    for (const [user_id, role] of [
      ['dora', 'admin'],
      ['emil', 'member'],
    ] as const)
      await server.host.tenants.createUser({ tenant_id, body: { user_id, display_name: user_id, role } });
    // A name and an address too long for a phone.
    const long = { display_name: 'Bartholomew Featherstonehaugh', email: `${'b'.repeat(40)}@example.com` };
    await server.host.tenants.createUser({ tenant_id, body: { user_id: 'far', ...long } });
    const scope = 'agents:chat tenant:manage';
    const enter = async (sub: string) => {
      const { token } = (await server.host.tenants.mintToken({ tenant_id, body: { sub, scope } })).data;
      const { page, failures } = await openPage(browser!, { viewport: phone });
      await page.goto(`${server.url}/portal/${tenant_id}/admin/users#token=${token}`);
      await page.getByRole('button', { name: 'Continue' }).click();
      return { page, failures };
    };
    const member = await enter('emil');
    await member.page.getByRole('heading', { name: 'Chat' }).waitFor();
    expect(await member.page.getByRole('link', { name: 'Users' }).count()).toBe(0);

    const { page, failures } = await enter('dora');
    await page.getByRole('heading', { name: 'Users' }).waitFor();
    await page.getByLabel('E-mail of the person to invite').fill('flo@example.com');
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    const invited = page.getByRole('table', { name: 'Invitations' }).getByRole('row', { name: /flo@/ });
    await invited.waitFor();
    const { expires_at } = (await server.host.tenants.listInvitations({ tenant_id })).data.data[0]!;
    const day = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium' }).format(new Date(expires_at));
    expect((await invited.getByRole('cell').allInnerTexts()).slice(1, 3)).toEqual(['Member', day]);
    await server.mailTo('flo@example.com', 'Join Bookshop');
    await page.getByRole('button', { name: 'Withdraw the invitation of flo@example.com' }).click();
    await page.getByRole('button', { name: 'Really withdraw the invitation of flo@example.com' }).click();
    await invited.waitFor({ state: 'detached' });
    await page.getByLabel('Role of emil').selectOption('admin');
    await vi.waitFor(
      async () =>
        expect((await server.host.tenants.getUser({ tenant_id, user_id: 'emil' })).data.role).toBe('admin'),
      60_000,
    );
    await expectUsable(page, 'users');
    await open(page, 'Settings');
    await page.getByLabel('Name', { exact: true }).fill('Books & more');
    await page.getByLabel('Colour of buttons and links').fill('#e03131');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('banner').getByText('Books & more').waitFor();
    await page.getByRole('status').getByText('Saved.').waitFor();
    for (const [label, text] of [
      ['Issuer', 'http://127.0.0.1:65533'],
      ['Client ID', 'portal'],
      ['Client secret', 'a secret'],
      ['Domains of addresses', 'example.com, example.org'],
    ] as const)
      await page.getByLabel(label).fill(text);
    await page.getByRole('button', { name: 'Save the provider' }).click();
    await page.getByText(`/v1/portal/${tenant_id}/provider/callback`).waitFor();
    await page.getByRole('button', { name: 'Test it' }).click();
    await page.getByRole('status').getByText('did not respond as expected').waitFor();
    await expectUsable(page, 'settings');
    const { page: signIn } = await openPage(browser!, { viewport: phone });
    await signIn.goto(`${server.url}/portal/${tenant_id}#refused=tenants.sign_in_refused`);
    await signIn.getByRole('alert').getByText('You have no access here').waitFor();
    await signIn.goto(`${server.url}/portal/${tenant_id}#refused=tenants.user_limit_reached`);
    await signIn.reload(); // only the fragment differs
    await signIn.getByRole('alert').getByText('There is no room for another user').waitFor();
    const link = signIn.getByRole('link', { name: 'Sign in with your organisation' });
    await expect.poll(() => link.getAttribute('href')).toBe(`/v1/portal/${tenant_id}/provider/start`);
    await expectUsable(signIn, 'signing in with a provider');
    await open(page, 'Channels');
    await page.getByLabel('Team ID').fill('T0123');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByLabel('Signing secret').fill('a signing secret of slack');
    await page.getByLabel('Bot token').fill('xoxb-something');
    await page.getByRole('button', { name: 'Save the secrets' }).click();
    await page.getByText('Ready.').waitFor();
    await expectUsable(page, 'channels');
    await open(page, 'Skills');
    await page.getByRole('checkbox', { name: 'inbox_summary' }).click();
    await expect.poll(() => page.getByRole('checkbox', { name: 'inbox_summary' }).isChecked()).toBe(true);
    await page.getByRole('checkbox', { name: 'webhook_health' }).click();
    await page.getByRole('alert').getByText('Only the account can').waitFor();
    await expectUsable(page, 'skills');
    await open(page, 'Usage');
    await page.getByText('messages in 30 days').waitFor();
    await expectUsable(page, 'usage');
    expect(failures).toEqual([]);
  });

  it('keeps what an admin types, and overwrites no other change', async () => {
    const tenant_id = await server.newTenant();
    await server.host.tenants.createUser({
      tenant_id,
      body: { user_id: 'ida', display_name: 'Ida', role: 'admin' },
    });
    const body = { sub: 'ida', scope: 'agents:chat tenant:manage' };
    const { token } = (await server.host.tenants.mintToken({ tenant_id, body })).data;
    const { page, failures } = await openPage(browser!);
    await page.goto(`${server.url}/portal/${tenant_id}/admin/settings#token=${token}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Mine');
    const theirs = { portal_name: 'Theirs' };
    await server.host.tenants.updateSettings({ tenant_id, body: theirs }, { ifMatch: '*' });
    await returnLater(page, '/settings');
    await expect.poll(() => name.inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Show what was saved' }).click();
    await expect.poll(() => name.inputValue()).toBe('Theirs');
    await name.fill('Mine');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('banner').getByText('Mine').waitFor();
    expect(failures).toEqual([]);
  });

  it('reloads in a tab where another user has signed in', async () => {
    const tenant_id = await server.newTenant();
    const { page, failures } = await openPage(browser!);
    const signIn = async (user_id: string) => {
      const email = `${user_id}@example.com`;
      await server.host.tenants.createUser({ tenant_id, body: { user_id, display_name: user_id, email } });
      const { request } = page.context();
      const path = `${server.url}/v1/portal/${tenant_id}`;
      const asked = await request.post(`${path}/sign-in`, { data: { email } });
      const { attempt } = (await asked.json()) as { attempt: string };
      const mail = await server.mailTo(email, 'Your code for Bookshop');
      const code = /Your code is (\d{4} \d{4})/.exec(mail)![1]!;
      expect((await request.post(`${path}/session`, { data: { attempt, code } })).status()).toBe(201);
    };
    await signIn('jon');
    await page.goto(`${server.url}/portal/${tenant_id}/profile`);
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('jon');
    await signIn('kim');
    await server.host.tenants.revokeTokens({ tenant_id, body: { sub: 'jon' } });
    await page.evaluate('window.isAsBefore = true');
    await open(page, 'Tasks'); // is refused and requests another token
    await expect.poll(() => page.evaluate('window.isAsBefore')).toBe(undefined);
    await open(page, 'Profile');
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('kim');
    expect(failures).toEqual([]);
  });

  it('can be framed only by pages that the tenant allows, with their token', async () => {
    const around = createServer((request, response) => {
      const tenant = request.url!.slice(1);
      response.setHeader('Content-Type', 'text/html').end(`<!doctype html><title>Host</title>
<iframe title="portal" src="${server.url}/portal/${tenant}" width="600" height="600"></iframe>
<script>addEventListener('message', event => {
  if (event.origin === '${server.url}' && event.data.type === 'stak:token-needed')
    event.source.postMessage({ type: 'stak:token', token: window.token }, event.origin);
});</script>`);
    }).listen(0, '127.0.0.1');
    await once(around, 'listening');
    const origin = `http://127.0.0.1:${(around.address() as AddressInfo).port}`;
    const tenant_id = await server.newTenant({ portal_sign_in: 'host', portal_frame_ancestors: [origin] });
    const closed = await server.newTenant({ portal_sign_in: 'host' });
    const body = { sub: 'gil', scope: 'agents:chat' };
    const { token } = (await server.host.tenants.mintToken({ tenant_id, body })).data;
    const { page } = await openPage(browser!);
    await page.addInitScript(`window.token = ${JSON.stringify(token)}`);
    await page.goto(`${origin}/${tenant_id}`);
    await page.frameLocator('iframe').getByRole('heading', { name: 'Chat' }).waitFor();
    const refused = page.waitForEvent('console', one => /frame-ancestors|frame/i.test(one.text()));
    await page.goto(`${origin}/${closed}`);
    await refused;
    expect(await page.frameLocator('iframe').getByRole('heading').count()).toBe(0);
    around.close().closeAllConnections();
  });

  it('loads little, and nothing from other servers', async () => {
    const tenant_id = await server.newTenant({ portal_logo: 'https://cdn.example/logo.png' });
    const page = await fetch(`${server.url}/portal/${tenant_id}`);
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: https://cdn.example; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|https?:/);
    const scripts = [...html.matchAll(/(?:src|href)="(\/portal\/assets\/[^"]+\.js)"/g)].map(
      ([, path]) => path!,
    );
    let bytes = 0;
    for (const path of scripts)
      bytes += gzipSync(new Uint8Array(await (await fetch(server.url + path)).arrayBuffer())).length;
    expect(scripts.length).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(150 * 1024);
    const nobodys = await fetch(`${server.url}/portal/nobodys`);
    expect([nobodys.status, await nobodys.text()]).toEqual([200, html]);
    expect((await fetch(`${server.url}/portal/assets/..%2f..%2fpackage.json`)).status).toBe(404);
  });
});
