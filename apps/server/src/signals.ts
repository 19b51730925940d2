// Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, for whoever cannot wait.
export function untilStopped(): Promise<void> {
  return new Promise(resolve => {
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
