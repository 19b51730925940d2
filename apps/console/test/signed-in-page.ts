import { type Client, createClient } from '@stak/client';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

const password = 'a long enough password';
let accounts = 0;

export type SignedInPage = {
  page: Page;
  client: Client; // of the same account
  email: string;
  password: string;
  failures: string[];
};
export type PageOptions = BrowserContextOptions & { path?: string };

export const newAccount = () => ({ email: `account-${++accounts}@example.com`, password, name: 'Sample' });

// A separate browser context, closed after the test. No animations, which would cost rendering time.
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; failures: string[] }> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(60_000); // as `expect.poll` has here
  const failures: string[] = [];
  page.on('pageerror', error => failures.push(error.message));
  return { page, failures };
}

/** Returns to the page after a minute, and waits until it has refetched the address that ends with `path`. */
export async function returnLater(page: Page, path: string): Promise<void> {
  const read = page.waitForResponse(response => response.url().endsWith(path));
  await page.clock.setFixedTime(Date.now() + 60_000);
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
  await (await read).finished();
}

// A page with an account created through the API, because the sign-up form has its own test. It is blank without a
// path.
export async function openSignedInPage(
  browser: Browser,
  url: string,
  { path, ...options }: PageOptions = {},
): Promise<SignedInPage> {
  const { page, failures } = await openPage(browser, options);
  const account = newAccount();
  const response = await page.context().request.post(`${url}/v1/auth/signup`, {
    data: { ...account, cookie: true },
  });
  expect(response.status()).toBe(201);
  const { access_token } = (await response.json()) as { access_token: string };
  if (path !== undefined) await page.goto(url + path);
  return { page, failures, client: createClient({ baseUrl: url, token: access_token }), ...account };
}
