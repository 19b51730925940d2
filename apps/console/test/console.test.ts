import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@stak/client';
import { issueSignInToken, signInLink } from '@stak/server';
import { describe, expect, it } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { newAccount, openPage, openSignedInPage, type PageOptions } from './signed-in-page.ts';
import { post, sampleSource } from './test-server.ts';
import { expectUsable, findBarriers, follow, overhang } from './usability.ts';

const { browser, server } = await openBrowserAndServer();
const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

const enter = (options: PageOptions = {}) =>
  openSignedInPage(browser!, server.url, { path: '/console/', ...options });

describe.skipIf(!browser)(browser ? 'the console' : 'the console (needs a browser)', slowly, () => {
  it('signs up, signs out and in again, and stays signed in', async () => {
    const { page, failures } = await openPage(browser!);
    const { name, email, password } = newAccount();
    await page.goto(`${server.url}/console/`);
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await page.getByLabel('Password').first().fill(password);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('All systems ready').waitFor();
    await page.reload();
    await page.getByText('Events this month').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await page.getByLabel('Password').first().fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').first().fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('opens the demo workspace with the printed link, once', async () => {
    const demo = { email: 'demo@example.com', password: 'a long enough password' };
    const { accounts } = createClient({ baseUrl: server.url });
    await accounts.signUp({ body: { ...demo, name: 'Demo', cookie: false } });
    await writeFile(join(server.dataFolder, 'demo.json'), JSON.stringify({ ...demo, isFilled: true }));
    const { page } = await openPage(browser!);
    await page.goto(`${server.url}/console/`);
    await page.getByText('open it with the link that the server printed').waitFor();
    expect(await page.getByRole('button', { name: 'Open the demo workspace' }).count()).toBe(0);

    const link = signInLink(server.url, await issueSignInToken(server.dataFolder));
    await page.goto(link);
    await page.getByRole('button', { name: 'Open the demo workspace' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.goto(link);
    await page.getByRole('button', { name: 'Open the demo workspace' }).click();
    await page.getByRole('alert').getByText('was used already').waitFor();
    await page.getByRole('textbox', { name: 'E-mail' }).waitFor();
  });

  it('updates the overview live', async () => {
    const { page, client, failures } = await enter({ path: undefined });
    const { address } = await sampleSource(client);
    await page.goto(`${server.url}/console/`);
    const figures = (service: string) => page.getByRole('region', { name: service }).innerText();
    await expect.poll(() => figures('Webhooks')).toContain('Events\n\n0');
    await expect.poll(() => figures('Inbox')).toContain('No messages in this period');
    await expect.poll(() => figures('Agents')).toContain('talk to its agent');
    await post(address, { type: 'order.paid' });
    const other = await page.context().newPage();
    await other.goto(`${server.url}/console/tasks`);
    await other.getByRole('textbox', { name: 'New task' }).fill('Call Ann 2020-01-01');
    await other.keyboard.press('Enter');
    await expect.poll(() => figures('Tasks')).toContain('Late\n\n1');
    await page.getByRole('img', { name: /^Tasks created and completed by day.*1 created/ }).waitFor();
    await expect.poll(() => figures('Webhooks')).toContain('Events\n\n1');
    // The first steps tick themselves off.
    const steps = page.getByRole('region', { name: 'First steps' });
    await expect.poll(() => steps.getByRole('img', { name: 'Done' }).count()).toBe(2);

    // Customers do not see the tables, workers and capacity of the whole server.
    for (const text of [/ferryhook|todo-app-data|stak-inbox/, 'workers running', 'Capacity units'])
      expect(await page.getByText(text).count()).toBe(0);
    expect(failures).toEqual([]);
  });

  it('shows reminders to the account behind the bell of every page', async () => {
    const { page, client, failures } = await enter();
    await page.getByRole('button', { name: 'Alerts', exact: true }).waitFor();
    const { tasks, accounts } = client;
    const reminder = { at: new Date(Date.now() + 3000).toISOString() };
    await tasks.create({ body: { title: 'Call Ann', reminder } });
    const own = (await accounts.mintInboxToken()).data;
    const { inbox } = createClient({ baseUrl: server.url, token: own.token });
    const mailbox = { tenant_id: own.tenant_id, inbox_key: 'tasks', uid: 'me' };
    const unread = () =>
      inbox.counts(mailbox).then(
        counts => counts.data.unread,
        () => 0,
      ); // the first makes the inbox
    await expect.poll(unread, { timeout: 60_000 }).toBe(1);
    await page.reload();
    await page.getByRole('button', { name: 'Alerts: 1 unread message' }).click();
    await page.getByRole('dialog').getByText('Call Ann').first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(failures).toEqual([]);
  });

  it('is accessible, in light and dark and on a phone', async () => {
    const { page, client, failures } = await enter({ colorScheme: 'light' });
    const { address, path: source } = await sampleSource(client);
    const { eventId } = (await (await post(address, { a: 1 })).json()) as { eventId: string };
    // Two initials: the label of the button that shows them has to contain them.
    await client.accounts.updateMe({ body: { name: 'Ann Lee' } });
    await page.reload();
    await page.getByRole('button', { name: 'AL: your account' }).waitFor();
    expect(await findBarriers(page, ['label-content-name-mismatch'])).toEqual([]);
    const details = { due_date: '2020-01-01', category: 'sales', labels: ['phone'] };
    await client.tasks.create({ body: { title: 'Call Ann', priority: 'urgent', ...details } });

    // Each page, and what is there when it is ready.
    const pages = {
      '/console/': 'Events this month',
      '/console/tasks': 'late: ',
      '/console/webhooks': 'Shop',
      '/console/webhooks/events': eventId,
      '/console/webhooks/connections': 'There is no connection yet',
      '/console/webhooks/analytics': 'Successful deliveries',
      '/console/tenants': 'There is no tenant yet',
      '/console/data/insights': 'Late now',
      '/console/data/sql': 'Open tasks by category',
      [source]: eventId,
      [`${source}/events/${eventId}`]: '"a": 1',
      '/console/account': 'There is no key yet',
    };
    for (const [path, text] of Object.entries(pages)) {
      await follow(page, path);
      await page.getByText(text).first().waitFor();
      await expectUsable(page, path);
    }
    expect(failures).toEqual([]);
  });

  it('reports a lost connection, and sends pending requests afterwards', async () => {
    const { page } = await enter({ path: '/console/tasks' });
    await page.getByText('There is no task yet').waitFor();
    await page.context().setOffline(true);
    await page.evaluate("dispatchEvent(new Event('offline'))"); // being offline alone changes nothing
    await page.getByText('The server cannot be reached').waitFor();
    await page.getByRole('textbox', { name: 'New task' }).fill('Call Ann');
    await page.keyboard.press('Enter');
    // A page that was never opened waits for the server, instead of showing the browser's error page.
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await page.getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('button', { name: 'Move Call Ann' }).waitFor();
    await page.getByText('The server cannot be reached').waitFor({ state: 'detached' });
  });

  it('serves documentation and an API reference without requests to other servers', async () => {
    const { page, failures } = await openPage(browser!);
    const elsewhere: string[] = [];
    page.on('request', request => {
      const url = request.url();
      if (!url.startsWith(server.url) && !url.startsWith('data:')) elsewhere.push(url);
    });
    page.on('console', message => {
      if (message.text().includes('Content Security Policy')) failures.push(message.text());
    });
    await page.goto(`${server.url}/docs/guides/webhooks`);
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await findBarriers(page, ['color-contrast'])).toEqual([]);
    await page.getByRole('combobox', { name: 'Search' }).fill('dead letter');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page
      .getByText(/dead letter/i)
      .first()
      .waitFor();
    await page.goto(`${server.url}/docs/api`);
    await page.getByText('/v1/auth/signup').first().waitFor({ timeout: 60_000 }); // of all operations
    await page.getByText('POST').first().waitFor();
    expect([elsewhere, failures]).toEqual([[], []]);
  });

  it('serves an accessible API reference, in light and dark and on a phone', async () => {
    const { page } = await openPage(browser!, { colorScheme: 'light' });
    // A few operations of every kind, because all of them take minutes to look through.
    const shown = [
      '/v1/sources',
      '/v1/sources/{sourceId}',
      '/v1/tenants/{tenant_id}/settings',
      '/v1/tenants/{tenant_id}/custom-skills/{name}',
    ];
    await page.route('**/openapi.json', async route => {
      const document = await (await route.fetch()).json();
      const paths = Object.fromEntries(shown.map(path => [path, document.paths[path]]));
      await route.fulfill({ json: { ...document, paths } });
    });
    await page.goto(`${server.url}/docs/api`);
    await page.getByText('/v1/sources').first().waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Copy', exact: true }).first().waitFor();
    expect(await findBarriers(page), 'light').toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('body.dark-mode').waitFor();
    expect(await findBarriers(page, ['color-contrast']), 'dark').toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => overhang(page)).toBe(0);
    await page.getByRole('link', { name: 'Console' }).click();
    await page.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();
  });
});
