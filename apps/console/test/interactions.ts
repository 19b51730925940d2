import type { Page } from 'playwright-core';
import { expect } from 'vitest';

// Interaction latency as the browser reports it: from the key press or click to the next frame.

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
 * The longest delay of the given actions in milliseconds: from an event to the next frame, or of a task that would
 * have blocked the next event. Browsers do not report events under 16 ms, so a slow event of our own comes last: when
 * it is reported, so are all before it.
 */
async function longestWaitMs(page: Page, act: () => Promise<unknown>): Promise<number> {
  const from = (await page.evaluate('performance.now()')) as number;
  await act();
  await page.keyboard.press(sentinelKey);
  // Not `waitForFunction`, which the page's CSP may block.
  const isOver = 'window.measured.some(one => one.isInteraction && one.startTime >= window.sentinelAt)';
  await expect.poll(() => page.evaluate(isOver), { interval: 20 }).toBe(true);
  const measured = (await page.evaluate(
    `window.measured.filter(one => one.startTime >= ${from} && one.startTime < window.sentinelAt)`,
  )) as Measured[];
  return Math.max(0, ...measured.map(one => one.duration));
}

/** The best of several tries: a busy machine delays some of them, slow code delays all. */
export async function bestWaitMs(page: Page, act: () => Promise<unknown>, enoughMs: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 10 && best >= enoughMs; tries++)
    best = Math.min(best, await longestWaitMs(page, act));
  return best;
}
