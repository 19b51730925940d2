/** Lets only so much work run at a time. Made with `createSemaphore`. */
export type Semaphore = {
  /** Runs the work as soon as fewer than the most are running; in the order it came. */
  run<T>(work: () => Promise<T>): Promise<T>;
};

/**
 * Lets so many pieces of work run at a time.
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
        const next = waiting.shift(); // takes over the place
        if (next) next();
        else running -= 1;
      }
    },
  };
}
