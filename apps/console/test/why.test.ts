import { describe, expect, it, onTestFinished } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { openSignedInPage } from './signed-in-page.ts';
import { openDestination, post, sampleSource } from './test-server.ts';
import { expectUsable } from './usability.ts';

const { browser, server } = await openBrowserAndServer();
const slowly = { timeout: 90_000 }; // a browser beside everything else that is tested takes its time

describe.skipIf(!browser)(browser ? 'why' : 'why (needs a browser)', slowly, () => {
  it('goes from an event down to its attempt, and from there to the task that named the event', async () => {
    const destination = await openDestination(200);
    onTestFinished(() => destination.close());
    const { page, client, failures } = await openSignedInPage(browser!, server.url, { path: undefined });
    const { path, address } = await sampleSource(client);
    const sourceId = path.split('/').at(-1)!;
    await client.webhooks.createConnection({
      sourceId,
      body: { name: 'Billing', destinationUrl: destination.url },
    });
    await post(address, { type: 'paid' });
    const [event] = (await client.webhooks.listEvents({ sourceId })).data.data;
    const { eventId } = event!;
    const { data: task } = await client.tasks.create({ body: { title: 'Pack it' }, 'stak-cause': eventId });
    await page.goto(`${server.url}${path}/events/${eventId}`);
    await page.getByRole('button', { name: 'Why this event?' }).click();
    const why = page.getByRole('region', { name: 'Why this event' });
    const attempt = why.getByRole('button', { name: /^attempt request to/ });
    await attempt.waitFor(); // it appears while the picture is open
    await expectUsable(page, 'why');
    await attempt.click();
    await why.getByRole('button', { name: /^delivery to Billing/ }).waitFor();
    await why.getByRole('button', { name: 'Back' }).waitFor();

    await page.goto(`${server.url}/console/tasks?task=${task.task_id}`);
    await page.getByRole('button', { name: 'Why this task?' }).click();
    const chain = page.getByRole('region', { name: 'Why this task' });
    await chain.getByRole('button', { name: /^event paid from/ }).waitFor();
    await chain.getByText('Pack it').waitFor();
    expect(failures).toEqual([]);
  });
});
