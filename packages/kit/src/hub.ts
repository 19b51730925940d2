import { type Bell, createBell } from './bell.ts';
import type { Clock } from './clock.ts';

export type Subscriber = {
  /** Until one of its keys is notified, the time is over or the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
};

export type Hub = {
  subscribe(keys: readonly string[]): Subscriber;
  notify(key: string): void;
  notifyAll(): void;
  subscribers(): number;
  /** Rung for each new subscriber. */
  readonly subscribed: Bell;
};

/**
 * Wakes the subscribers of a key in this process. A notification carries no data: subscribers read what has changed, so
 * one that comes twice or out of order does no harm. One that comes while its subscriber is busy ends the next wait.
 *
 *     const subscriber = hub.subscribe([userId]);
 *     while (!signal.aborted) {
 *       await sendChanges();
 *       await subscriber.wait(5000, signal);
 *     }
 */
export function createHub(clock: Clock): Hub {
  const bells = new Map<string, Set<Bell>>();
  const subscribed = createBell(clock);
  let count = 0;
  return {
    subscribe(keys) {
      const bell = createBell(clock);
      for (const key of keys) bells.set(key, (bells.get(key) ?? new Set()).add(bell));
      count += 1;
      subscribed.ring();
      return {
        wait: bell.wait,
        close() {
          count -= 1;
          for (const key of keys) {
            const set = bells.get(key);
            set?.delete(bell);
            if (set?.size === 0) bells.delete(key);
          }
        },
      };
    },
    notify(key) {
      for (const bell of bells.get(key) ?? []) bell.ring();
    },
    notifyAll() {
      for (const set of bells.values()) for (const bell of set) bell.ring();
    },
    subscribers: () => count,
    subscribed,
  };
}
