import type { Clock } from '@stak/kit';
import { followSignal } from './signal.ts';

export type Bell = ReturnType<typeof createBell>;

// Ends a wait early. A ring while nobody waits is remembered.
export function createBell() {
  let isRung = false;
  let wakeUp: (() => void) | undefined;
  return {
    ring(): void {
      isRung = true;
      wakeUp?.();
    },
    async wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
      if (!isRung) {
        const over = followSignal(signal);
        wakeUp = over.abort;
        await clock.sleep(ms, over.signal).catch(() => {});
        wakeUp = undefined;
        over.unfollow();
      }
      isRung = false;
    },
  };
}
