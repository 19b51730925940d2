import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { openSignedInPage, type PageOptions, type SignedInPage } from './signed-in-page.ts';
import { openTestServer, type TestServer } from './test-server.ts';
import { expectUsable, follow } from './usability.ts';

const browser = await openBrowser();
let server: TestServer;
const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

beforeAll(async () => {
  if (browser) server = await openTestServer({ STAK_TABLES_EXPLORER: 'usr_somebodyelse' });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

type Operator = SignedInPage & { userId: string };

// Somebody who may look into every table, and has one task.
async function enter(options: PageOptions = {}): Promise<Operator> {
  const signedIn = await openSignedInPage(browser!, server.url, options);
  const { userId } = (await signedIn.client.accounts.getMe()).data;
  server.admitOperator(userId);
  await signedIn.client.tasks.create({ body: { title: 'Call Ann' } });
  return { ...signedIn, userId };
}

const openTable = (page: Page, path: string) => page.goto(`${server.url}/console/tables/${path}`);
const item = (page: Page, text: string) => page.getByRole('button', { expanded: false, name: text });

describe.skipIf(!browser)(browser ? 'the tables page' : 'the tables page (needs a browser)', slowly, () => {
  it('is available to operators only', async () => {
    const { page } = await openSignedInPage(browser!, server.url, { path: '/console/tables' });
    await page.getByRole('heading', { name: 'This page is for operators' }).waitFor();
    const navigation = page.getByRole('navigation', { name: 'Main' });
    await navigation.getByRole('link', { name: 'Data' }).click();
    await navigation.getByRole('link', { name: 'SQL' }).waitFor();
    expect(await navigation.getByRole('link', { name: 'Tables' }).count()).toBe(0);
  });

  it('leads from a table to a partition, its items, and the items that their indexes find', async () => {
    const { page, userId, failures } = await enter();
    await page.goto(`${server.url}/console/account`);
    const navigation = page.getByRole('navigation', { name: 'Main' });
    await navigation.getByRole('link', { name: 'Data' }).click();
    await navigation.getByRole('link', { name: 'Tables' }).click();
    await page.getByRole('link', { name: 'todo-app-data' }).click();
    await page.getByText('keys PK and SK').waitFor();
    await page
      .getByRole('link', { name: `TASK#${userId}` })
      .first()
      .click();
    await page.getByText('read by a query').waitFor();
    await item(page, 'Call Ann').click();
    const attributes = page.getByRole('table', { name: 'Attributes of TASK#' });
    await attributes.getByRole('row', { name: 'S title Call Ann' }).waitFor();
    await page
      .getByRole('link', { name: `USER#${userId}` })
      .first()
      .click();
    await expect.poll(() => page.url()).toContain('index=GSI1');
    await item(page, 'STATUS#pending#tsk_').waitFor();

    await page.getByRole('combobox', { name: 'Partition (GSI1PK)' }).fill('USER#{user_id}');
    await page.getByRole('button', { name: 'Read', exact: true }).click();
    await page.getByText('Put a value in place of {user_id}').waitFor();
    expect(failures).toEqual([]);
  });

  it('does not show an earlier result for the current request', async () => {
    const { page, userId } = await enter();
    await openTable(page, 'todo-app-data');
    await page.getByText('read by a scan').waitFor();
    let answer = () => {};
    const held = new Promise<void>(resolve => {
      answer = resolve;
    });
    await page.route(/\/items\?/, async route => {
      await held;
      await route.continue();
    });
    await page
      .getByRole('link', { name: `TASK#${userId}` })
      .first()
      .click();
    await page.getByRole('status').filter({ hasText: 'Reading…' }).waitFor();
    await page.locator('[inert]').getByText('Call Ann').first().waitFor(); // to be seen, but nothing to press
    answer();
    await page.getByText('read by a query').waitFor();
    await item(page, 'Call Ann').click();
  });

  it('masks secrets', async () => {
    const { page, userId } = await enter();
    await openTable(page, `ferryhook-main?partition=${encodeURIComponent(`USER#${userId}`)}`);
    await item(page, 'PROFILE').click();
    await page.getByRole('row', { name: 'S passwordHash •••••••• hidden' }).waitFor();
    await item(page, 'SESSION#').first().click();
    await page.getByRole('row', { name: /^S familyKey s1\..*sealed, as it is stored$/ }).waitFor();
    expect(await page.content()).not.toContain('scrypt$');
  });

  it('shows changes live, with their cost', async () => {
    const { page, client, failures } = await enter();
    await openTable(page, 'todo-app-data?tab=stream');
    await page.getByText('Live: 0 changes').waitFor();
    const { data: task } = await client.tasks.create({ body: { title: 'Call Bob' } });
    await client.tasks.update({ task_id: task.task_id, body: { title: 'Call Bob again' } });
    const changes = page.getByRole('list', { name: 'Changes' }).getByRole('listitem');
    await changes.filter({ hasText: 'title: Call Bob Call Bob again' }).waitFor();
    await page.getByRole('tab', { name: 'Items' }).click();
    await client.tasks.delete({ task_id: task.task_id });
    await page.getByRole('button', { name: /^Read again: \d+ changes? since$/ }).click();
    await page.getByRole('button', { name: 'Read again', exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Units' }).click();
    await page.getByRole('row', { name: 'create task' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('is accessible, in light and dark and on a phone', async () => {
    const { page, client } = await enter({ colorScheme: 'light' });
    await openTable(page, '');
    const partitions = {
      '': 'You see this because',
      '/todo-app-data': 'read by a scan',
      '/todo-app-data?tab=design': 'Indexes',
      '/todo-app-data?tab=units': 'Share of units',
      '/todo-app-data?tab=stream': 'Live:',
    };
    for (const [path, text] of Object.entries(partitions)) {
      await follow(page, `/console/tables${path}`);
      await page.getByText(text).first().waitFor();
      if (path.endsWith('data'))
        await page.getByRole('button', { expanded: false, name: 'task' }).first().click();
      if (path.endsWith('design'))
        await page
          .getByRole('button', { name: /^task / })
          .first()
          .click();
      if (path.endsWith('stream')) {
        await client.tasks.create({ body: { title: 'Call Ann' } });
        await page.getByRole('button', { name: 'Whole item' }).first().click();
      }
      await expectUsable(page, path);
    }
  });
});
