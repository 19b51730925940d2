import { describe, expect, it, onTestFinished } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { openSignedInPage } from './signed-in-page.ts';
import { openDestination, post, sampleSource } from './test-server.ts';
import { expectUsable } from './usability.ts';

const { browser, server } = await openBrowserAndServer();
const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

describe.skipIf(!browser)(browser ? 'what if' : 'what if (needs a browser)', slowly, () => {
  it('runs the last week through other rules, saves them, and replays what differs', async () => {
    const destination = await openDestination(200);
    onTestFinished(() => destination.close());
    const { page, client, failures } = await openSignedInPage(browser!, server.url, {
      path: undefined,
    });
    const { path, address } = await sampleSource(client);
    const sourceId = path.split('/').at(-1)!;
    const paid = { field: 'body', path: '$.type', operator: 'equals', value: 'paid' } as const;
    await client.webhooks.createConnection({
      sourceId,
      body: { name: 'Billing', destinationUrl: destination.url, filters: [paid] },
    });
    for (const type of ['paid', 'open']) await post(address, { type });
    await expect.poll(() => destination.bodies).toEqual(['{"type":"paid"}']);
    await page.goto(`${server.url}${path}?tab=connections`);
    await page.getByRole('button', { name: 'Edit and test Billing' }).click();
    await page.getByText('JSON', { exact: true }).click();
    const filter = page.getByRole('textbox', { name: 'Filter as JSON' });
    await filter.fill(JSON.stringify([{ ...paid, value: 'open' }]));
    const whatIf = page.getByRole('region', { name: 'What if' });
    await whatIf.getByRole('button', { name: 'Try on the last week' }).click();
    await whatIf.getByText('2 events would be sent otherwise').waitFor();
    expect(await whatIf.getByRole('row', { name: /^sent/ }).innerText()).toMatch(/sent\s+1\s+1/);
    const differing = whatIf.getByRole('table', { name: 'Events that differ' });
    await differing.getByRole('row').last().getByRole('button').click();
    await whatIf.getByLabel('Body: now and then').getByText('"type": "open"').waitFor();
    await expectUsable(page, 'what if');
    await whatIf.getByRole('button', { name: 'Save them, and replay 1 event' }).click();
    await expect.poll(() => destination.bodies).toEqual(['{"type":"paid"}', '{"type":"open"}']);
    const [saved] = (await client.webhooks.listConnections({ sourceId })).data.data;
    expect(saved!.filters).toEqual([{ ...paid, value: 'open' }]);
    expect(failures).toEqual([]);
  });
});
