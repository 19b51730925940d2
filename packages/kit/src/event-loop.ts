import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import * as limits from './limits.ts';
import type { Logger } from './log.ts';

// The latest work of this thread, in a ring buffer: recording it costs two stores and a clock read, so every request
// and every delivery can do it.
const size = 1024; // more than one turn of the event loop begins
const names: string[] = Array(size).fill('');
const details: (string | undefined)[] = Array(size).fill(undefined);
const timesMs = new Float64Array(size);
let last = 0;

/**
 * Records the start of a piece of work, for the log line about a blocked event loop. `detail` is an id, never content.
 */
export function markWork(name: string, detail?: string): void {
  last = (last + 1) % size;
  names[last] = name;
  details[last] = detail;
  timesMs[last] = performance.now();
}

/** How late the event loop runs its callbacks, in milliseconds. */
export type EventLoopDelay = { p50Ms: number; p99Ms: number; maxMs: number };

/** Measures the event loop of this process until it is stopped. Created with `watchEventLoop`. */
export type EventLoopWatch = {
  delay(): EventLoopDelay; // of the last ten to twenty seconds
  blocked(): number; // iterations that took too long, since the start
  stop(): void;
};

export type WatchSettings = {
  log: Logger;
  stallMs?: number;
  stallLogMs?: number;
  tickMs?: number;
  processorMs?: () => number; // of this process, since any moment
};

function processorTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Measures how late this thread is, and logs iterations of the event loop that were too long, with the work started in
 * the worst of them. On a machine that is too busy these lines are few.
 *
 * @example
 * const watch = watchEventLoop({ log });
 * markWork('POST /v1/sources');
 */
export function watchEventLoop({ log, ...settings }: WatchSettings): EventLoopWatch {
  const { stallMs = limits.stallMs, stallLogMs = limits.stallLogMs, tickMs = limits.tickMs } = settings;
  const { processorMs = processorTimeMs } = settings;
  markWork('start'); // until something else begins
  const histogram = monitorEventLoopDelay({ resolution: limits.delayResolutionMs });
  histogram.enable();
  let use = performance.eventLoopUtilization();
  let before: EventLoopDelay = { p50Ms: 0, p99Ms: 0, maxMs: 0 };
  let blocked = 0;
  let tickedMs = performance.now();
  let windowMs = tickedMs;
  let latestMs = 0; // the latest tick of the window
  let usedMs = processorMs();
  let worst: (Stall & { iterations: number }) | undefined; // since the last line
  let loggedMs = -Infinity;

  const timer = setInterval(() => {
    const nowMs = performance.now();
    const lateMs = nowMs - tickedMs - tickMs;
    latestMs = Math.max(latestMs, lateMs);
    if (lateMs > stallMs) {
      blocked += 1;
      const stall = findStall(tickedMs, nowMs, lateMs, processorMs() - usedMs);
      worst = { ...(worst && worst.ms > stall.ms ? worst : stall), iterations: (worst?.iterations ?? 0) + 1 };
    }
    usedMs = processorMs();
    if (worst && nowMs - loggedMs > stallLogMs) {
      const { iterations, ...stall } = worst;
      log.warn({ ...stall, ...(iterations > 1 && { iterations }) }, 'a turn of the event loop took too long');
      worst = undefined;
      loggedMs = nowMs;
    }
    if (nowMs - windowMs > limits.delayWindowMs) {
      before = readDelay(histogram, latestMs);
      histogram.reset();
      windowMs = nowMs;
      latestMs = 0;
    }
    // Sampling wakes the thread, and a nearly idle thread is not late.
    const current = performance.eventLoopUtilization();
    if (performance.eventLoopUtilization(current, use).utilization < limits.idleUtilization)
      histogram.disable();
    else histogram.enable();
    use = current;
    tickedMs = nowMs;
  }, tickMs);
  timer.unref();

  return {
    delay() {
      const now = readDelay(histogram, latestMs);
      return {
        p50Ms: Math.max(now.p50Ms, before.p50Ms),
        p99Ms: Math.max(now.p99Ms, before.p99Ms),
        maxMs: Math.max(now.maxMs, before.maxMs),
      };
    },
    blocked: () => blocked,
    stop() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}

type Histogram = Pick<ReturnType<typeof monitorEventLoopDelay>, 'count' | 'max' | 'percentile'>;

// It samples a timer, so even a thread that is never late shows the timer's resolution.
function readDelay(histogram: Histogram, latestMs: number): EventLoopDelay {
  const maxMs = Math.round(latestMs * 100) / 100;
  if (Number(histogram.count) === 0) return { p50Ms: 0, p99Ms: 0, maxMs };
  const toMs = (ns: number) => Math.max(0, Math.round(ns / 1e4) / 100 - limits.delayResolutionMs);
  return {
    p50Ms: toMs(histogram.percentile(50)),
    p99Ms: toMs(histogram.percentile(99)),
    maxMs: Math.max(maxMs, toMs(histogram.max)),
  };
}

type WorkLabels = { work: string; work_id?: string; work_ms: number };
type Stall = { ms: number } & Partial<WorkLabels>;

// A process that used little of the time did not work: others had the processors.
const findStall = (fromMs: number, toMs: number, lateMs: number, usedMs: number): Stall => ({
  ms: Math.round(lateMs),
  ...(usedMs < lateMs / 2 ? { work: 'none, the machine is busy' } : findLongest(fromMs, toMs)),
});

// The work that was followed by no other for the longest time. Work that records nothing is attributed to the work
// before it.
function findLongest(fromMs: number, toMs: number): WorkLabels {
  let nextMs = toMs;
  let longest: WorkLabels = { work: names[last]!, work_ms: 0 };
  for (let back = 0; back < size; back += 1) {
    const at = (last - back + size) % size;
    const beganMs = timesMs[at]!;
    if (beganMs === 0) break;
    const ms = nextMs - Math.max(beganMs, fromMs);
    const detail = details[at];
    if (ms > longest.work_ms)
      longest = {
        work: names[at]!,
        ...(detail !== undefined && { work_id: detail }),
        work_ms: Math.round(ms),
      };
    if (beganMs <= fromMs) break;
    nextMs = beganMs;
  }
  return longest;
}
