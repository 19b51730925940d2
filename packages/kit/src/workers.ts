import assert from 'node:assert';
import { setMaxListeners } from 'node:events';
import { backoffMs } from './backoff.ts';
import type { Clock } from './clock.ts';
import * as limits from './limits.ts';
import type { Logger } from './log.ts';
import { type Random, systemRandom } from './random.ts';

/** Something that runs until the signal is aborted. Returning earlier counts as a failure, like a rejection. */
export type Worker = { name: string; run(signal: AbortSignal): Promise<void> };

/** Whether a worker runs, waits to be restarted or has ended. */
export type WorkerState = {
  readonly name: string;
  readonly status: 'running' | 'backing-off' | 'stopped';
  readonly sinceMs: number;
  readonly restarts: number;
  readonly lastError?: { readonly message: string; readonly atMs: number };
};

/** Settings of `superviseWorkers`. */
export type WorkerSettings = {
  clock: Clock;
  log: Logger;
  random?: Random;
  backoffFirstMs?: number;
  backoffMostMs?: number;
  healthyMs?: number;
  stopMs?: number;
};

/** Workers that run until they are stopped. Created with `superviseWorkers`. */
export type Supervisor = {
  states(): WorkerState[]; // for /readyz
  // Resolves when every worker has ended or the deadline has passed, with the names of those still running.
  stop(): Promise<string[]>;
};

export function restartMs(failures: number, random: Random, settings: Partial<WorkerSettings> = {}): number {
  const { backoffFirstMs: firstMs = limits.backoffFirstMs, backoffMostMs: mostMs = limits.backoffMostMs } =
    settings;
  return backoffMs(failures, { firstMs, mostMs }, random, 'half');
}

/**
 * Runs workers, and restarts those that fail, with growing delays.
 *
 *     const workers = superviseWorkers([worker], { clock: systemClock, log });
 *     await workers.stop();
 */
export function superviseWorkers(workers: readonly Worker[], settings: WorkerSettings): Supervisor {
  const { clock, log, stopMs = limits.stopMs } = settings;
  const names = new Set(workers.map(worker => worker.name));
  assert(names.size === workers.length, 'two workers have the same name');

  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every worker listens, some in several places
  const supervised = workers.map(worker => superviseWorker(worker, settings, stopping.signal));

  const stopAll = async (): Promise<string[]> => {
    stopping.abort();
    const allEnded = new AbortController();
    const deadline = clock.sleep(stopMs, allEnded.signal).catch(() => {});
    await Promise.race([Promise.all(supervised.map(worker => worker.ended)), deadline]);
    allEnded.abort();
    const late = supervised.map(worker => worker.state()).filter(state => state.status !== 'stopped');
    for (const { name } of late) log.error({ worker: name, stopMs }, 'worker did not stop in time');
    return late.map(state => state.name);
  };

  let stopped: Promise<string[]> | undefined;
  return {
    states: () => supervised.map(worker => worker.state()),
    stop: () => {
      stopped ??= stopAll();
      return stopped;
    },
  };
}

function superviseWorker(worker: Worker, settings: WorkerSettings, signal: AbortSignal) {
  const { clock, log, random = systemRandom, healthyMs = limits.healthyMs } = settings;
  let state: WorkerState = { name: worker.name, status: 'running', sinceMs: clock.now(), restarts: 0 };
  const become = (change: Partial<WorkerState>) => {
    state = { ...state, sinceMs: clock.now(), ...change };
  };

  // The error, or undefined if the worker ended because it was stopped.
  const runOnce = async (): Promise<unknown> => {
    try {
      await worker.run(signal);
      return signal.aborted ? undefined : new Error('The worker returned before it was stopped');
    } catch (error) {
      return signal.aborted && isAbort(error, signal)
        ? undefined
        : (error ?? new Error('The worker threw nothing'));
    }
  };

  const supervise = async () => {
    let failures = 0;
    while (!signal.aborted) {
      const startedMs = clock.now();
      const error = await runOnce();
      const endedMs = clock.now();
      if (signal.aborted) {
        if (error !== undefined)
          log.warn({ worker: worker.name, err: error }, 'worker failed while stopping');
        break;
      }
      failures = endedMs - startedMs >= healthyMs ? 1 : failures + 1;
      const delayMs = restartMs(failures, random, settings);
      become({ status: 'backing-off', lastError: { message: messageOf(error), atMs: endedMs } });
      log.error({ worker: worker.name, err: error, failures, delayMs }, 'worker failed, restarting');
      await clock.sleep(delayMs, signal).catch(() => {});
      if (!signal.aborted) become({ status: 'running', restarts: state.restarts + 1 });
    }
    become({ status: 'stopped' });
  };

  return { state: () => state, ended: supervise() };
}

const isAbort = (error: unknown, signal: AbortSignal): boolean =>
  error === signal.reason || (error instanceof Error && error.name === 'AbortError');

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
