import type { Clock } from '@stak/kit';
import * as limits from './limits.ts';
import type { Page } from './shard-reader.ts';
import { followSignal } from './signal.ts';
import type { StreamSource } from './source.ts';

// Between two reads of a shard. A source that can wake its readers does; another one is polled, the more
// rarely the longer nothing came. Rejects when the signal is aborted.
export function createPause(
  source: StreamSource,
  streamArn: string,
  clock: Clock,
  pollMostMs: number = limits.pollMostMs,
) {
  let intervalMs = limits.pollFirstMs;

  async function poll(page: Page, signal: AbortSignal): Promise<void> {
    if (page.isFull) return;
    if (page.last !== undefined) intervalMs = limits.pollFirstMs;
    await clock.sleep(intervalMs, signal);
    intervalMs = Math.min(pollMostMs, intervalMs * limits.pollGrowth);
  }

  // `since` was taken before the page was read, so nothing that came in between is slept over.
  async function untilChange(since: number | undefined, signal: AbortSignal, mostMs: number): Promise<void> {
    const over = followSignal(signal);
    const waits = [source.waitForChange!(streamArn, over.signal, since), clock.sleep(mostMs, over.signal)];
    try {
      await Promise.race(waits);
    } finally {
      over.abort();
      over.unfollow();
      await Promise.allSettled(waits);
    }
  }

  // Something else is to be done after `mostMs`, if that is given.
  return (page: Page, since: number | undefined, signal: AbortSignal, mostMs?: number): Promise<void> => {
    if (!source.waitForChange) return poll(page, signal);
    return page.last === undefined ? untilChange(since, signal, mostMs ?? limits.idleMs) : Promise.resolve();
  };
}
