// Backfills, removals and sweeps: each by its name, one at a time.
export function createJobs(signal: AbortSignal, onError: (error: Error, work: string) => void) {
  const jobs = new Map<string, Promise<void>>();
  return {
    start(name: string, work: (signal: AbortSignal) => Promise<void>): void {
      if (jobs.has(name) || signal.aborted) return;
      const job = work(signal)
        .catch(error => {
          if (!signal.aborted) onError(error as Error, name);
        })
        .finally(() => jobs.delete(name));
      jobs.set(name, job);
    },
    async settled(): Promise<void> {
      while (jobs.size > 0) await Promise.allSettled(jobs.values());
    },
  };
}
