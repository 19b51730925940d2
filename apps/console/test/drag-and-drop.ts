import type { Locator, Page } from 'playwright-core';

/** Waits until the page has announced it to screen readers. */
export async function hear(page: Page, text: string | RegExp): Promise<void> {
  try {
    await page.getByText(text).first().waitFor({ state: 'attached' });
  } catch (error) {
    const said = (await page.locator('[aria-live]').allInnerTexts()).filter(Boolean);
    throw new Error(`the page never said ${text}, but: ${said.join(' | ')}`, { cause: error });
  }
}

/** Picks it up with a key. The page accepts the next key only after a timer, which a busy machine delays. */
export async function pickUp(page: Page, handle: Locator, text: string | RegExp): Promise<void> {
  await handle.focus();
  await page.keyboard.press('Space');
  await hear(page, text);
  await page.evaluate('new Promise(done => setTimeout(done))');
}

/** Drags it with the mouse, and drops it only when the page has announced where. */
export async function drag(
  page: Page,
  from: Locator,
  [to, x, y]: readonly [Locator, number, number],
  text: string | RegExp,
): Promise<void> {
  await from.hover();
  await page.mouse.down();
  const box = (await to.boundingBox())!;
  await page.mouse.move(box.x + x, box.y + y, { steps: 6 });
  await hear(page, text);
  await page.mouse.up();
}
