const waiting = new Set<() => void>();

// Resolves at the first SIGINT or SIGTERM, or when nobody reads the output any more. A second signal ends the process
// at once, for those who cannot wait.
export function untilStopped(): Promise<void> {
  return new Promise(resolve => {
    waiting.add(resolve);
    let asked = false;
    const stop = (signal: NodeJS.Signals) => {
      if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
      asked = true;
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

const brokenPipe = 128 + 13; // as a shell tells of a program that SIGPIPE has ended

// Node ignores SIGPIPE, which ends other programs when the one behind them in a pipe has ended. What has something to
// put down puts it down first. Output that gets lost for another reason, like a full disk, is a failure.
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
    for (const resolve of waiting) resolve();
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', end);
}
