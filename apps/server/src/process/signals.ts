const waiting = new Set<(code?: number) => void>();

const togetherMs = 1_000; // a terminal, npm and timeout may each pass on the same Ctrl-C

// Resolves at the first SIGINT or SIGTERM, or when the output is closed. A second signal, a moment later, ends the
// process at once: by the signal itself, because process.exit() would wait for threads, one of which may be waiting for
// this one to finish a transaction.
export function untilStopped(): Promise<void> {
  return new Promise(resolve => {
    waiting.add(() => resolve());
    let askedAtMs: number | undefined;
    const stop = (signal: NodeJS.Signals) => {
      const nowMs = performance.now();
      if (askedAtMs !== undefined && nowMs - askedAtMs > togetherMs) {
        process.removeListener(signal, stop);
        process.kill(process.pid, signal);
      }
      askedAtMs ??= nowMs;
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

// Resolves with the exit code when the output is closed. For processes that do not handle signals themselves.
export const untilOutputLost = (): Promise<number> =>
  new Promise(resolve => {
    waiting.add((code = 1) => resolve(code));
  });

const brokenPipe = 128 + 13; // as a shell reports a program ended by SIGPIPE

// Node ignores SIGPIPE, which ends other programs when the reader of their output has ended. Work in progress is
// finished first. Output that is lost for another reason, like a full disk, is a failure.
export function endWithOutput(explain: (error: unknown) => string): void {
  let code: number | undefined;
  const end = (error: NodeJS.ErrnoException) => {
    if (code !== undefined) return;
    code = error.code === 'EPIPE' ? brokenPipe : 1;
    if (code === 1) console.error(`stak: the output cannot be written: ${explain(error)}`);
    process.on('exit', () => {
      process.exitCode = code;
    });
    if (waiting.size === 0) process.exit(code);
    for (const resolve of waiting) resolve(code);
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', end);
}

// For a process that has a store open: an uncaught error ends it like `kill -9`, which everything here survives. Node's
// own exit() could wait for ever, as above, while it holds the store's write lock.
export function endAtOnceOnCrash(): void {
  process.on('uncaughtException', error => {
    console.error(error);
    endAtOnce();
  });
}

// For a process with work that does not stop, too: it would go on until then.
export const endAtOnce = (): void => void process.kill(process.pid, 'SIGKILL');
