import { Worker } from 'node:worker_threads';
import * as limits from '../limits.ts';

const program = new URL('./memory-watch-thread.mjs', import.meta.url);

// Watches the memory of processes from outside. The thread runs while there is a process to watch.
export function createMemoryWatch() {
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
      thread = watched.size > 0 ? start() : undefined;
    });
    for (const [pid, rssBytes] of watched) started.postMessage({ pid, rssBytes });
    return started;
  }

  return {
    watch(pid: number, rssBytes: number): void {
      watched.set(pid, rssBytes);
      if (thread) thread.postMessage({ pid, rssBytes });
      else thread = start();
    },
    forget(pid: number): void {
      watched.delete(pid);
      thread?.postMessage({ pid });
      if (watched.size > 0) return;
      const ending = thread;
      thread = undefined;
      void ending?.terminate();
    },
  };
}
