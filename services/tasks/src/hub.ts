// Who waits for changes of a user in this process. It only wakes them: what has changed, they read from the table.
export type Hub = {
  // Somebody begins to follow; returns how to say that they have left.
  enter(): () => void;
  followers(): number;
  publishAll(): void;
  publish(userId: string): void;
  // Resolves at the next change, or when the signal is aborted. Ask before you read, or you may miss one.
  next(userId: string, signal: AbortSignal): Promise<void>;
  size(): number;
};

export function createHub(onEnter: () => void = () => {}): Hub {
  const waiting = new Map<string, Set<() => void>>();
  let followers = 0;
  const publish = (userId: string) => {
    const wakes = waiting.get(userId);
    waiting.delete(userId);
    for (const wake of wakes ?? []) wake();
  };
  return {
    enter() {
      followers += 1;
      onEnter();
      return () => {
        followers -= 1;
      };
    },
    followers: () => followers,
    size: () => waiting.size,
    publish,
    publishAll() {
      for (const userId of [...waiting.keys()]) publish(userId);
    },
    next: (userId, signal) =>
      new Promise(resolve => {
        if (signal.aborted) return resolve();
        const wakes = waiting.get(userId) ?? new Set();
        waiting.set(userId, wakes);
        const wake = () => {
          signal.removeEventListener('abort', stop);
          resolve();
        };
        const stop = () => {
          wakes.delete(wake);
          if (wakes.size === 0 && waiting.get(userId) === wakes) waiting.delete(userId);
          resolve();
        };
        wakes.add(wake);
        signal.addEventListener('abort', stop, { once: true });
      }),
  };
}
