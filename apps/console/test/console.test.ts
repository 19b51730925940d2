import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '@stak/client';
import { issueSignInToken, signInLink } from '@stak/server';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openBrowser } from './browser.ts';
import { newAccount, openPage, openSignedInPage, type PageOptions } from './signed-in-page.ts';
import { openDestination, openTestServer, type TestServer } from './test-server.ts';
import { expectUsable, findBarriers, follow } from './usability.ts';

const browser = await openBrowser();
let server: TestServer;
const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

beforeAll(async () => {
  if (browser) server = await openTestServer();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const enter = (options: PageOptions = {}) =>
  openSignedInPage(browser!, server.url, { path: '/console/', ...options });

const post = (address: string, body: unknown) =>
  fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

async function createSource(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'New source' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('button', { name: 'Create source' }).click();
  return page.getByTestId('address').innerText();
}

// What the page makes by its form, made by the API.
async function sampleSource(client: Client): Promise<{ path: string; address: string }> {
  const { data } = await client.webhooks.createSource({ body: { name: 'Shop' } });
  return { path: `/console/webhooks/${data.sourceId}`, address: data.ingestUrl! };
}

async function connect(page: Page, destination: string): Promise<void> {
  await page.getByRole('tab', { name: 'Connections' }).click();
  await page.getByRole('button', { name: 'New connection' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Billing');
  await page.getByRole('textbox', { name: 'Destination' }).fill(destination);
  await page.getByRole('button', { name: 'Create connection' }).click();
  await page.getByText('it is not shown again').waitFor();
}

describe.skipIf(!browser)(browser ? 'the console' : 'the console (needs a browser)', slowly, () => {
  it('lets somebody sign up, out and in again, and stays signed in', async () => {
    const { page, failures } = await openPage(browser!);
    const { name, email, password } = newAccount();
    await page.goto(`${server.url}/console/`);
    await page.getByRole('button', { name: 'Make an account' }).click();
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

  it('opens the demo workspace with the link that was printed, once', async () => {
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

  it('shows a webhook as it arrives, what became of it, and delivers it again', async () => {
    const destination = await openDestination(500);
    onTestFinished(() => destination.close());
    const { page, failures } = await enter({ path: '/console/webhooks' });
    const address = await createSource(page, 'Shop');
    await page.getByText(`curl -X POST '${address}'`).waitFor();
    expect(await page.title()).toBe('Events · Shop · Stak');
    await connect(page, destination.url);
    await page.getByRole('button', { name: 'Run the sample' }).click();
    await page.getByText('The filter lets it through').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('tab', { name: 'Events' }).click();
    const tail = page.waitForResponse(response => response.url().endsWith('/tail'));
    await page.reload();
    await tail;
    await page.getByText('No events yet').waitFor();
    const { eventId } = (await (await post(address, { type: 'order.paid' })).json()) as { eventId: string };
    await page.getByRole('link', { name: eventId }).click();
    await page.getByText('"type": "order.paid"').waitFor();
    await page.getByText('Answered 500', { exact: true }).waitFor();

    destination.status = 200;
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('Answered 200', { exact: true }).waitFor();
    expect(destination.bodies.at(-1)).toBe('{"type":"order.paid"}');
    await page.getByText('Hex', { exact: true }).click();
    await page.getByText('7b 22 74 79 70 65 22').waitFor();
    await page.getByRole('tab', { name: 'Sent request' }).click();
    await page.getByRole('button', { name: 'Show what is sent' }).click();
    await page.getByText('X-Ferryhook-Signature').waitFor();
    await page.keyboard.press('Control+K');
    await page.getByPlaceholder('paste an id').fill('shop');
    await page.getByRole('button', { name: /^Shop/ }).click();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await expect.poll(() => destination.bodies.at(-1)).toContain('order_1042');
    expect(failures).toEqual([]);
  });

  it('asks before a connection, a source and the trash are gone', async () => {
    const { page, client, failures } = await enter({ path: undefined });
    const confirm = (button: string) =>
      page.getByRole('dialog').getByRole('button', { name: button }).click();
    const { path } = await sampleSource(client);
    await page.goto(server.url + path);
    await connect(page, `${server.url}/nowhere`);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete Billing' }).click();
    await confirm('Cancel');
    await page.getByRole('button', { name: 'Delete Billing' }).click();
    await confirm('Delete connection');
    await page.getByText('There is no connection yet').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await confirm('Delete source');
    await page.getByText('There is no source yet').waitFor();

    await follow(page, '/console/tasks?view=list');
    await page.getByRole('textbox', { name: 'New task' }).fill('Call Ann');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Delete Call Ann' }).click();
    await page.getByRole('tab', { name: 'Trash' }).click();
    await page.getByRole('button', { name: 'Restore Call Ann' }).waitFor();
    await page.getByRole('button', { name: 'Empty the trash' }).click();
    await confirm('Empty the trash');
    await page.getByText('The trash is empty').waitFor();
    expect(failures).toEqual([]);
  });

  it('gives each source one status and a test that its signatures let through', async () => {
    const { page, client, failures } = await enter({ path: undefined });
    const signed = { name: 'Stripe', provider: 'stripe', signingSecret: 'whsec_x' } as const;
    const { sourceId } = (await client.webhooks.createSource({ body: signed })).data;
    const connection = { name: 'Billing', destinationUrl: `${server.url}/nowhere` };
    const made = (await client.webhooks.createConnection({ sourceId, body: connection })).data;
    const { connectionId } = made;
    await client.webhooks.editConnection({ connectionId, body: { status: 'paused' } });
    const missing: string[] = [];
    page.on('response', response => {
      if (response.status() === 404) missing.push(response.url());
    });
    await page.goto(`${server.url}/console/webhooks/${sourceId}?tab=connections`);
    await page.getByText('Paused', { exact: true }).waitFor();
    expect(await page.getByText(/Deliveries flow|closed/).count()).toBe(0);
    expect(await page.getByText('curl').count()).toBe(0);
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('link', { name: /^evt_/ }).waitFor();
    expect(missing).toEqual([]);

    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Payments');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    await follow(page, `/console/webhooks/${sourceId}/events/evt_none`);
    await page.getByRole('heading', { name: 'There is no such event' }).waitFor();
    await follow(page, '/console/webhooks/src_none');
    await page.getByRole('heading', { name: 'There is no such source' }).waitFor();
    expect(await page.getByText('This did not work').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Replay all failed' }).count()).toBe(0);
    await follow(page, '/console/tables');
    await page.getByRole('heading', { name: 'Tables are for operators' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(failures).toEqual([]);
  });

  it('says what is wrong with a filter, at the filter', async () => {
    const { page, client } = await enter({ path: undefined });
    const { path } = await sampleSource(client);
    await page.goto(server.url + path);
    await page.getByRole('tab', { name: 'Connections' }).click();
    await page.getByRole('button', { name: 'New connection' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Billing');
    await page.getByRole('textbox', { name: 'Destination' }).fill('http://127.0.0.1:9/');
    const filter = page.getByRole('textbox', { name: 'Filter' });
    await filter.fill('[{ "field": "body", "path": "$.a", "operator": "resembles" }]');
    await page.getByRole('button', { name: 'Create connection' }).click();
    await expect.poll(() => filter.getAttribute('aria-invalid')).toBe('true');

    await filter.fill('[]');
    await page.getByRole('textbox', { name: 'Destination' }).fill(`${server.url}/nowhere`);
    await page.getByRole('button', { name: 'Retries, rate and order' }).click();
    await page.getByRole('textbox', { name: 'Wait before each retry' }).fill('10s, 5m');
    await page.getByText('3 attempts within').waitFor();
    await page.getByRole('textbox', { name: 'Deliveries a second' }).fill('5');
    await page.getByRole('button', { name: 'Create connection' }).click();
    await page.getByText('it is not shown again').waitFor();
    const { sourceId } = (await client.webhooks.listSources()).data.data[0]!;
    const [made] = (await client.webhooks.listConnections({ sourceId })).data.data;
    expect(made).toMatchObject({ retryConfig: { delaysS: [10, 300] }, ratePerSecond: 5, ordered: false });
  });

  it('shows in the overview what happens, as it happens, and how far everything is', async () => {
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

    const tables = page.getByRole('table', { name: 'Lag of each table' });
    await tables.getByRole('row', { name: /^todo-app-data up to date up to date/ }).waitFor();
    await page.getByText('workers run').waitFor();
    // What everybody together uses is not for every customer.
    expect(await page.getByText('Capacity units').count()).toBe(0);
    expect(failures).toEqual([]);
  });

  it('tells an account in the overview what it was reminded of', async () => {
    const { page, client, failures } = await enter();
    await page.getByText('Nothing to do').waitFor();
    const { tasks, accounts } = client;
    const reminder = { at: new Date(Date.now() + 100).toISOString() };
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
    await page.getByRole('button', { name: 'Read them' }).click();
    await page.getByRole('dialog').getByText('Call Ann').first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(failures).toEqual([]);
  });

  it('can be used by everybody, in light and dark and on a phone', async () => {
    const { page, client, failures } = await enter({ colorScheme: 'light' });
    const { address, path: source } = await sampleSource(client);
    const { eventId } = (await (await post(address, { a: 1 })).json()) as { eventId: string };
    const details = { due_date: '2020-01-01', category: 'sales', labels: ['phone'] };
    await client.tasks.create({ body: { title: 'Call Ann', priority: 'urgent', ...details } });

    // Each page, and what is there when it is ready.
    const pages = {
      '/console/': 'up to date',
      '/console/tasks': 'late: ',
      '/console/webhooks': 'Shop',
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

  it('says when there is no connection, and does then what was asked meanwhile', async () => {
    const { page } = await enter({ path: '/console/tasks' });
    await page.getByText('There is no task yet').waitFor();
    await page.context().setOffline(true);
    await page.evaluate("dispatchEvent(new Event('offline'))"); // a machine without a network says nothing new
    await page.getByText('The server cannot be reached').waitFor();
    await page.getByRole('textbox', { name: 'New task' }).fill('Call Ann');
    await page.keyboard.press('Enter');
    // A page that was never opened waits for the server and then goes on, instead of the browser's own error page.
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    await page.getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('button', { name: 'Move Call Ann' }).waitFor();
    await page.getByText('The server cannot be reached').waitFor({ state: 'detached' });
  });

  it('needs little script to begin', async () => {
    const { page } = await openPage(browser!);
    await page.goto(`${server.url}/console/`, { waitUntil: 'networkidle' });
    const bytes = await page.evaluate(
      `performance.getEntriesByType('resource').filter(one => one.name.endsWith('.js'))
        .reduce((sum, one) => sum + one.encodedBodySize, 0)`,
    );
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(250_000);
  });

  it('has an API reference that asks no other server for anything', async () => {
    const { page, failures } = await openPage(browser!);
    const elsewhere: string[] = [];
    page.on('request', request => {
      const url = request.url();
      if (!url.startsWith(server.url) && !url.startsWith('data:')) elsewhere.push(url);
    });
    page.on('console', message => {
      if (message.text().includes('Content Security Policy')) failures.push(message.text());
    });
    await page.goto(`${server.url}/docs`);
    await page.getByText('POST').first().waitFor();
    await page.getByText('/v1/auth/signup').first().waitFor();
    expect([elsewhere, failures]).toEqual([[], []]);
  });
});
