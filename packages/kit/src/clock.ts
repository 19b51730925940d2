import { timerMs } from './limits.ts';

export type Clock = {
  now(): number;
  // Rejects with the signal's reason when it is aborted, before or during the wait.
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  // Calls `act` once, unless it is cancelled before. For what every request does: a promise, a controller and a listener
  // for each cost more than the rest of a small request.
  after(ms: number, act: () => void): Cancel;
};

export type Cancel = () => void;

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    let leftMs = ms;
    for (; leftMs > timerMs; leftMs -= timerMs) await waitOnce(timerMs, signal);
    await waitOnce(leftMs, signal);
  },
  after(ms, act) {
    const timer = setTimeout(act, Math.min(ms, timerMs));
    return () => clearTimeout(timer);
  },
};

function waitOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
