import { describe, expect, it } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { openSignedInPage } from './signed-in-page.ts';
import { post, sampleSource } from './test-server.ts';
import { expectUsable } from './usability.ts';

const { browser, server } = await openBrowserAndServer();
const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

describe.skipIf(!browser)(browser ? 'the lake' : 'the lake (needs a browser)', slowly, () => {
  it('stores texts after a confirmation, and erases them after another', async () => {
    const { page, client, failures } = await openSignedInPage(browser!, server.url, {
      path: '/console/data/sql',
      viewport: { width: 1280, height: 800 },
    });
    const texts = page.getByRole('region', { name: 'Texts' });
    const toggle = texts.getByRole('switch', { name: 'Keep texts in the lake' });
    await toggle.click();
    await page.getByRole('dialog', { name: 'Keep texts in the lake?' }).waitFor();
    await expectUsable(page, 'the question before texts are kept');
    await page.keyboard.press('Escape');
    await expect.poll(() => toggle.isChecked()).toBe(false);
    expect((await client.lake.readTexts()).data.enabled).toBe(false);

    await toggle.click();
    await page.getByRole('button', { name: 'Keep texts', exact: true }).click();
    await texts.getByText('event_bodies').waitFor();
    const { address } = await sampleSource(client);
    await post(address, { type: 'order.paid' });
    const kept = async () =>
      (await client.lake.query({ body: { sql: 'select body from event_bodies' } })).data.rows;
    await expect.poll(kept).toEqual([['{"type":"order.paid"}']]);

    await page.reload();
    await toggle.click();
    await page.getByRole('button', { name: 'Erase texts', exact: true }).click();
    await texts.getByText('are not copied into the lake').waitFor();
    await page.goto(`${server.url}/console/account?tab=audit`);
    await page.getByText('switched off texts in the lake, which erases them').waitFor();
    expect(failures).toEqual([]);
  });

  it('shows the history of a task', async () => {
    const { page, client, failures } = await openSignedInPage(browser!, server.url, {
      viewport: { width: 1280, height: 800 },
    });
    const { task_id } = (await client.tasks.create({ body: { title: 'Call Ann' } })).data;
    const change = { status: 'completed', due_date: '2030-01-02' } as const;
    await client.tasks.update({ task_id, body: change });
    const changes = async () => (await client.lake.history({ table: 'tasks', id: task_id })).data.data.length;
    await expect.poll(changes).toBe(2);
    await page.goto(`${server.url}/console/tasks?task=${task_id}`);
    await page.getByRole('button', { name: 'Show activity' }).click();
    const activity = page.getByRole('region', { name: 'Activity' });
    await activity.getByText('Status: To do → Done').waitFor();
    await activity.getByText('Due: 2030-01-02').waitFor();
    await activity.getByText('Created').waitFor();
    await expectUsable(page, 'a task with its activity');
    expect(failures).toEqual([]);
  });
});
