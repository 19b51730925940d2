import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Client, createClient } from '@stak/client';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const password = 'a long enough password';
let visitors = 0;

export type Visitor = { page: Page; email: string; password: string; failures: string[] };

// Somebody new, signed up by hand like everybody.
export async function signUp(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(20_000);
  const failures: string[] = [];
  page.on('pageerror', error => failures.push(error.message));
  const email = `visitor-${++visitors}@example.com`;
  await page.goto(`${url}/console/`);
  await page.getByRole('button', { name: 'Make an account' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Visitor');
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByLabel('Password').first().fill(password);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return { page, email, password, failures };
}

// The same somebody, as a program.
export async function clientOf(url: string, { email, password }: Visitor): Promise<Client> {
  const { data } = await createClient({ baseUrl: url }).accounts.logIn({
    body: { email, password, cookie: false },
  });
  return createClient({ baseUrl: url, token: data.access_token });
}

type Finding = { id: string; impact: string | null; nodes: { html: string }[] };

// What keeps somebody from using the page, in words; by all rules unless some are named.
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await readFile(axeFile, 'utf8'));
  await settle(page);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const { violations } = (await page.evaluate(`axe.run(${options})`)) as { violations: Finding[] };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

// In light, as it is, and in dark, where the colours are others.
export async function expectNoBarriers(page: Page, name: string): Promise<void> {
  expect(await findBarriers(page), name).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  expect(await findBarriers(page, ['color-contrast']), `${name} in dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
}

// By how many pixels the page has to be pushed sideways.
export async function overhang(page: Page): Promise<number> {
  await settle(page);
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}

// Until everything has the colour and the place that it fades or slides to.
async function settle(page: Page): Promise<void> {
  await page.evaluate(`Promise.allSettled(
    document.getAnimations()
      .filter(one => one.effect.getComputedTiming().endTime !== Infinity)
      .map(one => one.finished),
  ).then(() => undefined)`);
}
