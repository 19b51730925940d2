import { isUnavailable, retryWhileLeased } from '@stak/table';
import { LeaseLostError } from '../errors.ts';
import * as limits from '../limits.ts';
import { type LinkedSignal, linkSignal } from '../source/linked-signal.ts';
import { delayMs } from './handle-page.ts';
import type { TaskDeps } from './shard-task.ts';
import type { Lease } from './work-store.ts';

// Resolves to true when there is nothing left to do.
type Work = (signal: AbortSignal) => Promise<boolean>;
type LeasedTask = { lease: Lease; stop: LinkedSignal; ended: Promise<void> };

type LeasedTaskDeps = Pick<TaskDeps, 'works' | 'clock' | 'log' | 'counters' | 'random'> & {
  // Keys of the work that this process does.
  held: Set<string>;
  onEnd(): void;
};

export type LeasedTasks = ReturnType<typeof createLeasedTasks>;

// The work that this process has leased. A task ends when it is done or stopped, or when its lease is lost.
export function createLeasedTasks(deps: LeasedTaskDeps, signal: AbortSignal) {
  const { works, clock, log, counters, held, random, onEnd } = deps;
  const tasks = new Map<string, LeasedTask>();

  function start(lease: Lease, work: Work): void {
    const stop = linkSignal(signal);
    const ended = keepTrying(lease, work, stop.signal).then(() => {
      stop.unlink();
      tasks.delete(lease.key);
      held.delete(lease.key);
      onEnd();
    });
    tasks.set(lease.key, { lease, stop, ended });
    held.add(lease.key);
  }

  // After a failure, continues from the last checkpoint while the lease holds. Stops if the lease is lost.
  async function keepTrying(lease: Lease, work: Work, stopped: AbortSignal): Promise<void> {
    let failures = 0;
    let reached = lease.sequence;
    while (!stopped.aborted) {
      try {
        if (await work(stopped)) return;
      } catch (error) {
        if (error instanceof LeaseLostError) return noteLoss(lease, error);
        failures = reached === lease.sequence ? failures + 1 : 1;
        reached = lease.sequence;
        counters.failures += 1;
        log.error({ err: error, work: lease.key, failures }, 'work failed, trying again');
        const fullMs = delayMs(failures, random);
        const waitMs = isUnavailable(error) ? Math.min(limits.unavailableMostMs, fullMs) : fullMs;
        await clock.sleep(waitMs, stopped).catch(() => {});
      }
    }
    if (stopped.reason instanceof LeaseLostError) noteLoss(lease, stopped.reason);
    else await release(lease);
  }

  async function release(lease: Lease): Promise<void> {
    try {
      // A lease may hold for minutes, and nobody else can take the work before.
      await retryWhileLeased(() => works.release(lease), { clock, untilMs: () => lease.untilMs, signal });
    } catch (error) {
      if (error instanceof LeaseLostError) noteLoss(lease, error);
      // The lease expires by itself.
      else log.warn({ err: error, work: lease.key }, 'lease not released');
    }
  }

  function noteLoss(lease: Lease, error: LeaseLostError): void {
    counters.leasesLost += 1;
    log.warn({ err: error, work: lease.key }, 'lease lost');
  }

  return {
    start,
    all: () => tasks.values(),
    keys: () => new Set(tasks.keys()),
    stop: (key: string): void => tasks.get(key)?.stop.abort(),
    async renew({ lease, stop }: LeasedTask): Promise<void> {
      try {
        await works.renew(lease);
      } catch (error) {
        if (error instanceof LeaseLostError) stop.abort(error);
        else log.warn({ err: error, work: lease.key }, 'lease not renewed');
      }
    },
    async allEnded(): Promise<void> {
      await Promise.all([...tasks.values()].map(task => task.ended));
    },
  };
}
