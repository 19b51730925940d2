import type { Page } from 'playwright-core';
import { expect } from 'vitest';

// How long people wait for what they do, as the browser itself reports it: from the key or the click to the next frame.

const sentinelKey = 'F8'; // no page listens to it
const watch = `(() => {
  window.measured = [];
  const keep = ({ startTime, duration, name, interactionId }) =>
    window.measured.push({ startTime, duration, name, isInteraction: interactionId > 0 });
  new PerformanceObserver(list => list.getEntries().forEach(keep)).observe({ type: 'event', durationThreshold: 16 });
  new PerformanceObserver(list => list.getEntries().forEach(keep)).observe({ type: 'longtask' });
  addEventListener('keydown', event => {
    if (event.key !== '${sentinelKey}') return;
    for (const began = performance.now(); performance.now() - began < 40; );
    window.sentinelAt = event.timeStamp;
  });
})()`;

type Measured = { startTime: number; duration: number; name: string; isInteraction: boolean };

export const watchInteractions = (page: Page) => page.evaluate(watch);

/**
 * The longest wait of what is done, in milliseconds: of an event until the next frame, or of a task that would have
 * held up the next event. Events that took less than 16 ms are not reported, so a slow one of our own comes last:
 * when it is here, so are all before it, and the browser is known to report.
 */
async function longestWaitMs(page: Page, act: () => Promise<unknown>): Promise<number> {
  const from = (await page.evaluate('performance.now()')) as number;
  await act();
  await page.keyboard.press(sentinelKey);
  // Not `waitForFunction`, which the pages' own policy may refuse.
  const isOver = 'window.measured.some(one => one.isInteraction && one.startTime >= window.sentinelAt)';
  await expect.poll(() => page.evaluate(isOver), { timeout: 20_000, interval: 20 }).toBe(true);
  const measured = (await page.evaluate(
    `window.measured.filter(one => one.startTime >= ${from} && one.startTime < window.sentinelAt)`,
  )) as Measured[];
  return Math.max(0, ...measured.map(one => one.duration));
}

/** The best of several tries: a busy machine holds up some of them, slow code holds up each. */
export async function bestWaitMs(page: Page, act: () => Promise<unknown>, enoughMs: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 10 && best >= enoughMs; tries++)
    best = Math.min(best, await longestWaitMs(page, act));
  return best;
}
