import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { type MailFolder, openMailFolder } from './mail-folder.ts';
import { openPage, openSignedInPage } from './signed-in-page.ts';
import { openTestServer, type TestServer } from './test-server.ts';
import { expectUsable } from './usability.ts';

const browser = await openBrowser();
const webhookSecret = 'whsec_of_the_stub';
let stripe: Awaited<ReturnType<typeof openStripe>>;
let server: TestServer;
let mails: MailFolder;
beforeAll(async () => {
  if (!browser) return;
  stripe = await openStripe();
  mails = await openMailFolder();
  const prices = { starter: ['price_starter'], pro: ['price_pro'] };
  const settings = { secretKey: 'sk_test_stub', webhookSecret, prices, url: stripe.url };
  server = await openTestServer({ STAK_SMTP_URL: mails.url }, { stripe: settings, defaultPlan: 'free' });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  stripe?.close();
  await mails?.close();
});

// Stands in for Stripe, with a checkout in which everybody pays at once; and for a provider's first pages.
async function openStripe() {
  const subscriptions: { status: string; [field: string]: unknown }[] = [];
  const later = Math.floor(Date.now() / 1000) + 30 * 24 * 60 * 60;
  const answers: Record<string, (form: URLSearchParams) => object> = {
    'POST /v1/customers': () => ({ id: 'cus_1', object: 'customer' }),
    'GET /v1/subscriptions': () => ({ object: 'list', data: subscriptions, has_more: false }),
    'GET /v1/checkout/sessions': () => ({ object: 'list', data: [], has_more: false }),
    'POST /v1/checkout/sessions': form => {
      subscriptions.push({
        id: 'sub_1',
        customer: 'cus_1',
        status: 'active',
        cancel_at_period_end: false,
        cancel_at: null,
        items: {
          data: [
            {
              price: { id: form.get('line_items[0][price]') },
              current_period_start: later - 30 * 24 * 60 * 60,
              current_period_end: later,
            },
          ],
        },
      });
      return { id: 'cs_1', url: form.get('success_url') };
    },
    'POST /v1/billing_portal/sessions': () => ({ id: 'bps_1', url: `${url}/portal` }),
  };
  const stub = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://127.0.0.1');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const show = (title: string) =>
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(`<h1>${title}</h1>`);
    if (pathname === '/portal') return show('Invoices');
    if (pathname === '/authorize') return show('The provider’s own page');
    if (pathname === '/.well-known/openid-configuration' && opened.isIssuer)
      return response.writeHead(200, { 'Content-Type': 'application/json' }).end(
        JSON.stringify({
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/keys`,
        }),
      );
    const answer = answers[`${request.method} ${pathname}`];
    const body = answer?.(new URLSearchParams(Buffer.concat(chunks).toString())) ?? { error: {} };
    return response
      .writeHead(answer ? 200 : 404, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(stub, 'listening');
  const url = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`;
  const opened = {
    url,
    subscriptions,
    isIssuer: false,
    close: () => void stub.close().closeAllConnections(),
  };
  return opened;
}

async function tell(type: string): Promise<void> {
  const event = {
    id: `evt_${type}`,
    type,
    data: { object: { customer: 'cus_1' } },
  };
  const body = JSON.stringify({ object: 'event', ...event });
  const at = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', webhookSecret).update(`${at}.${body}`).digest('hex');
  const response = await fetch(`${server.url}/v1/billing/webhook`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': `t=${at},v1=${mac}` },
  });
  expect(await response.json()).toEqual({ outcome: 'applied' });
}

describe.skipIf(!browser)(
  browser ? 'an account' : 'an account (needs a browser)',
  { timeout: 90_000 },
  () => {
    it('shows its limits, buys a plan and lists its invoices', async () => {
      const { page, email, failures } = await openSignedInPage(browser!, server.url, {
        path: '/console/account?tab=billing',
      });
      const usage = page.getByRole('region', { name: 'Usage' });
      await usage.getByText('0 of 5,000').waitFor();
      await usage.getByText('sources answer 402').waitFor();
      await usage.getByText('0 of 3').waitFor();
      const plan = page.getByRole('region', { name: 'Plan', exact: true });
      await plan.getByText('free').waitFor();
      await page.getByRole('button', { name: 'Buy starter' }).waitFor();
      await expectUsable(page, 'billing');
      await page.getByRole('button', { name: 'Buy pro' }).click();
      await page.getByText('The plan changes when Stripe confirms').waitFor();
      await tell('customer.subscription.created');
      await page.reload();
      await plan.getByText('pro').waitFor();
      await plan.getByText('Paid until').waitFor();
      expect(await page.getByRole('button', { name: /^Buy/ }).count()).toBe(0);
      await plan.getByRole('button', { name: 'Change, cancel, see invoices' }).click();
      await page.getByRole('heading', { name: 'Invoices' }).waitFor();

      // A card that does not work any more: from the mail to the page where another one is given.
      stripe.subscriptions[0]!.status = 'past_due';
      await tell('invoice.payment_failed');
      await page.goto(await mails.linkTo(email, 'A payment for Stak failed', /^http\S+tab=billing$/m));
      await plan.getByText('The last payment failed.').waitFor();
      await plan.getByText('pro').waitFor();
      await expectUsable(page, 'a failed payment');
      await plan.getByRole('button', { name: 'Change, cancel, see invoices' }).click();
      await page.getByRole('heading', { name: 'Invoices' }).waitFor();
      expect(failures).toEqual([]);
    });

    it('gives its people a sign-in page with their own provider', async () => {
      const { page, client, failures } = await openSignedInPage(browser!, server.url, {
        path: '/console/account?tab=members',
      });
      const section = page.getByRole('region', { name: 'Single sign-on' });
      const fill = (label: string, text: string) => section.getByLabel(label).first().fill(text);
      await fill('Issuer', 'http://login.example.com');
      await fill('Client ID', 'stak');
      await fill('Client secret', 'a secret');
      await fill('Domains', 'example.com');
      await section.getByRole('button', { name: 'Save' }).click();
      await section.getByText('Not an https address').waitFor(); // at the field
      await fill('Issuer', stripe.url); // which is no provider
      await section.getByRole('button', { name: 'Save' }).click();
      await section.getByRole('button', { name: 'Test the provider' }).click();
      await section.getByText('The provider does not work').waitFor();
      stripe.isIssuer = true;
      await section.getByRole('button', { name: 'Test the provider' }).click();
      await section.getByText('The provider answers').waitFor();
      await expectUsable(page, 'single sign-on');
      const { signInUrl } = (await client.accounts.readOrganisationProvider()).data;
      const { page: theirs } = await openPage(browser!);
      await theirs.goto(signInUrl);
      await theirs.getByRole('link', { name: 'Continue with Sample' }).waitFor();
      await expectUsable(theirs, 'sign-in page of an organisation');
      await theirs.getByRole('link', { name: 'Continue with Sample' }).click();
      await theirs.getByRole('heading', { name: 'The provider’s own page' }).waitFor();
      expect(failures).toEqual([]);
    });

    it('is deleted by its owner, after exporting its data', async () => {
      const { page, email, password } = await openSignedInPage(browser!, server.url, {
        path: '/console/account?tab=profile',
      });
      const form = page.getByRole('region', { name: 'Delete the account' });
      const saved = page.waitForEvent('download');
      await form.getByRole('button', { name: 'Download the audit trail' }).click();
      expect((await saved).suggestedFilename()).toBe('audit.ndjson');
      await form.getByLabel('Your address, to confirm').fill('somebody@example.com');
      await form.getByLabel('Your password').first().fill('not my password');
      await form.getByRole('button', { name: 'Delete the account' }).click();
      await form.getByText('This is not the address of this account.').waitFor();
      await form.getByLabel('Your address, to confirm').fill(email);
      await form.getByRole('button', { name: 'Delete the account' }).click();
      await form.getByText('This is not your password.').waitFor();
      await expectUsable(page, 'delete account');
      await form.getByLabel('Your password').first().fill(password);
      await form.getByRole('button', { name: 'Delete the account' }).click();
      await page.getByRole('heading', { name: 'Sign in to Stak' }).waitFor();

      const again = await openPage(browser!);
      await again.page.goto(`${server.url}/console/sign-in`);
      await again.page.getByRole('textbox', { name: 'E-mail' }).fill(email);
      await again.page.getByLabel('Password').first().fill(password);
      await again.page.getByRole('button', { name: 'Sign in' }).click();
      await again.page.getByRole('alert').waitFor();
    });
  },
);
