import { systemClock } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openBrowser } from './browser.ts';
import { type MailFolder, openMailFolder } from './mail-folder.ts';
import { openSignedInPage } from './signed-in-page.ts';
import { openDestination, openTestServer, post, sampleSource, type TestServer } from './test-server.ts';

// From an event to its e-mail, from the e-mail to the console, and unsubscribing.

const browser = await openBrowser();
let server: TestServer;
let mails: MailFolder;
let aheadMs = 0; // of the server's clock
beforeAll(async () => {
  if (!browser) return;
  mails = await openMailFolder();
  const variables = {
    STAK_SMTP_URL: mails.url,
    STAK_DEFAULT_PLAN: 'free',
    STAK_STORAGE_LIMITS: 'free=1MB',
  };
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  server = await openTestServer(variables, {}, clock);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await mails?.close();
});

// Notices go to addresses that are verified.
async function openVerified() {
  const opened = await openSignedInPage(browser!, server.url);
  await opened.page.goto(await mails.linkTo(opened.email, 'Verify'));
  await opened.page.getByRole('button', { name: 'This is my address' }).click();
  await opened.page.getByRole('heading', { name: 'Your address is verified' }).waitFor();
  const mailSwitch = async (name: string) => {
    await opened.page.goto(`${server.url}/console/account?tab=profile`);
    const found = opened.page.getByRole('switch', { name });
    await found.waitFor();
    return found;
  };
  return { ...opened, mailSwitch };
}

const unsubscribeLink = /^To stop these mails: (?<url>http\S+)$/m;
const unsubscribeUrl = (mail: string): string => unsubscribeLink.exec(mail)!.groups!.url!;

describe.skipIf(!browser)(browser ? 'a notice' : 'a notice (needs a browser)', { timeout: 120_000 }, () => {
  it('about a plan limit links to the plan, and can be turned off', async () => {
    const { page, email, client, mailSwitch, failures } = await openVerified();
    const { address } = await sampleSource(client);
    const fill = async (times: number) => {
      for (let sent = 0; sent < times; sent++)
        expect((await fetch(address, { method: 'POST', body: 'x'.repeat(170_000) })).status).toBe(200);
    };
    await fill(5);
    const subject = 'Sample: 80 % of your storage is used';
    // Counted from the stream, and looked at with the requests that come after.
    const look = () => client.tasks.create({ body: { title: 'Look' } });
    const mail = await vi.waitFor(
      async () => {
        await look();
        return (await mails.find(email, subject)) ?? expect.fail(subject);
      },
      { timeout: 60_000, interval: 250 },
    );
    await page.goto(/^http\S+tab=billing$/m.exec(mail)![0]);
    const usage = page.getByRole('region', { name: 'Usage' });
    await usage.getByText('requests that would store more answer 402').waitFor();

    // Opening the link only asks: a program that scans e-mails must not unsubscribe.
    await page.goto(unsubscribeUrl(mail));
    expect((await client.accounts.getMe()).data.mails.limits).toBe(true);
    await page.getByRole('button', { name: 'Stop mails about the limits of your plan' }).click();
    await page.getByText('You get no more mails about the limits of your plan.').waitFor();
    const limits = await mailSwitch('Limits of the plan');
    await expect.poll(() => limits.isChecked()).toBe(false);
    await expect.poll(() => page.getByRole('switch', { name: 'Failing deliveries' }).isChecked()).toBe(true);

    await limits.click();
    await expect.poll(async () => (await client.accounts.getMe()).data.mails.limits).toBe(true);
    // One-click unsubscribe of a mail client, which has no session (RFC 8058).
    expect(mail).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m);
    const oneClick = await fetch(unsubscribeUrl(mail), {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    expect(oneClick.status).toBe(200);
    expect(await (await mailSwitch('Limits of the plan')).isChecked()).toBe(false);
    expect(failures).toEqual([]);
  });

  it('about failing deliveries links to the connections, and can be turned off', async () => {
    const { page, email, client, mailSwitch, failures } = await openVerified();
    const dead = await openDestination(500);
    const { path, address } = await sampleSource(client);
    await client.webhooks.createConnection({
      sourceId: path.split('/').at(-1)!,
      body: { name: 'Dead', destinationUrl: dead.url, retryConfig: { maxAttempts: 1 } },
    });
    await post(address, { type: 'order.paid' });
    // Gathered for a minute, which passes at once here.
    const mail = await vi.waitFor(
      async () => {
        aheadMs += 61_000;
        return (await mails.find(email, 'Webhooks of Sample are not delivered')) ?? expect.fail('no mail');
      },
      { timeout: 60_000, interval: 8_000 },
    );
    dead.close();
    expect(mail).toMatch(/Shop, Dead: delivery failed at \d\d:\d\d UTC/);
    await page.goto(/^http\S+webhooks\/connections$/m.exec(mail)![0]);
    await page.getByRole('table').getByText('Dead').waitFor();

    await page.goto(unsubscribeUrl(mail));
    await page.getByRole('button', { name: 'Stop mails about failing deliveries' }).click();
    await page.getByText('You get no more mails about failing deliveries.').waitFor();
    expect(await (await mailSwitch('Failing deliveries')).isChecked()).toBe(false);
    await expect.poll(() => page.getByRole('switch', { name: 'Limits of the plan' }).isChecked()).toBe(true);

    // A forged link changes nothing and says where the settings are.
    await page.goto(`${server.url}/v1/mail/unsubscribe?token=made-up`);
    await page.getByText('This link does not work any more.').waitFor();
    expect(failures).toEqual([]);
  });
});
