import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { openSignedInPage, type PageOptions } from './signed-in-page.ts';
import { openDestination, post, sampleSource } from './test-server.ts';
import { expectUsable, findBarriers, follow } from './usability.ts';

const { browser, server } = await openBrowserAndServer();
const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

const enter = (options: PageOptions = {}) =>
  openSignedInPage(browser!, server.url, { path: '/console/', ...options });

async function createSource(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'New source' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('button', { name: 'Create source' }).click();
  return page.getByTestId('address').innerText();
}

async function connect(page: Page, destination: string): Promise<void> {
  await page.getByRole('tab', { name: 'Connections' }).click();
  await page.getByRole('button', { name: 'New connection' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Billing');
  await page.getByRole('textbox', { name: 'Destination' }).fill(destination);
  await page.getByRole('button', { name: 'Create connection' }).click();
  await page.getByText('it is not shown again').waitFor();
}

describe.skipIf(!browser)(browser ? 'webhooks' : 'webhooks (needs a browser)', slowly, () => {
  it('shows a webhook as it arrives, its deliveries, and delivers it again', async () => {
    const destination = await openDestination(500);
    onTestFinished(() => destination.close());
    const { page, failures, client } = await enter({ path: '/console/webhooks' });
    const address = await createSource(page, 'Shop');
    await page.getByText(`curl -X POST '${address}'`).waitFor();
    expect(await page.title()).toBe('Events · Shop · Stak');
    await connect(page, destination.url);
    await page.getByRole('button', { name: 'Run the sample' }).click();
    const sample = page.getByRole('region', { name: 'Send a sample' });
    await sample.getByText('The filter lets it through').waitFor();
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
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('Answered 200', { exact: true }).waitFor();
    expect(destination.bodies.at(-1)).toBe('{"type":"order.paid"}');
    await page.getByText('Hex', { exact: true }).click();
    await page.getByText('7b 22 74 79 70 65 22').waitFor();
    await page.getByRole('tab', { name: 'Sent' }).click();
    await page.getByText(/X-Stak-Signature: .{6}•/).waitFor();
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText('Body: sent as received').waitFor();
    await page.getByText('+ webhook-id').waitFor();

    // All filters are in the address, also for all sources.
    const nextEvent = (await (await post(address, { type: 'order.sent', id: 7 })).json()) as {
      eventId: string;
    };
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByRole('cell', { name: 'order.paid' }).waitFor();
    // On a phone no filter covers the next one.
    await page.setViewportSize({ width: 390, height: 800 });
    const boxOf = async (name: string) =>
      (await page.getByLabel(name, { exact: true }).first().boundingBox())!;
    // The filters take their places one after the other when the window has changed.
    const betweenFilters = async () => {
      const { x, width } = await boxOf('Search');
      return width < 180 ? (await boxOf('Source')).x - (x + width) : Number.NEGATIVE_INFINITY;
    };
    await expect.poll(betweenFilters).toBeGreaterThan(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('textbox', { name: 'Value' }).fill('body.id = 7');
    await page.getByRole('cell', { name: 'order.paid' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: nextEvent.eventId }).click();
    const pane = page.getByRole('complementary', { name: 'Event' });
    await pane.getByRole('heading', { name: 'order.sent' }).waitFor();
    // In the format of earlier consoles.
    const { accountId } = (await client.accounts.readOrganisation()).data;
    const kept = JSON.stringify([{ name: 'Paid', value: { type: 'order.paid' } }]);
    await page.evaluate(`localStorage.setItem('stak-event-views-${accountId}', '${kept}')`);
    await page.reload();
    await pane.getByRole('heading', { name: 'order.sent' }).waitFor();
    await expect.poll(() => page.getByRole('textbox', { name: 'Value' }).inputValue()).toBe('body.id = 7');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save these filters…' }).click();
    await page.getByRole('textbox', { name: 'Name of the view' }).fill('Sevens');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Clear all filters' }).click();
    await page.getByRole('cell', { name: 'order.paid' }).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Move it to the organisation' }).click();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByText('Only in this browser').waitFor({ state: 'detached' });
    await page.getByRole('menuitem', { name: 'Paid', exact: true }).waitFor();
    expect((await client.accounts.listSaved({ kind: 'events' })).data.data).toMatchObject([
      { name: 'Paid', text: 'type=order.paid' },
      { name: 'Sevens', text: 'where=body.id+%3D+7' },
    ]);
    expect(await findBarriers(page)).toEqual([]);
    // A deleted view can be restored.
    await page.getByRole('menuitem', { name: 'Delete the view Paid' }).click();
    await page.getByRole('menuitem', { name: 'Paid', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect
      .poll(async () => (await client.accounts.listSaved({ kind: 'events' })).data.data)
      .toMatchObject([{ name: 'Paid', text: 'type=order.paid' }, { name: 'Sevens' }]);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Paid', exact: true }).waitFor();
    await page.getByRole('menuitem', { name: 'Sevens', exact: true }).click();
    await page.getByRole('cell', { name: 'order.paid' }).waitFor({ state: 'detached' });
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const csv = await readFile(await (await download).path(), 'utf8');
    expect(csv.split('\r\n')[1]).toContain(`${nextEvent.eventId},`);
    expect(csv.trim().split('\r\n')).toHaveLength(2);
    await page.keyboard.press('Control+K');
    await page.getByPlaceholder('paste an id').fill('shop');
    await page.getByRole('button', { name: /^Shop/ }).click();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await expect.poll(() => destination.bodies.at(-1)).toContain('order_1042');
    expect(failures).toEqual([]);
  });

  it('confirms before deleting a connection, a source and the trash', async () => {
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

  it('shows one status per source, and sends a test event with a valid signature', async () => {
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
    const own = (await client.webhooks.createSource({ body: { name: 'Ours', provider: 'stak' } })).data;
    await follow(page, `/console/webhooks/${own.sourceId}?tab=settings`);
    await page.getByRole('switch', { name: 'Audit trail' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The source is saved.').last().waitFor();
    const { data: saved } = await client.webhooks.readSource({ sourceId: own.sourceId });
    expect(saved.auditTrail).toBe(true);
    expect(await findBarriers(page)).toEqual([]);
    await follow(page, `/console/webhooks/${sourceId}/events/evt_none`);
    await page.getByRole('heading', { name: 'There is no such event' }).waitFor();
    await follow(page, '/console/webhooks/src_none');
    await page.getByRole('heading', { name: 'There is no such source' }).waitFor();
    expect(await page.getByText('This did not work').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Replay many' }).count()).toBe(0);
    await follow(page, '/console/tables');
    await page.getByRole('heading', { name: 'This page is for operators' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(failures).toEqual([]);
  });

  it('tests a filter while it is edited, and reports what is wrong with it', async () => {
    const { page, client, failures } = await enter({ path: undefined, colorScheme: 'light' });
    const { path, address } = await sampleSource(client);
    await post(address, { type: 'order.paid', amount: 5 });
    await page.goto(server.url + path);
    await page.getByRole('tab', { name: 'Connections' }).click();
    await page.getByRole('button', { name: 'New connection' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Billing');
    await page.getByRole('textbox', { name: 'Destination' }).fill('http://127.0.0.1:9/');
    await page.getByRole('combobox', { name: 'Try it with' }).click();
    await page.getByRole('option', { name: /^order.paid/ }).click();
    await page.getByText('The filter lets it through').waitFor();
    await page.getByRole('button', { name: 'Add rule' }).click();
    const rule = page.getByRole('group', { name: 'Rule 1' });
    await rule.getByRole('textbox', { name: 'Path in the body' }).fill('$.amount');
    await rule.getByRole('combobox', { name: 'Comparison' }).click();
    await page.getByRole('option', { name: 'is at least' }).click();
    await rule.getByRole('textbox', { name: 'Value' }).fill('6');
    await page.getByText('The filter rejects it').waitFor();
    await rule.getByRole('textbox', { name: 'Value' }).fill('5');
    await page.getByText('The filter lets it through').waitFor();
    await page.getByRole('combobox', { name: 'Transform' }).click();
    await page.getByRole('option', { name: 'JavaScript' }).click();
    const code = page.getByRole('textbox', { name: 'Code' });
    await code.fill('function transform(event) { return { body: { total: event.body.amount } }; }');
    await page.getByLabel('Body that is sent').getByText('"total": 5').waitFor();
    await code.fill('event.body.am');
    await page.getByRole('option', { name: /^amount/ }).waitFor(); // of the sample's body
    await page.keyboard.press('Escape');
    await code.fill('function transform(event) { return { body: { total: event.body.amount } }; }');
    await expectUsable(page, 'a connection');
    await page.getByText('JSON', { exact: true }).click();
    const filter = page.getByRole('textbox', { name: 'Filter as JSON' });
    expect(JSON.parse(await filter.innerText())).toEqual([
      { field: 'body', path: '$.amount', operator: 'gte', value: 5 },
    ]);
    await filter.fill('[{ "field": "body", "path": "$.a", "operator": "resembles" }]');
    await page.getByRole('button', { name: 'Create connection' }).click();
    await expect.poll(() => filter.getAttribute('aria-invalid')).toBe('true');

    await filter.fill('[]');
    await page.getByRole('textbox', { name: 'Destination' }).fill(`${server.url}/nowhere`);
    await page.getByRole('button', { name: 'Retries, rate and order' }).click();
    await page.getByRole('textbox', { name: 'Wait before each retry' }).fill('10s, 5m');
    await page.getByRole('img', { name: /^3 attempts within/ }).waitFor();
    await page.getByRole('textbox', { name: 'Deliveries per second' }).fill('5');
    await page.getByRole('button', { name: 'Create connection' }).click();
    await page.getByText('it is not shown again').waitFor();
    const { sourceId } = (await client.webhooks.listSources()).data.data[0]!;
    const [made] = (await client.webhooks.listConnections({ sourceId })).data.data;
    expect(made).toMatchObject({ retryConfig: { delaysS: [10, 300] }, ratePerSecond: 5, ordered: false });
    expect(made!.transform).toMatchObject({ type: 'javascript' });
    // Opened by its address, it shows the saved values, and saving it again loses nothing.
    await page.reload();
    const transform = page.getByRole('combobox', { name: 'Transform' });
    await expect.poll(() => transform.inputValue()).toBe('JavaScript');
    expect(failures).toEqual([]);
  });

  it('keeps typed values and a new secret while a source is reloaded', async () => {
    const { page, client, failures } = await enter({ path: undefined });
    const { path } = await sampleSource(client);
    const sourceId = path.split('/').at(-1)!;
    await page.goto(`${server.url}${path}?tab=settings`);
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('Shop in town');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await expect.poll(() => name.inputValue()).toBe('Shop in town');
    await page.getByRole('textbox', { name: 'Alert address' }).fill(`${server.url}/alerts`);
    await page.getByRole('button', { name: 'Save' }).click();
    const secret = page.getByRole('alert').filter({ hasText: 'Alerts are signed with this secret' });
    await secret.getByText(/^whsec_/).waitFor();
    const first = await secret.getByText(/^whsec_/).innerText();
    await page.getByRole('heading', { name: 'Shop in town' }).waitFor();
    await name.fill('Shop at sea');
    await page.getByRole('button', { name: 'Rotate alert secret' }).click();
    await expect.poll(() => secret.getByText(/^whsec_/).innerText()).not.toBe(first);
    await expect.poll(() => name.inputValue()).toBe('Shop at sea');

    // Pauses and new secrets are no conflict with the form; another name is.
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Shop at sea' }).waitFor();
    await name.fill('Mine');
    await client.webhooks.editSource({ sourceId, body: { name: 'Theirs' } });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else has saved these settings').waitFor();
    expect((await client.webhooks.readSource({ sourceId })).data.name).toBe('Theirs');
    await expect.poll(() => name.inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Show what was saved' }).click();
    await expect.poll(() => name.inputValue()).toBe('Theirs');

    // Another source of the same page has neither its secret nor its name.
    const other = (await client.webhooks.createSource({ body: { name: 'Other' } })).data;
    await follow(page, `/console/webhooks/${other.sourceId}?tab=settings`);
    await expect.poll(() => name.inputValue()).toBe('Other');
    expect(await secret.count()).toBe(0);
    expect(failures).toEqual([]);
  });

  it('does not overwrite another person’s connection, and shows each secret with its connection', async () => {
    const { page, client, failures } = await enter({ path: undefined });
    const { path } = await sampleSource(client);
    const sourceId = path.split('/').at(-1)!;
    const made = async (name: string) => {
      const body = { name, destinationUrl: `${server.url}/nowhere`, maxConcurrency: 3 };
      return (await client.webhooks.createConnection({ sourceId, body })).data.connectionId;
    };
    const billing = await made('Billing');
    await made('Stock');
    await page.goto(`${server.url}${path}?tab=connections`);
    await page.getByRole('button', { name: 'Edit and test Stock' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Edit and test Billing' }).click();
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByText('it is not shown again').waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByRole('dialog', { name: 'Stock' }).waitFor();
    expect(await page.getByText('it is not shown again').count()).toBe(0);
    await page.getByRole('button', { name: 'Close' }).click();

    // A pause in between is no conflict; another destination is.
    await page.getByRole('button', { name: 'Edit and test Billing' }).click();
    const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' });
    await name.fill('Invoices');
    await client.webhooks.editConnection({ connectionId: billing, body: { status: 'paused' } });
    await page.getByRole('button', { name: 'Retries, rate and order' }).click();
    await page.getByRole('textbox', { name: 'Concurrent deliveries' }).fill('');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The connection is saved.').waitFor();
    const saved = async () => (await client.webhooks.readConnection({ connectionId: billing })).data;
    expect(await saved()).toMatchObject({ name: 'Invoices', status: 'paused', maxConcurrency: 16 });
    await name.fill('Mine');
    const elsewhere = { destinationUrl: `${server.url}/elsewhere` };
    await client.webhooks.editConnection({ connectionId: billing, body: elsewhere });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Somebody else has saved these settings').waitFor();
    expect(await saved()).toMatchObject({ ...elsewhere, name: 'Invoices' });
    await page.getByRole('button', { name: 'Show what was saved' }).click();
    const destination = page.getByRole('textbox', { name: 'Destination' });
    await expect.poll(() => destination.inputValue()).toBe(elsewhere.destinationUrl);
    await name.fill('Mine');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(async () => (await saved()).name).toBe('Mine');
    expect(failures).toEqual([]);
  });

  it('does not change a list of events while its updates are paused', async () => {
    const { page, client, failures } = await enter({ path: undefined });
    const { path } = await sampleSource(client);
    await page.goto(server.url + path);
    await page.getByText('No events yet').waitFor();
    await page.getByRole('button', { name: 'Pause updates' }).click();
    let reads = 0;
    page.on('request', request => {
      if (new URL(request.url()).pathname.endsWith('/events')) reads += 1;
    });
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('The test event has arrived').waitFor();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await page.getByText('No events yet').waitFor();
    await page.getByRole('button', { name: 'Resume updates' }).click();
    await page.getByRole('link', { name: /^evt_/ }).waitFor();
    expect(reads).toBe(1);
    expect(failures).toEqual([]);
  });
});
