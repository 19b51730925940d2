export type Turns = {
  // Does the work when everyone who came before with one of these keys is done.
  take<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
};

// Writers of one process who want to change the same thing wait for each other, instead of racing and reading again.
// Whatever is right is right without it: other processes race all the same.
export function createTurns(): Turns {
  const last = new Map<string, Promise<void>>();

  return {
    async take(keys, work) {
      let finish = () => {};
      const finished = new Promise<void>(resolve => {
        finish = resolve;
      });
      // All places in the queues are taken at once, so no two can wait for each other.
      const before = keys.map(key => last.get(key));
      for (const key of keys) last.set(key, finished);
      try {
        await Promise.all(before);
        return await work();
      } finally {
        finish();
        for (const key of keys) if (last.get(key) === finished) last.delete(key);
      }
    },
  };
}
