import { performance } from 'node:perf_hooks';

// Tells how much of the time until an answer was the destination's, and how much was ours: a busy thread handles an
// answer long after it has arrived.
export type AnswerWatch = {
  now(): number; // in milliseconds; it never steps back
  // Something is sent or handled in this iteration of the event loop.
  mark(): void;
  // Answers that had arrived at this time are handled; those that are handled now came later.
  lookedMs(): number;
};

const idleLeastMs = 0.05; // less is the cost of asking

// The event loop looks at its sockets once in each iteration, right after the callbacks of `setImmediate`. What it finds
// was not there the last time, or has just arrived if it had to wait for it.
export function createAnswerWatch(): AnswerWatch {
  let isMarked = false;
  let latestMs = 0; // the end of the latest iteration that was marked
  let beforeMs = 0; // that of the one before
  let idleMs = 0; // at the end of the latest one
  const endIteration = () => {
    isMarked = false;
    beforeMs = latestMs;
    latestMs = performance.now();
    idleMs = performance.eventLoopUtilization().idle;
  };
  return {
    now: () => performance.now(),
    mark() {
      if (isMarked) return;
      isMarked = true;
      setImmediate(endIteration);
    },
    lookedMs() {
      const waitedMs = performance.eventLoopUtilization().idle - idleMs;
      return waitedMs > idleLeastMs ? latestMs + waitedMs : beforeMs;
    },
  };
}
