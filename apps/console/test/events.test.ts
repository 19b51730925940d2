import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { bestWaitMs, watchInteractions } from './interactions.ts';
import { openSignedInPage } from './signed-in-page.ts';
import { openDestination, post } from './test-server.ts';
import { expectUsable, follow } from './usability.ts';

const { browser, server } = await openBrowserAndServer();
const slowly = { timeout: 180_000 };

describe.skipIf(!browser)(browser ? 'events' : 'events (needs a browser)', slowly, () => {
  it('are replayed by filter, after a confirmation with their number, with progress', async () => {
    const { page, client, failures } = await openSignedInPage(browser!, server.url);
    const { sourceId, ingestUrl } = (await client.webhooks.createSource({ body: { name: 'Shop' } })).data;
    const destination = await openDestination(400);
    await client.webhooks.createConnection({
      sourceId,
      body: { name: 'Billing', destinationUrl: destination.url, retryConfig: { maxAttempts: 1 } },
    });
    for (const type of ['order.paid', 'order.paid', 'order.sent']) await post(ingestUrl!, { type });
    const failed = async () =>
      (await client.webhooks.listEvents({ sourceId, status: 'failed' })).data.data.length;
    await expect.poll(failed).toBe(3);
    destination.status = 200;

    const path = `/console/webhooks/${sourceId}?type=order.paid`;
    await page.goto(server.url + path);
    const replay = page.getByRole('button', { name: 'Replay many' });
    await replay.click();
    await page.getByRole('menuitem', { name: 'All failed events that match the filters…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay 2 failed events?' });
    await dialog.getByText('Only events that match').waitFor();
    await expectUsable(page, 'the question before a replay');
    await dialog.getByRole('button', { name: 'Replay 2 events' }).click();
    await page.getByText(/^Replayed 2 events, 2 deliveries/).waitFor();
    await expect.poll(failed).toBe(1);
    expect(destination.bodies).toHaveLength(5);

    // Those who come back see the progress, and can stop it.
    const { data: jobs } = (await client.webhooks.listJobs()).data;
    const running = { ...jobs[0], state: 'running', matched: 5, expected: 12, finishedAt: undefined };
    await page.route('**/v1/webhook-jobs', route =>
      route.fulfill({ json: { data: [running], next_cursor: null } }),
    );
    await follow(page, '/console/tasks');
    await page.getByRole('textbox', { name: 'New task', exact: true }).waitFor();
    await follow(page, path);
    await page.getByText('Replaying: 5 of 12 events').waitFor();
    await expectUsable(page, 'a replay that runs');
    const stopped = page.waitForRequest(one => one.url().endsWith('/cancel'));
    await page.getByRole('button', { name: 'Stop' }).click();
    await stopped;
    destination.close();
    expect(failures).toEqual([]);
  });

  it('have one row of buttons and one of filters on a wide screen, and no empty space below', async () => {
    const { page, client } = await openSignedInPage(browser!, server.url, {
      viewport: { width: 1440, height: 900 },
    });
    const { sourceId, ingestUrl } = (await client.webhooks.createSource({ body: { name: 'Shop' } })).data;
    const { eventId } = (await (await post(ingestUrl!, { type: 'order.paid' })).json()) as {
      eventId: string;
    };
    await page.goto(`${server.url}/console/webhooks/events?source=${sourceId}`);
    await page.getByRole('link', { name: eventId }).waitFor();
    const rowsOf = (selector: string) =>
      page.evaluate(
        `[...new Set([...document.querySelectorAll('${selector}')].map(one => one.getBoundingClientRect().top))]`,
      );
    await page.getByRole('button', { name: 'Replay many' }).waitFor();
    await expect.poll(() => rowsOf('[role=search] .mantine-InputWrapper-root')).toHaveLength(1);
    await expect.poll(() => rowsOf('main .mantine-Button-root')).toHaveLength(1);
    const heightOf = async (found: Locator) => (await found.boundingBox())!.height;
    const group = page.getByRole('group', { name: 'Events' });
    const besideTable = async () => (await heightOf(group)) - (await heightOf(page.getByRole('table')));
    await expect.poll(besideTable).toBeLessThan(2);

    await page.getByRole('textbox', { name: 'Type' }).fill('nothing.of.this');
    await page.getByText('No events match.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByRole('link', { name: eventId }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await expect
      .poll(() => page.getByRole('row').filter({ hasText: eventId }).getByRole('cell').count())
      .toBe(3);
    await page.setViewportSize({ width: 1440, height: 900 });

    // The page of one belongs to them, wherever it is opened.
    await page.goto(`${server.url}/console/webhooks/${sourceId}/events/${eventId}`);
    await page.getByText('"order.paid"').waitFor();
    const current = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current=page]');
    await expect.poll(() => current.allInnerTexts()).toEqual(['Events']);

    // Numbers about them have the heading of their page, and no second one.
    await page.goto(`${server.url}/console/webhooks/analytics`);
    await page.getByText('Successful deliveries').waitFor();
    const headings = page.getByRole('main').getByRole('heading');
    await expect.poll(() => headings.allInnerTexts()).toEqual(['Analytics', 'Events by day']);
    await page.goto(`${server.url}/console/data/insights?service=inbox`);
    await page.getByText('Read rate').waitFor();
    await expect.poll(() => headings.allInnerTexts()).toEqual(['Insights', 'Messages by day']);
  });

  it('are chosen, replayed and cancelled together, by keys and by pointer', async () => {
    const { page, client, failures } = await openSignedInPage(browser!, server.url, {
      viewport: { width: 1440, height: 900 },
    });
    const destination = await openDestination(200);
    const sent: string[] = [];
    for (const name of ['Shop', 'Bank']) {
      const { sourceId, ingestUrl } = (await client.webhooks.createSource({ body: { name } })).data;
      const body = { name: `Billing of ${name}`, destinationUrl: destination.url };
      await client.webhooks.createConnection({ sourceId, body });
      const answer = await post(ingestUrl!, { type: `${name.toLowerCase()}.paid` });
      sent.push(((await answer.json()) as { eventId: string }).eventId);
    }
    await expect.poll(() => destination.bodies.length).toBe(2);
    await page.goto(`${server.url}/console/webhooks/events`);
    for (const eventId of sent) await page.getByRole('checkbox', { name: `Choose ${eventId}` }).check();
    const chosen = page.getByRole('toolbar', { name: 'Chosen events' });
    await chosen.getByText('2 events chosen').waitFor();
    await expectUsable(page, 'chosen events');
    await chosen.getByRole('button', { name: 'Replay' }).click();
    await page
      .getByRole('dialog', { name: 'Replay 2 events?' })
      .getByRole('button', { name: 'Replay' })
      .click();
    await expect.poll(() => destination.bodies.length).toBe(4);
    await chosen.waitFor({ state: 'detached' });

    // The whole row opens, and r replays what is open.
    await page
      .getByRole('row', { name: /bank.paid/ })
      .getByText('bank.paid')
      .click();
    const pane = page.getByRole('complementary', { name: 'Event' });
    await pane.getByRole('heading', { name: 'bank.paid' }).waitFor();
    await page.keyboard.press('r');
    await expect.poll(() => destination.bodies.length).toBe(5);
    await page.keyboard.press('Escape');
    await pane.waitFor({ state: 'detached' });

    // x chooses what j has marked, and what is on its way can be cancelled.
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await chosen.getByText('1 event chosen').waitFor();
    await chosen.getByRole('button', { name: 'Cancel deliveries' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel deliveries' }).click();
    await page.getByText('1 event is not tried any more.').waitFor();
    expect((await client.webhooks.listJobs()).data.data.map(job => job.action).toSorted()).toEqual([
      'cancel',
      'replay',
      'replay',
    ]);
    destination.close();
    expect(failures).toEqual([]);
  });

  it('are as fast with a hundred thousand of them, and can be narrowed by dragging over their times', async () => {
    const { page, client, failures } = await openSignedInPage(browser!, server.url, {
      viewport: { width: 1440, height: 900 },
    });
    const { sourceId, ingestUrl } = (await client.webhooks.createSource({ body: { name: 'Shop' } })).data;
    await post(ingestUrl!, { type: 'order.paid' });
    const [sample] = (await client.webhooks.listEvents({ sourceId })).data.data;
    const pageOf = 10_000;
    const asked: URL[] = [];
    await page.route('**/v1/events?*', route => {
      const address = new URL(route.request().url());
      asked.push(address);
      const first = Number(address.searchParams.get('cursor') ?? 0);
      const data = Array.from({ length: pageOf }, (_, at) => ({
        ...sample,
        eventId: `evt_${String(first + at).padStart(6, '0')}`,
        status: (first + at) % 50 === 0 ? 'failed' : 'delivered',
        receivedAt: sample!.receivedAt - (first + at) * 1_000,
      }));
      const next_cursor = first + pageOf < 100_000 ? String(first + pageOf) : null;
      return route.fulfill({ json: { data, next_cursor } });
    });
    await page.goto(`${server.url}/console/webhooks/events`);
    await page.getByRole('link', { name: 'evt_000000' }).waitFor();
    const last = page.getByRole('link', { name: 'evt_099999' });
    await expect
      .poll(
        async () => {
          await page.evaluate('window.scrollTo(0, 1e9)');
          return last.count();
        },
        { interval: 50 },
      )
      .toBe(1);
    expect(await page.getByRole('row').count()).toBeLessThan(60);
    // However long the list is, only its newest page is read again.
    const loaded = asked.length;
    await page.keyboard.press('j');
    await expect.poll(() => asked.length, { timeout: 30_000 }).toBeGreaterThan(loaded);
    expect(asked.slice(loaded).filter(address => address.searchParams.has('cursor'))).toEqual([]);
    await page.evaluate('window.scrollTo(0, 0)');
    await watchInteractions(page);
    const step = async () => {
      await page.keyboard.press('j');
      await page.keyboard.press('k');
    };
    expect(await bestWaitMs(page, step, 100)).toBeLessThan(100);

    const picture = page.getByRole('img', { name: 'Events by hour: 100,000 events, 2000 of them failed' });
    const { x, y, width } = (await picture.boundingBox())!;
    await page.mouse.move(x + width * 0.5, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.7, y + 10, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => asked.at(-1)!.searchParams.has('from')).toBe(true);
    const { searchParams } = asked.at(-1)!;
    const hours = (Date.parse(searchParams.get('to')!) - Date.parse(searchParams.get('from')!)) / 3_600_000;
    expect(hours).toBeGreaterThan(4);
    expect(hours).toBeLessThan(9);
    expect(failures).toEqual([]);
  });

  it('can be copied as curl, also without a body', async () => {
    const { page, client } = await openSignedInPage(browser!, server.url);
    const { sourceId, ingestUrl } = (await client.webhooks.createSource({ body: { name: 'Shop' } })).data;
    const { eventId } = (await (await fetch(ingestUrl!, { method: 'POST' })).json()) as { eventId: string };
    await page.goto(`${server.url}/console/webhooks/${sourceId}/events/${eventId}`);
    await page.getByText('The body is empty.').waitFor();
    await page.getByRole('button', { name: 'Copy as curl' }).waitFor();
  });
});
