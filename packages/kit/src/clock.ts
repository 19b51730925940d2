import { timerMs } from './limits.ts';

export type Clock = {
  now(): number;
  // Rejects with the signal's reason when it is aborted, before or during the wait.
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    let leftMs = ms;
    for (; leftMs > timerMs; leftMs -= timerMs) await waitOnce(timerMs, signal);
    await waitOnce(leftMs, signal);
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
