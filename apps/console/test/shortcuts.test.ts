import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { openSignedInPage } from './signed-in-page.ts';
import { post, sampleSource } from './test-server.ts';
import { expectUsable, follow } from './usability.ts';

const { browser, server } = await openBrowserAndServer();
const slowly = { timeout: 180_000 };

describe.skipIf(!browser)(browser ? 'the console' : 'the console (needs a browser)', slowly, () => {
  it('has shortcuts to search, create and step through events, and a command palette', async () => {
    const viewport = { width: 1280, height: 800 };
    const { page, client, failures } = await openSignedInPage(browser!, server.url, { viewport });
    const { address } = await sampleSource(client);
    for (const type of ['order.sent', 'order.paid']) await post(address, { type });
    await client.tenants.create({ body: { tenant_id: 'harbour', name: 'Harbour' } });
    await client.tenants.createUser({
      tenant_id: 'harbour',
      body: { user_id: 'zoe', display_name: 'Zoe Park' },
    });
    await page.goto(`${server.url}/console/webhooks/events`);
    await page.getByRole('link', { name: /^evt_/ }).first().waitFor();
    const open = page.locator('[aria-current="true"]');
    const [newest, older] = await page.getByRole('link', { name: /^evt_/ }).allInnerTexts();
    await page.keyboard.press('j');
    await page.locator('tr[data-marked]', { hasText: newest! }).waitFor();
    for (const [key, event] of [
      ['Enter', newest],
      ['j', older],
      ['k', newest],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => open.innerText()).toBe(event);
    }
    await page.keyboard.press('Escape');
    await open.waitFor({ state: 'detached' });

    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByText('Next event in a list of events').waitFor();
    await expectUsable(page, 'the shortcuts');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    const focused = (label: string) => page.locator(`:focus`).and(page.getByLabel(label, { exact: true }));
    await focused('Search').waitFor();

    await follow(page, '/console/tasks');
    await page.getByRole('textbox', { name: 'New task', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Tasks' }).click(); // no field has the keys
    await page.keyboard.press('c');
    await focused('New task').waitFor();

    await page.keyboard.press('Control+K');
    const box = page.getByRole('textbox', { name: 'Search everything' });
    await box.fill('zoe');
    await page.getByRole('button', { name: 'Zoe Park' }).waitFor();
    await box.fill('order.paid');
    await page.getByRole('button', { name: 'order.paid' }).first().click();
    await page.getByText('"order.paid"').first().waitFor();

    // The first result is selected, also if Enter comes before it does.
    await client.tasks.create({ body: { title: 'Pay the rent' } });
    await page.keyboard.press('Control+K');
    await box.fill('the rent');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    // What was opened is offered again, first and selected. Escape leaves it.
    await page.keyboard.press('Control+K');
    await page.getByRole('button', { name: 'Pay the rent' }).and(page.locator('[data-selected]')).waitFor();
    await expectUsable(page, 'the palette');
    await page.keyboard.press('Escape');

    // Actions come before pages, and their field has the focus.
    await page.keyboard.press('Control+K');
    await box.fill('new t');
    await page.getByRole('button', { name: 'New task' }).and(page.locator('[data-selected]')).waitFor();
    await page.keyboard.press('Enter');
    await focused('New task').waitFor();
    await page.keyboard.press('Control+K');
    await box.fill('theme');
    await page.getByRole('button', { name: 'Dark colours' }).and(page.locator('[data-selected]')).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await page.keyboard.press('Control+K');
    await box.fill('sign out');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();
    expect(failures).toEqual([]);
  });

  it('saves the result of a query as a Parquet file', async () => {
    const { page, client } = await openSignedInPage(browser!, server.url);
    await client.tasks.create({ body: { title: 'Call Ann' } });
    const sql = encodeURIComponent('select 1 as number');
    await page.goto(`${server.url}/console/data/sql?sql=${sql}`);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('1 row in').waitFor();
    await page.getByRole('button', { name: 'Download' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Parquet' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('result.parquet');
    expect((await readFile(await file.path())).subarray(0, 4).toString()).toBe('PAR1');
  });

  it('offers the available models', async () => {
    const { page, client } = await openSignedInPage(browser!, server.url);
    await client.tenants.create({ body: { tenant_id: 'quay', name: 'Quay' } });
    const price = { input: 3, output: 15 };
    const model = (provider: string, name: string) => ({ provider, model: name, is_default: false, price });
    const models = [model('anthropic', 'claude-x'), model('local', 'parrot'), model('local', 'macaw')];
    await page.route('**/v1/models', route =>
      route.fulfill({ json: { data: models, default: null, missing: 'Set STAK_MODEL.' } }),
    );
    await page.goto(`${server.url}/console/tenants/quay?tab=settings`);
    await page.getByText('Set STAK_MODEL.').waitFor();
    const field = (name: string) => page.getByRole('combobox', { name }).first();
    await field('Provider').fill('');
    await page.getByRole('option', { name: 'local' }).click();
    await field('Model').fill('');
    await expect.poll(() => page.getByRole('option').allInnerTexts()).toEqual(['parrot', 'macaw']);
    await page.getByRole('option', { name: 'macaw' }).click();
    await page.getByText('$3 in, $15 out per million tokens').waitFor();
    await expectUsable(page, 'the settings of a tenant');
  });

  it('filters the audit trail on the server, by person, action and days', async () => {
    const { page, client } = await openSignedInPage(browser!, server.url);
    await client.accounts.createKey({ body: { name: 'Backend', permissions: 'write' } });
    await page.goto(`${server.url}/console/account?tab=audit`);
    await page.getByRole('row', { name: /signed up/ }).waitFor();
    const asked = page.waitForRequest(one => one.url().includes('action=key'));
    await page.getByRole('combobox', { name: 'Action' }).click();
    await page.getByRole('option', { name: 'API keys' }).click();
    await asked;
    await page.getByRole('row', { name: /signed up/ }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /created a key/ }).waitFor();
    await expectUsable(page, 'the audit trail');
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('No entries match these filters').waitFor();
  });

  it('shows names of sources and connections in the audit trail, with their ids', async () => {
    const { page, client } = await openSignedInPage(browser!, server.url);
    const { sourceId } = (await client.webhooks.createSource({ body: { name: 'Shop' } })).data;
    const body = { name: 'Billing', destinationUrl: 'https://billing.example/hook' };
    const { connectionId } = (await client.webhooks.createConnection({ sourceId, body })).data;
    await client.webhooks.editConnection({ connectionId, body: { name: 'Invoices' } });
    const gone = (await client.webhooks.createSource({ body: { name: 'Gone' } })).data;
    await client.webhooks.deleteSource({ sourceId: gone.sourceId });
    await page.goto(`${server.url}/console/account?tab=audit`);
    await page.getByRole('row', { name: /created a source Source Shop/ }).waitFor();
    const changed = page.getByRole('row', { name: /changed a connection Connection Invoices/ });
    await changed.getByRole('button', { name: `Copy ${connectionId}` }).waitFor();
    await page.getByRole('row', { name: new RegExp(`deleted a source Source ${gone.sourceId}`) }).waitFor();
    await expectUsable(page, 'the audit trail of webhooks');
  });
});
