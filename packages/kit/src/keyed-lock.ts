/** Runs work with a common key one after the other, within this process. */
export type KeyedLock = {
  /** Runs the work once all earlier work with one of these keys has ended. */
  run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
  /** How many keys are locked. */
  size(): number;
};

/**
 * One piece of work at a time for each key, in order of arrival; work with other keys runs concurrently. It avoids
 * conflicts between callers of this process at the table. Other processes do not see it, so correctness must not depend
 * on it.
 *
 *     const lock = createKeyedLock();
 *     await lock.run([userId], () => changeUser(userId));
 */
export function createKeyedLock(): KeyedLock {
  const last = new Map<string, Promise<void>>();
  return {
    size: () => last.size,
    async run(keys, work) {
      let release = () => {};
      const released = new Promise<void>(resolve => {
        release = resolve;
      });
      // The work joins all queues in one step, so there are no deadlocks.
      const earlier = keys.flatMap(key => last.get(key) ?? []);
      for (const key of keys) last.set(key, released);
      try {
        if (earlier.length > 0) await Promise.all(earlier);
        return await work();
      } finally {
        release();
        for (const key of keys) if (last.get(key) === released) last.delete(key);
      }
    },
  };
}
