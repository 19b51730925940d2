import type { Clock } from '@stak/kit';
import { createAccountQueue } from './account-queue.ts';
import * as limits from './limits.ts';
import { fail, type Job, late, type Reply, sizeOf, startThread, type Thread } from './thread.ts';

export type Sandbox = {
  /** Runs a job for an account. Accounts alternate. Never rejects. */
  run(job: Job, account: string): Promise<Reply>;
  threads(): number;
  close(): Promise<void>;
};

export type SandboxSettings = { clock: Clock; threads?: number; waiting?: number };

const busy = fail('busy', 'Too many jobs are waiting');
const closedReply = fail('busy', 'The sandbox is closed');

/**
 * A pool of a few threads, started on demand and terminated when idle. One account never holds all of them, so an
 * account whose jobs hang delays only itself.
 *
 * @example
 * const reply = await sandbox.run({ program, input: { text }, timeoutMs: 1_000 }, 'usr_ann');
 */
export function createSandbox({ clock, ...settings }: SandboxSettings): Sandbox {
  const most = Math.max(2, settings.threads ?? limits.threads);
  const mostWaiting = settings.waiting ?? limits.waiting;
  const queue = createAccountQueue<{ job: Job; sinceMs: number; resolve: (reply: Reply) => void }>();
  const idle: Thread[] = [];
  const busyThreads = new Set<Thread>();
  const runningOf = new Map<string, number>();
  let rest = new AbortController(); // ends the idle timer
  let closed = false;

  const countAccount = (account: string, step: number) => {
    const running = (runningOf.get(account) ?? 0) + step;
    if (running === 0) runningOf.delete(account);
    else runningOf.set(account, running);
  };
  const mayRun = (account: string) => (runningOf.get(account) ?? 0) < most - 1;

  // Whether one more job of an account may wait. If the queue is full, the account with the most jobs loses one, so
  // that a few accounts with many jobs do not block the others.
  const hasRoom = (account: string): boolean => {
    const own = queue.size(account);
    if (own >= limits.waitingOfAccount) return false;
    if (queue.size() < mostWaiting) return true;
    const longest = queue.longest();
    if (longest === undefined || queue.size(longest) <= own + 1) return false;
    queue.drop(longest)?.resolve(busy);
    return true;
  };

  const takeIdle = (): Thread | undefined => {
    let thread = idle.pop();
    while (thread && !thread.alive()) thread = idle.pop();
    return thread;
  };

  const serve = async (account: string, job: Job): Promise<Reply> => {
    let thread: Thread;
    try {
      thread = takeIdle() ?? startThread(clock);
    } catch {
      return late; // the system cannot start a thread
    }
    busyThreads.add(thread);
    countAccount(account, 1);
    const reply = await thread.run(job);
    countAccount(account, -1);
    busyThreads.delete(thread);
    if (thread.alive() && !closed) idle.push(thread);
    return reply;
  };

  const pump = () => {
    while (!closed && busyThreads.size < most) {
      const next = queue.take(mayRun);
      if (!next) break;
      if (clock.now() - next.item.sinceMs > limits.waitMs) {
        next.item.resolve(busy);
        continue;
      }
      rest.abort();
      void serve(next.account, next.item.job).then(reply => {
        next.item.resolve(reply);
        pump();
      });
    }
    if (busyThreads.size === 0 && idle.length > 0) restAfterWork();
  };

  const restAfterWork = () => {
    rest = new AbortController();
    clock.sleep(limits.idleMs, rest.signal).then(
      () => Promise.all(idle.splice(0).map(thread => thread.stop())),
      () => {},
    );
  };

  return {
    run: (job, account) =>
      new Promise(resolve => {
        if (closed) return resolve(closedReply);
        if (sizeOf(job.input) > limits.messageBytes)
          return resolve(fail('too_large', 'The input is too large'));
        if (!hasRoom(account)) return resolve(busy);
        queue.push(account, { job, sinceMs: clock.now(), resolve });
        pump();
      }),
    threads: () => idle.length + busyThreads.size,
    async close() {
      closed = true;
      rest.abort();
      for (let next = queue.take(() => true); next; next = queue.take(() => true))
        next.item.resolve(closedReply);
      await Promise.all([...idle.splice(0), ...busyThreads].map(thread => thread.stop()));
    },
  };
}
