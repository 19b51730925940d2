import { describe, expect, it, onTestFinished } from 'vitest';
import { openBrowserAndServer } from './browser-and-server.ts';
import { newAccount, openPage, openSignedInPage } from './signed-in-page.ts';
import { openDestination, post } from './test-server.ts';

const { browser, server } = await openBrowserAndServer();

describe.skipIf(!browser)(
  browser ? 'a new user' : 'a new user (needs a browser)',
  { timeout: 120_000 },
  () => {
    it('reaches the first success of every service through the console alone', async () => {
      const destination = await openDestination(200);
      const { page, failures } = await openPage(browser!);
      const { name, email, password } = newAccount();
      const go = (section: string) =>
        page
          .getByRole('navigation', { name: 'Main' })
          .getByRole('link', { name: section, exact: true })
          .click();
      await page.goto(`${server.url}/console/`);
      await page.getByRole('button', { name: 'Create an account' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill(name);
      await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
      await page.getByLabel('Password').first().fill(password);
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByRole('region', { name: 'First steps' }).waitFor();

      // A webhook is received, delivered and seen.
      await go('Webhooks');
      await page.getByRole('button', { name: 'New source' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Shop');
      await page.getByRole('button', { name: 'Create source' }).click();
      await page.getByRole('tab', { name: 'Connections' }).click();
      await page.getByRole('button', { name: 'New connection' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Billing');
      await page.getByRole('textbox', { name: 'Destination' }).fill(destination.url);
      await page.getByRole('button', { name: 'Create connection' }).click();
      await page.getByText('it is not shown again').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await expect.poll(() => destination.bodies.length).toBe(1);
      await go('Events');
      await page.getByRole('row', { name: /Delivered.*Shop/ }).waitFor();

      // A task is made.
      await go('Tasks');
      await page.getByRole('textbox', { name: 'New task', exact: true }).fill('Call Ann');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Move Call Ann' }).waitFor();

      // A message reaches a user's inbox.
      await go('Inbox');
      await page.getByRole('textbox', { name: 'Name' }).fill('Outlocks');
      await page.getByRole('button', { name: 'Create tenant' }).click();
      await page.getByRole('textbox', { name: 'Title' }).fill('News');
      await page.getByRole('button', { name: 'Create inbox' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Ann');
      await page.getByRole('button', { name: 'Add user' }).click();
      await page.getByLabel('Users', { exact: true }).first().fill('ann');
      await page.getByRole('textbox', { name: 'Title' }).fill('Order 1 is paid');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      const received = page.getByRole('list', { name: 'Messages' }); // the preview shows the same
      await received.getByRole('button', { name: 'Mark read: Order 1 is paid' }).waitFor();

      // An agent answers.
      await go('Agents');
      await page.getByRole('link', { name: 'Outlocks' }).click();
      await page.getByRole('button', { name: 'Hello', exact: true }).click();
      await page.getByText('rule: greeting').waitFor();

      // All of it ticks itself off, and can be asked about.
      await go('Overview');
      const steps = page.getByRole('region', { name: 'First steps' });
      await expect.poll(() => steps.getByRole('img', { name: 'Done' }).count()).toBe(5);
      await go('Data');
      await page.getByRole('img', { name: /1 created/ }).waitFor();
      destination.close();
      expect(failures).toEqual([]);
    });

    it('follows what any source, tenant and inbox has seen, per account', async () => {
      const { page, client, failures } = await openSignedInPage(browser!, server.url);
      const { webhooks, tenants, inbox } = client;
      const signed = { name: 'Stripe', provider: 'stripe', signingSecret: 'whsec_x' } as const;
      const stripe = (await webhooks.createSource({ body: signed })).data;
      await page.goto(`${server.url}/console/`);
      const steps = page.getByRole('region', { name: 'First steps' });
      await steps.getByRole('link', { name: 'Open Stripe, and send a test event' }).waitFor();
      expect(await steps.getByText('curl').count()).toBe(0);

      const destination = await openDestination(200);
      onTestFinished(() => destination.close());
      const shop = (await webhooks.createSource({ body: { name: 'Shop' } })).data;
      const connection = { name: 'Billing', destinationUrl: destination.url };
      await webhooks.createConnection({ sourceId: shop.sourceId, body: connection });
      await webhooks.sendTestEvent({ sourceId: stripe.sourceId });
      await post(shop.ingestUrl!, { type: 'order.paid' });
      for (const tenant_id of [`a-${shop.sourceId.slice(-6)}`, `b-${shop.sourceId.slice(-6)}`])
        await tenants.create({ body: { tenant_id, name: tenant_id, status: 'active' } });
      const last = { tenant_id: `b-${shop.sourceId.slice(-6)}` };
      await tenants.createUser({ ...last, body: { user_id: 'ann', display_name: 'Ann' } });
      for (const inbox_key of ['a', 'b'])
        await inbox.writeInbox({ ...last, inbox_key, body: { title: inbox_key } });
      const message = { title: 'Order 1 is paid', body: 'Thank you.' };
      await inbox.publish({ ...last, inbox_key: 'b', body: { uids: ['ann'], message } });
      await expect
        .poll(async () => {
          await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))"); // as after a look elsewhere
          return steps.getByRole('img', { name: 'Done' }).count();
        })
        .toBe(3);

      await steps.getByRole('button', { name: 'Hide' }).click();
      await steps.waitFor({ state: 'detached' });
      const other = newAccount();
      const data = { ...other, cookie: true };
      await page.context().request.post(`${server.url}/v1/auth/signup`, { data });
      await page.goto(`${server.url}/console/`);
      await steps.waitFor();
      expect(failures).toEqual([]);
    });

    it('shows what is wrong with a new account at the field', async () => {
      const { page } = await openPage(browser!);
      const { name, email } = newAccount();
      await page.goto(`${server.url}/console/sign-in`);
      await page.getByRole('button', { name: 'Create an account' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill(name);
      await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
      await page.getByLabel('Password').first().fill('short');
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByText('Must have at least 10 characters').waitFor();
      await page.getByLabel('Password').first().fill('1234567890');
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByText('a row of keys or of letters').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    });
  },
);
