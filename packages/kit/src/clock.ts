import { timerMs } from './limits.ts';

/**
 * The time, and waiting for it. Code takes a clock instead of using the system's, so that tests need not wait: see
 * `manualClock`.
 */
export type Clock = {
  now(): number;
  // Milliseconds since some moment, not affected by changes of the system time. Deadlines within this process are measured by it.
  elapsed?(): number;
  // Rejects with the signal's reason when it is aborted, before or during the wait.
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  // Calls `act` once, unless it is cancelled before. For use in every request: a promise, a controller and a listener
  // for each would cost more than the rest of a small request.
  after(ms: number, act: () => void): Cancel;
};

/** Cancels a timer. Calling it again does nothing. */
export type Cancel = () => void;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  async sleep(ms, signal) {
    let leftMs = ms;
    for (; leftMs > timerMs; leftMs -= timerMs) await sleepOnce(systemClock, timerMs, signal);
    await sleepOnce(systemClock, leftMs, signal);
  },
  after(ms, act) {
    const timer = setTimeout(act, Math.min(ms, timerMs));
    return () => clearTimeout(timer);
  },
};

// For a time that one timer of the clock can wait.
export const sleepOnce = ({ after }: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
