import type { Clock } from '@stak/kit';
import * as limits from '../limits.ts';
import { linkSignal } from './linked-signal.ts';
import type { Page } from './shard-reader.ts';
import type { StreamSource } from './source.ts';

// Waits between two reads of a shard. Waits for a wake-up if the source has them; otherwise polls, with intervals that
// grow while the shard is quiet. Rejects when the signal is aborted.
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

  // `since` was taken before the page was read, so a change in between is not missed.
  async function untilChange(since: number | undefined, signal: AbortSignal, mostMs: number): Promise<void> {
    const over = linkSignal(signal);
    const waits = [source.waitForChange!(streamArn, over.signal, since), clock.sleep(mostMs, over.signal)];
    try {
      await Promise.race(waits);
    } finally {
      over.abort();
      over.unlink();
      await Promise.allSettled(waits);
    }
  }

  // Waits at most `mostMs`, if given.
  return (page: Page, since: number | undefined, signal: AbortSignal, mostMs?: number): Promise<void> => {
    if (!source.waitForChange) return poll(page, signal);
    return page.last === undefined ? untilChange(since, signal, mostMs ?? limits.idleMs) : Promise.resolve();
  };
}
