import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { openSignedInPage, type PageOptions, returnLater, type SignedInPage } from './signed-in-page.ts';
import { expectUsable } from './usability.ts';

const { browser, server } = await openBrowserAndServer();
let tenants = 0;

// The inbox of the only user of a new tenant.
async function openInbox(options: PageOptions = {}): Promise<SignedInPage> {
  const signedIn = await openSignedInPage(browser!, server.url, options);
  const { page, client } = signedIn;
  const tenant_id = `shop-${++tenants}`;
  await client.tenants.create({ body: { tenant_id, name: 'Shop' } });
  await client.tenants.createUser({ tenant_id, body: { user_id: 'ann', display_name: 'Ann' } });
  await client.inbox.writeInbox({ tenant_id, inbox_key: 'news', body: { title: 'News' } });
  await page.goto(`${server.url}/console/inbox`);
  await isLive(page);
  return signedIn;
}

const isLive = (page: Page) => page.getByText('Live', { exact: true }).waitFor();
const inboxOf = (page: Page) => page.getByRole('region', { name: 'Inbox of Ann' });
const messageIn = (page: Page, title: string) =>
  inboxOf(page).getByRole('button', { name: `Archive: ${title}` });
const settingsOf = (page: Page) => page.getByRole('region', { name: 'Inbox settings' });
const notifier = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function sendToEveryone(page: Page, title: string): Promise<void> {
  await page.getByText('Everyone', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill(title);
  await page.getByRole('textbox', { name: 'Text' }).fill('All chairs');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Send to' }).click();
}

async function openSecondWindow(page: Page): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(page.url());
  await isLive(other);
  return other;
}

const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

