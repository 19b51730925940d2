import { setImmediate } from 'node:timers/promises';
import { type Cancel, type Clock, sleepOnce } from './clock.ts';

/** A clock that a test moves. Created with `manualClock`. */
export type ManualClock = Clock & {
  // Moves time forward and wakes each sleeper at its time, in order. Each gets an iteration of the event loop before
  // the next one wakes, so a loop that sleeps again within that time is woken again.
  advance(ms: number): Promise<void>;
  // Changes the time without waking sleepers, also backwards, like NTP does.
  set(nowMs: number): void;
  sleepers(): number;
};

type Sleeper = { dueMs: number; wake: () => void };

/**
 * A clock that stands still until a test moves it.
 *
 *     const clock = manualClock();
 *     const slept = clock.sleep(1000);
 *     await clock.advance(1000);
 *     await slept;
 */
export function manualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let wallMs = startMs;
  let elapsedMs = 0; // sleeps are measured here, so that stepping the wall clock moves no deadline
  const waiting = new Set<Sleeper>();

  const nextDue = (untilMs: number): Sleeper | undefined => {
    let first: Sleeper | undefined;
    for (const sleeper of waiting)
      if (sleeper.dueMs <= untilMs && (!first || sleeper.dueMs < first.dueMs)) first = sleeper;
    return first;
  };

  const moveTo = (targetMs: number) => {
    wallMs += targetMs - elapsedMs;
    elapsedMs = targetMs;
  };

  const after = (ms: number, act: () => void): Cancel => {
    const wake = () => {
      waiting.delete(sleeper);
      act();
    };
    // The time is in whole milliseconds, as the system's is.
    const sleeper: Sleeper = { dueMs: elapsedMs + Math.ceil(Math.max(0, ms)), wake };
    waiting.add(sleeper);
    return () => void waiting.delete(sleeper);
  };

  return {
    now: () => wallMs,
    elapsed: () => elapsedMs,
    set: nowMs => {
      wallMs = nowMs;
    },
    sleepers: () => waiting.size,
    sleep: (ms, signal) => sleepOnce({ after }, ms, signal),
    after,
    async advance(ms) {
      const untilMs = elapsedMs + ms;
      await setImmediate();
      for (let next = nextDue(untilMs); next; next = nextDue(untilMs)) {
        moveTo(next.dueMs);
        next.wake();
        await setImmediate();
      }
      moveTo(untilMs);
    },
  };
}
