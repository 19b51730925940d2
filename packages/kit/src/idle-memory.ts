import { performance } from 'node:perf_hooks';
import v8 from 'node:v8';
import vm from 'node:vm';
import * as limits from './limits.ts';

type Use = { utilization: number };

/** Replaces parts of the process in tests. */
export type IdleMemorySettings = {
  measure?: () => Use; // the share of time in which the event loop had work, since the last call
  collect?: () => void;
  everyMs?: number;
};

/**
 * V8 keeps the memory of a busy time until it needs more, so a server would hold it for ever. This collects garbage
 * once after each busy time, when the thread has been idle for a while. Returns a function that stops it.
 *
 * @example
 * const stop = releaseMemoryWhenIdle();
 */
export function releaseMemoryWhenIdle({
  measure = createMeasure(),
  collect = collectGarbage,
  everyMs = limits.idleLookMs,
}: IdleMemorySettings = {}): () => void {
  let wasBusy = true; // a start is work
  let quiet = 0;
  const look = () => {
    const { utilization } = measure();
    if (utilization > limits.idleUtilization) {
      quiet = 0;
      wasBusy ||= utilization > limits.busyUtilization;
      return;
    }
    quiet += 1;
    if (!wasBusy || quiet < limits.idleLooks) return;
    wasBusy = false;
    collect();
    measure(); // the collection itself is no work
  };
  const timer = setInterval(look, everyMs).unref();
  return () => clearInterval(timer);
}

function createMeasure(): () => Use {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const use = performance.eventLoopUtilization(now, before);
    before = now;
    return use;
  };
}

let gc: (() => void) | undefined;

/** Collects all garbage of this thread, which takes about a millisecond for each megabyte. */
export function collectGarbage(): void {
  if (!gc) {
    v8.setFlagsFromString('--expose_gc');
    gc = vm.runInNewContext('gc') as () => void;
  }
  gc();
}
