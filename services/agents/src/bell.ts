import type { Clock } from '@stak/kit';

export type Bell = {
  ring(): void;
  // Until it rings, at once if it rang since the last wait, and no longer than that.
  wait(mostMs: number, signal: AbortSignal): Promise<void>;
};

export function createBell(clock: Clock): Bell {
  let rang = false;
  let answer: AbortController | undefined;
  return {
    ring() {
      rang = true;
      answer?.abort();
    },
    async wait(mostMs, signal) {
      if (!rang && !signal.aborted) {
        answer = new AbortController();
        await clock.sleep(mostMs, AbortSignal.any([signal, answer.signal])).catch(() => {});
        answer = undefined;
      }
      rang = false;
    },
  };
}
