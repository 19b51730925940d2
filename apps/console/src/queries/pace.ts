import { queries } from './query-client.ts';

// How often a page asks again. Somebody who works with it sees changes soon; a tab that nobody has touched for a minute
// asks each question once a minute, because tabs stay open all day and a caller's requests are limited.

const idleAfterMs = 60_000;
export const idleMs = 60_000;

let usedAt = Date.now();

function use(): void {
  const wasIdle = isIdle();
  usedAt = Date.now();
  if (wasIdle) void queries.invalidateQueries({ type: 'active' });
}

const isIdle = (): boolean => Date.now() - usedAt > idleAfterMs;

for (const name of ['pointerdown', 'pointermove', 'keydown', 'scroll', 'focus'])
  addEventListener(name, use, { capture: true, passive: true });

/** The interval of a query: this one while the page is used, and a long one while it is not. */
export const paced =
  (ms: number, whileIdleMs = idleMs) =>
  (): number =>
    isIdle() ? Math.max(ms, whileIdleMs) : ms;
