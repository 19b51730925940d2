import type { Clock } from './clock.ts';

/** One side notifies, the other waits for it. Created with `createNotifier`. */
export type Notifier = {
  notify(): void;
  // Waits until it is notified, the time is over or the signal is aborted.
  wait(ms: number, signal: AbortSignal): Promise<void>;
};

/** Ends a wait early. A notification before a wait is remembered, and ends the next one. */
export function createNotifier(clock: Clock): Notifier {
  let isRung = false;
  let wakeUp: (() => void) | undefined;
  return {
    notify() {
      isRung = true;
      wakeUp?.();
    },
    async wait(ms, signal) {
      if (!isRung && !signal.aborted)
        await new Promise<void>(resolve => {
          const end = () => {
            cancel();
            signal.removeEventListener('abort', end);
            wakeUp = undefined;
            resolve();
          };
          const cancel = clock.after(ms, end);
          signal.addEventListener('abort', end, { once: true });
          wakeUp = end;
        });
      isRung = false;
    },
  };
}
