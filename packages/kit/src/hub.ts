import type { Clock } from './clock.ts';
import { wokenTogether } from './limits.ts';
import { createNotifier, type Notifier } from './notifier.ts';
import { createBatches } from './yield.ts';

/** Waits for some keys of a hub. */
export type Subscriber = {
  /** Waits until one of its keys is notified, the time is over or the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
};

/** Wakes the subscribers of a key. Created with `createHub`. */
export type Hub = {
  subscribe(keys: readonly string[]): Subscriber;
  notify(key: string): void;
  notifyAll(): void;
  subscribers(): number;
  /** Notified for each new subscriber. */
  readonly subscribed: Notifier;
};

/**
 * Creates a hub, which wakes the subscribers of a key in this process. A notification carries no data: subscribers read
 * what has changed, so duplicates and reordering do no harm. A notification while its subscriber is busy ends the next
 * wait.
 *
 *     const subscriber = hub.subscribe([userId]);
 *     while (!signal.aborted) {
 *       await sendChanges();
 *       await subscriber.wait(5000, signal);
 *     }
 */
export function createHub(clock: Clock): Hub {
  const notifiers = new Map<string, Set<Notifier>>();
  const subscribed = createNotifier(clock);
  const joinBatch = createBatches(wokenTogether); // each reads what has changed
  let count = 0;
  return {
    subscribe(keys) {
      const notifier = createNotifier(clock);
      for (const key of keys) notifiers.set(key, (notifiers.get(key) ?? new Set()).add(notifier));
      count += 1;
      subscribed.notify();
      return {
        async wait(ms, signal) {
          await notifier.wait(ms, signal);
          await joinBatch();
        },
        close() {
          count -= 1;
          for (const key of keys) {
            const set = notifiers.get(key);
            set?.delete(notifier);
            if (set?.size === 0) notifiers.delete(key);
          }
        },
      };
    },
    notify(key) {
      for (const notifier of notifiers.get(key) ?? []) notifier.notify();
    },
    notifyAll() {
      for (const set of notifiers.values()) for (const notifier of set) notifier.notify();
    },
    subscribers: () => count,
    subscribed,
  };
}
