import { setImmediate } from 'node:timers/promises';
import type { Logger } from '@stak/kit';
import * as limits from './limits.ts';

// Writes that no response waits for: when a key was last used, that a sign-in failed. Losing one does no harm. Waiting
// for one would, because the extra time would reveal which accounts exist.
export type Background = {
  run(what: string, job: () => Promise<unknown>): void;
  settle(): Promise<void>; // resolves when all running work has ended
};

export function createBackground({ log }: { log: Logger }): Background {
  const running = new Set<Promise<unknown>>();
  return {
    run(what, job) {
      if (running.size >= limits.backgroundJobs) return log.warn({ what }, 'background queue is full');
      // Starts after the response is on its way.
      const work = setImmediate()
        .then(job)
        .catch((error: unknown) => log.warn({ err: error, what }, 'a background write failed'))
        .finally(() => running.delete(work));
      running.add(work);
    },
    async settle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
