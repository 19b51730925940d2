import { setTimeout as delay } from 'node:timers/promises';
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

// Rejects with the signal's own reason, as everything else that takes a signal does.
async function waitOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
