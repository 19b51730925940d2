import type { Clock } from './clock.ts';

export type Bell = {
  ring(): void;
  // Until it rings, or the time is over, or the signal is aborted.
  wait(ms: number, signal: AbortSignal): Promise<void>;
};

// Ends a wait early. A ring while nobody waits is remembered.
export function createBell(clock: Clock): Bell {
  let isRung = false;
  let wakeUp: AbortController | undefined;
  return {
    ring() {
      isRung = true;
      wakeUp?.abort();
    },
    async wait(ms, signal) {
      if (!isRung && !signal.aborted) {
        wakeUp = new AbortController();
        const stop = () => wakeUp?.abort();
        signal.addEventListener('abort', stop, { once: true });
        await clock.sleep(ms, wakeUp.signal).catch(() => {});
        signal.removeEventListener('abort', stop);
        wakeUp = undefined;
      }
      isRung = false;
    },
  };
}
