/** Limits how much work runs at a time. Created with `createSemaphore`. */
export type Semaphore = {
  /** Runs the work as soon as there is a free slot, in order of arrival. */
  run<T>(work: () => Promise<T>): Promise<T>;
};

/**
 * Limits how many pieces of work run at a time.
 *
 *     const writing = createSemaphore(16);
 *     await writing.run(() => store.put(order));
 */
export function createSemaphore(most: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    async run(work) {
      if (running >= most) await new Promise<void>(resolve => waiting.push(resolve));
      else running += 1;
      try {
        return await work();
      } finally {
        const next = waiting.shift(); // takes over the slot
        if (next) next();
        else running -= 1;
      }
    },
  };
}

/** Runs all of the work, at most so many pieces at a time. Waits for all of them before it throws the first error. */
export async function runAtMost(most: number, works: Iterable<() => Promise<unknown>>): Promise<void> {
  const semaphore = createSemaphore(most);
  const results = await Promise.allSettled(Array.from(works, semaphore.run));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
