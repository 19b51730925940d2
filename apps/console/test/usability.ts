import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 800 };

// No accessibility findings in light and dark, and nothing beyond the edge of a phone.
export async function expectUsable(page: Page, name: string): Promise<void> {
  expect(await findBarriers(page), name).toEqual([]);
  // Dark differs in its colours only.
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  expect(await findBarriers(page, ['color-contrast']), `${name} in dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(phone);
  await expect.poll(() => overhang(page), { message: name }).toBe(0);
  await page.setViewportSize(desktop);
}

// Opens another page without a full load.
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
}

type Finding = { id: string; impact: string | null; nodes: { html: string }[] };

// The findings of axe in words, by all rules unless some are named.
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await readFile(axeFile, 'utf8'));
  await settle(page);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const { violations } = (await page.evaluate(`axe.run(${options})`)) as { violations: Finding[] };
  return violations.flatMap(({ id, impact, nodes }) => nodes.map(({ html }) => `${id} (${impact}): ${html}`));
}

// How many pixels the page overflows sideways.
export async function overhang(page: Page): Promise<number> {
  await settle(page);
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}

// Waits until all transitions have finished.
async function settle(page: Page): Promise<void> {
  await page.evaluate(`Promise.allSettled(
    document.getAnimations()
      .filter(one => one.effect.getComputedTiming().endTime !== Infinity)
      .map(one => one.finished),
  ).then(() => undefined)`);
}
