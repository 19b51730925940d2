import { Worker } from 'node:worker_threads';
import * as limits from '../limits.ts';

const program = new URL('./memory-watch-thread.mjs', import.meta.url);

// Watches the memory of processes from outside, while they work. The thread ends with the last process.
export function createMemoryWatch() {
  const processes = new Set<number>();
  const watched = new Map<number, number>();
  let thread: Worker | undefined;

  function start(): Worker {
    const workerData = { watchMs: limits.duckWatchMs };
    const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
    const started = new Worker(program, { workerData, resourceLimits, execArgv: [] });
    started.unref();
    started.once('error', () => {}); // then it exits
    started.once('exit', () => {
      if (thread !== started) return;
      thread = processes.size > 0 ? start() : undefined;
    });
    for (const [pid, rssBytes] of watched) started.postMessage({ pid, rssBytes });
    return started;
  }

  return {
    watch(pid: number, rssBytes: number): void {
      processes.add(pid);
      watched.set(pid, rssBytes);
      if (thread) thread.postMessage({ pid, rssBytes });
      else thread = start();
    },
    // It has nothing to do, so its memory does not grow.
    rest(pid: number): void {
      if (watched.delete(pid)) thread?.postMessage({ pid });
    },
    forget(pid: number): void {
      processes.delete(pid);
      if (watched.delete(pid)) thread?.postMessage({ pid });
      if (processes.size > 0) return;
      const ending = thread;
      thread = undefined;
      void ending?.terminate();
    },
  };
}
