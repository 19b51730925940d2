export type Bell = {
  ring(): void;
  // Resolves at the next ring, or at once if it rang since the last wait.
  wait(signal: AbortSignal): Promise<void>;
};

export function createBell(): Bell {
  let rang = false;
  let answer: (() => void) | undefined;
  return {
    ring() {
      rang = true;
      answer?.();
    },
    wait: signal =>
      new Promise(resolve => {
        const done = () => {
          rang = false;
          answer = undefined;
          signal.removeEventListener('abort', done);
          resolve();
        };
        if (rang || signal.aborted) return done();
        answer = done;
        signal.addEventListener('abort', done, { once: true });
      }),
  };
}
