import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { openSignedInPage } from './signed-in-page.ts';

const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time
const { browser, server } = await openBrowserAndServer();
async function saveAll(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions of Ann' }).click();
  await page.getByRole('menuitem', { name: 'Download everything' }).click();
}

describe.skipIf(!browser)(browser ? 'downloads' : 'downloads (needs a browser)', slowly, () => {
  it('contain all data of an account', async () => {
    const { page, failures } = await openSignedInPage(browser!, server.url, {
      path: '/console/account?tab=profile',
    });
    await page.getByLabel('Passphrase').first().fill('correct horse battery');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('stak-account.tar');
    expect(String(await readFile(await file.path()))).toContain('archive.json');
    await page.getByText(/received\. The file is complete\./).waitFor();
    expect(failures).toEqual([]);
  });

  it('contain all data of a user; an interrupted one is not saved', async () => {
    const { page, client, failures } = await openSignedInPage(browser!, server.url);
    const tenant_id = 'shop';
    await client.tenants.create({ body: { tenant_id, name: 'Shop', status: 'active' } });
    await client.tenants.createUser({ tenant_id, body: { user_id: 'ann', display_name: 'Ann' } });
    await page.goto(`${server.url}/console/agents/${tenant_id}?tab=users`);
    const saved = page.waitForEvent('download');
    await saveAll(page);
    const file = await saved;
    expect(file.suggestedFilename()).toBe(`${tenant_id}-ann.ndjson`);
    expect(String(await readFile(await file.path()))).toMatch(
      /"kind":"user".*\{"kind":"end","items":\d+\}\n$/s,
    );
    await page.getByText(/received\. The file is complete\./).waitFor();

    await page.route('**/users/ann/export', route =>
      route.fulfill({ contentType: 'application/x-ndjson', body: '{"service":"tenants","kind":"user"}\n' }),
    );
    await saveAll(page);
    await page.getByText('The download was interrupted.').waitFor();
    expect(failures).toEqual([]);
  });
});