describe.skipIf(!browser)(browser ? 'the inbox page' : 'the inbox page (needs a browser)', slowly, () => {
  it('guides a new user to a tenant, an inbox and a user', async () => {
    const { page, failures } = await openSignedInPage(browser!, server.url, { path: '/console/inbox' });
    await page.getByRole('textbox', { name: 'Name' }).fill(`Shop ${++tenants}`);
    await page.getByRole('button', { name: 'Create tenant' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('News');
    await page.getByRole('button', { name: 'Create inbox' }).click();
    await page.getByText('No users yet').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Ann');
    await page.getByRole('button', { name: 'Add user' }).click();
    await isLive(page);
    expect(failures).toEqual([]);
  });

  it('sends to a user, shows a notification, and updates other windows', async () => {
    const { page, failures } = await openInbox();
    const other = await openSecondWindow(page);
    await page.getByLabel('Users', { exact: true }).first().fill('ann');
    await page.getByRole('textbox', { name: 'Title' }).fill('Order 1 is paid');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await messageIn(other, 'Order 1 is paid').waitFor();
    await notifier(other, 'Notifications, 1 unread').waitFor();

    await inboxOf(page).getByRole('button', { name: 'Mark read: Order 1 is paid' }).click();
    await notifier(page, 'Notifications').waitFor();
    await notifier(other, 'Notifications').waitFor();
    await inboxOf(other).getByRole('button', { name: 'Mark unread: Order 1 is paid' }).waitFor();

    await messageIn(page, 'Order 1 is paid').click();
    await messageIn(other, 'Order 1 is paid').waitFor({ state: 'detached' });
    await page.getByText('Order 1 is paid is archived.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await messageIn(other, 'Order 1 is paid').waitFor();
    await messageIn(page, 'Order 1 is paid').click();
    await messageIn(other, 'Order 1 is paid').waitFor({ state: 'detached' });
    await inboxOf(page).getByRole('button', { name: 'Archived', exact: true }).click();
    await inboxOf(page).getByRole('button', { name: 'Move to inbox: Order 1 is paid' }).click();
    await messageIn(other, 'Order 1 is paid').waitFor();
    expect(failures).toEqual([]);
  });

  it('writes one audit entry for each user whose inbox is opened, however often', async () => {
    const { page, client, failures } = await openInbox();
    const tenant_id = `shop-${tenants}`;
    const minted = async () =>
      (await client.accounts.listAudit({ action: 'tenants.mintToken' })).data.data.length;
    expect(await minted()).toBe(1);
    await client.tenants.createUser({ tenant_id, body: { user_id: 'bob', display_name: 'Bob' } });
    await page.reload();
    const look = async (name: string) => {
      await page.getByRole('combobox', { name: 'As this user sees it' }).click();
      await page.getByRole('option', { name: `${name} (${name.toLowerCase()})` }).click();
      await page.getByRole('region', { name: `Inbox of ${name}` }).waitFor();
      await isLive(page);
    };
    for (const name of ['Bob', 'Ann', 'Bob', 'Ann']) await look(name);
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
    await page.goBack();
    await isLive(page);
    expect(await minted(), 'one for each, and one before the page was loaded again').toBe(3);
    expect(failures).toEqual([]);
  });

  it('shows the number of recipients, the time with its zone, and a phone preview', async () => {
    const { page, client, failures } = await openInbox({ timezoneId: 'Asia/Tokyo' });
    const inbox = { tenant_id: `shop-${tenants}`, inbox_key: 'news' };
    for (const uid of ['ann', 'bob']) await client.inbox.join({ ...inbox, uid });
    await page.getByText('Everyone', { exact: true }).click();
    await page.getByText('2 people.').waitFor();
    await page.getByText('Your time zone: Asia/Tokyo (GMT+9)').waitFor();
    await page.getByRole('textbox', { name: 'Title' }).fill('Sale');
    await page.getByText('Phone', { exact: true }).click();
    const preview = page.locator('[data-screen="phone"]');
    await expect.poll(() => preview.textContent()).toContain('Sale');
    await expectUsable(page, 'composing');

    await page.getByLabel('Send later').fill('2030-01-02T09:00');
    await page.getByRole('button', { name: 'Schedule', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Schedule for 2 people?' });
    await dialog.getByText('Asia/Tokyo').waitFor();
    await expectUsable(page, 'the question before a message to everyone');
    await page.keyboard.press('Escape');
    await page.getByLabel('Send later').fill('');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send to 2 people' }).click();
    await messageIn(page, 'Sale').waitFor();
    expect(failures).toEqual([]);
  });

  it('reuses a saved template, and finds sent messages by title', async () => {
    const { page, failures } = await openInbox();
    await page.getByLabel('Category').first().fill('offer');
    await page.getByRole('textbox', { name: 'Text' }).fill('Until Sunday.');
    await page.getByRole('textbox', { name: 'Title' }).fill('Summer sale');
    await page.getByRole('button', { name: 'Templates' }).click();
    await page.getByRole('menuitem', { name: 'Save as a template…' }).click();
    await page.getByRole('textbox', { name: 'Name of the template' }).fill('Sale');
    await page.keyboard.press('Enter');
    await page.reload();
    await page.getByRole('button', { name: 'Templates' }).click();
    await expectUsable(page, 'templates');
    await page.getByRole('menuitem', { name: 'Sale', exact: true }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('Until Sunday.');
    await expect.poll(() => page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Summer sale');
    await expect.poll(() => page.getByLabel('Category').first().inputValue()).toBe('offer');
    await page.getByLabel('Users', { exact: true }).first().fill('ann');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await messageIn(page, 'Summer sale').waitFor();

    await page.keyboard.press('Control+K');
    await page.getByRole('textbox', { name: 'Search everything' }).fill('summer');
    await page.getByRole('button', { name: /^Summer sale/ }).click();
    const receipts = page.getByRole('dialog', { name: 'Receipts of Summer sale' });
    await receipts.getByRole('row', { name: /ann.*Unread/ }).waitFor();
    await page.reload(); // it is in the address
    await receipts.getByRole('row', { name: /ann.*Unread/ }).waitFor();
    expect(failures).toEqual([]);
  });

  it('snoozes with the keyboard, and marks everything read', async () => {
    const { page } = await openInbox();
    await sendToEveryone(page, 'Sale');
    await inboxOf(page).getByRole('button', { name: 'Snooze: Sale' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await messageIn(page, 'Sale').waitFor({ state: 'detached' });
    await inboxOf(page).getByRole('button', { name: 'Snoozed', exact: true }).click();
    await inboxOf(page).getByRole('button', { name: 'Bring back: Sale' }).click();
    await inboxOf(page).getByRole('button', { name: 'All', exact: true }).click();
    await notifier(page, 'Notifications, 1 unread').waitFor();
    await inboxOf(page).getByRole('button', { name: 'Mark read', exact: false }).first().click();
    await page.getByRole('menuitem', { name: 'Of today' }).click();
    await notifier(page, 'Notifications').waitFor();
    await page.reload();
    await inboxOf(page).getByRole('button', { name: 'Mark unread: Sale' }).waitFor();
  });

  it('keeps an open message in view, and an emptied category', async () => {
    const { page } = await openInbox();
    await page.getByLabel('Category').first().fill('offer');
    await sendToEveryone(page, 'Sale');
    await inboxOf(page).getByRole('button', { name: 'Unread', exact: true }).click();
    await inboxOf(page).getByRole('button', { name: 'Unread: Sale' }).click();
    await notifier(page, 'Notifications').waitFor();
    const title = inboxOf(page).getByRole('button', { name: 'Sale', exact: true });
    await expect.poll(() => title.getAttribute('aria-expanded')).toBe('true');

    await inboxOf(page).getByRole('button', { name: 'All', exact: true }).click();
    const category = inboxOf(page).getByLabel('Category');
    await category.selectOption('offer');
    await messageIn(page, 'Sale').click();
    await messageIn(page, 'Sale').waitFor({ state: 'detached' });
    await expect.poll(() => category.inputValue()).toBe('offer');
    await category.selectOption('');
  });

  it('shows how many have read a message, and redacts it for everyone', async () => {
    const { page, failures } = await openInbox();
    const other = await openSecondWindow(page);
    await sendToEveryone(page, 'Sale');
    await inboxOf(other).getByRole('button', { name: 'Mark read: Sale' }).click();
    await page.getByRole('tab', { name: 'Sent' }).click();
    await page.getByRole('row', { name: /Sale.*100%/ }).waitFor();
    await page.getByRole('button', { name: 'Redact Sale' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redact' }).click();
    await messageIn(other, 'Sale').waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /Redacted.*Redacted/ }).waitFor();
    expect(failures).toEqual([]);
  });

  it('shows who has read a message, and deletes a category and the inbox with their contents', async () => {
    const { page, failures } = await openInbox();
    await page.getByLabel('Category').first().fill('offer');
    await sendToEveryone(page, 'Sale');
    await inboxOf(page).getByRole('button', { name: 'Mark read: Sale' }).click();
    await page.getByRole('tab', { name: 'Sent' }).click();
    await page.getByRole('region', { name: 'To everyone' }).getByText('offer 1').waitFor();
    await page.getByRole('button', { name: 'Receipts of Sale' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Receipts of Sale' });
    await dialog.getByRole('row', { name: /ann.*Read/ }).waitFor();
    await expectUsable(page, 'receipts');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Save all as CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^receipts-.*\.csv$/);
    await page.keyboard.press('Escape');

    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Delete offer' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete category' }).click();
    await page.getByText(/^Deleting: \d+ removed/).waitFor();
    await expectUsable(page, 'a category that is being deleted');
    await page.getByRole('tab', { name: 'Messages' }).click();
    await inboxOf(page).waitFor();
    await messageIn(page, 'Sale').waitFor({ state: 'detached' });

    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Delete News' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete inbox' }).click();
    await page.getByText('news is being deleted').waitFor();
    await expectUsable(page, 'an inbox that is being deleted');
    expect(failures).toEqual([]);
  });

  it('saves settings, and does not overwrite changes from another window', async () => {
    const { page } = await openInbox();
    const other = await openSecondWindow(page);
    const ttlOf = (window: Page) =>
      settingsOf(window).getByRole('textbox', { name: 'Messages expire after' });
    for (const window of [page, other]) {
      await window.getByRole('tab', { name: 'Settings' }).click();
      await ttlOf(window).fill(window === page ? '60d' : '90d');
    }
    await settingsOf(page).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await returnLater(other, '/inboxes/news');
    await expect.poll(() => ttlOf(other).inputValue()).toBe('90d');
    await settingsOf(other).getByRole('button', { name: 'Save' }).click();
    await settingsOf(other).getByRole('button', { name: 'Show what was saved' }).click();
    await expect.poll(() => ttlOf(other).inputValue()).toBe('60d');
    await page.reload();
    await expect.poll(() => ttlOf(page).inputValue()).toBe('60d');
  });

  it('is accessible, in light and dark and on a phone', async () => {
    const { page, failures } = await openInbox({
      colorScheme: 'light',
      viewport: { width: 1280, height: 800 },
    });
    await page.getByRole('textbox', { name: 'Link' }).fill('https://shop.example/');
    await page.getByLabel('Category').first().fill('offer');
    await sendToEveryone(page, 'Sale');
    await messageIn(page, 'Sale').waitFor();
    await notifier(page, 'Notifications, 1 unread').click();
    for (const tab of ['Messages', 'Sent', 'Settings']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel', { name: tab }).waitFor();
      await expectUsable(page, tab);
    }
    expect(failures).toEqual([]);
  });
});
