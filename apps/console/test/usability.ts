import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 800 };

// No barriers in light and dark, and nothing beyond the edge of a phone.
export async function expectUsable(page: Page, name: string): Promise<void> {
  expect(await findBarriers(page), name).toEqual([]);
  // In dark the colours are others, and nothing else.
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  expect(await findBarriers(page, ['color-contrast']), `${name} in dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(phone);
  await expect.poll(() => overhang(page), { message: name }).toBe(0);
  await page.setViewportSize(desktop);
}

// To another page without loading everything again.
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
}

type Finding = { id: string; impact: string | null; nodes: { html: string }[] };

// What keeps somebody from using the page, in words; by all rules unless some are named.
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await readFile(axeFile, 'utf8'));
  await settle(page);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const { violations } = (await page.evaluate(`axe.run(${options})`)) as { violations: Finding[] };
  return violations.flatMap(({ id, impact, nodes }) => nodes.map(({ html }) => `${id} (${impact}): ${html}`));
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
