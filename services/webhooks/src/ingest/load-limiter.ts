import type { ProblemDetails } from '@stak/http';
import type { Cancel, Clock } from '@stak/kit';
import type { OwedLimits } from '../deps.ts';
import { webhookErrors } from '../errors.ts';
import * as limits from '../limits.ts';

export type LoadLimiter = {
  // Waits while this process cannot keep up with its deliveries. Undefined if the event may be accepted at once. A request
  // is refused if that took too long, or too many wait. An event of Stak itself never is: nobody would send it again.
  enter(account: string, bytes: number, kind?: 'request' | 'emit'): Promise<void> | undefined;
  // For a job, before each of its batches: lets requests go first, for a while.
  yieldToRequests(): Promise<void> | undefined;
  // Called when fewer deliveries are owed.
  grant(): void;
};

export type LoadLimiterDeps = {
  clock: Clock;
  owed(): number; // deliveries that wait for nothing but this process
  recount(): void; // after some time, what is owed may be less
  limits: OwedLimits;
  nextIteration?(act: () => void): void; // calls it in the next iteration of the event loop
};

type Waiter = {
  bytes: number;
  sinceMs: number;
  isRequest: boolean;
  resolve(): void;
  reject(error: unknown): void;
  cancel: Cancel;
};

// Accepts events no faster than they are delivered. Accepting and delivering share one thread, and senders who get their
// answers quickly send more: without this, deliveries would fall behind for as long as the load lasts.
//
// It counts only what is owed because of this process. A slow or failing destination delays no request: its deliveries
// wait in the queue, which is as large as the disk. Accounts alternate, so that one that floods delays itself.
export function createLoadLimiter(deps: LoadLimiterDeps): LoadLimiter {
  const { clock, owed, nextIteration = setImmediate } = deps;
  const accounts = new Map<string, Waiter[]>(); // the first one is next
  const jobs: (() => void)[] = [];
  let waiting = 0;
  let bytesWaiting = 0;
  let admitted = 0; // in this iteration of the event loop
  let isChecking = false;

  const isLate = ({ sinceMs }: Waiter): boolean => clock.now() - sinceMs >= limits.loadWaitMs;
  // The first of each account has waited the longest.
  const mostOwed = (): number => {
    for (const [first] of accounts.values()) if (isLate(first!)) return deps.limits.most;
    return deps.limits.delayed;
  };
  const admit = () => {
    if (admitted === 0) nextIteration(beginIteration);
    admitted += 1;
  };
  const beginIteration = () => {
    admitted = 0;
    grant();
  };
  const grant = () => {
    while (waiting > 0 && admitted < limits.loadBatch && owed() < mostOwed()) {
      const [account, [first]] = accounts.entries().next().value!;
      remove(account, first!);
      admit();
      first!.resolve();
    }
    if (jobs.length > 0 && !isBusy()) for (const resolve of jobs.splice(0)) resolve();
  };
  const isBusy = () => waiting > 0 || owed() >= deps.limits.delayed / 2;

  // The account goes behind the others.
  const remove = (account: string, waiter: Waiter) => {
    const own = accounts.get(account)!;
    own.splice(own.indexOf(waiter), 1);
    accounts.delete(account);
    if (own.length > 0) accounts.set(account, own);
    waiting -= 1;
    bytesWaiting -= waiter.bytes;
    waiter.cancel();
  };
  const giveUp = (account: string, waiter: Waiter) => {
    remove(account, waiter);
    if (waiter.isRequest) waiter.reject(tooBusy());
    else waiter.resolve();
  };
  const onTime = (account: string, waiter: Waiter) => {
    grant(); // more may be owed now
    if (!accounts.get(account)?.includes(waiter)) return;
    const waitedMs = clock.now() - waiter.sinceMs;
    if (owed() >= deps.limits.most || waitedMs >= limits.loadWaitMostMs) return giveUp(account, waiter);
    waiter.cancel = clock.after(limits.loadWaitMs / 4, () => onTime(account, waiter));
  };

  const check = () => {
    isChecking = false;
    deps.recount();
    grant();
    scheduleCheck();
  };
  const scheduleCheck = () => {
    if (isChecking || (waiting === 0 && jobs.length === 0)) return;
    isChecking = true;
    clock.after(limits.loadCheckMs, check);
  };

  const isFull = (bytes: number) =>
    waiting >= limits.loadWaiting || bytesWaiting + bytes > limits.loadWaitingBytes;
  // The account with the most requests makes room for one with fewer.
  const makeRoom = (account: string): boolean => {
    let [longest, most] = [account, accounts.get(account) ?? []];
    for (const [other, own] of accounts) if (own.length > most.length + 1) [longest, most] = [other, own];
    if (longest === account) return false;
    giveUp(longest, most.at(-1)!);
    return true;
  };

  return {
    enter(account, bytes, kind = 'request') {
      if (waiting === 0 && admitted < limits.loadBatch && owed() < deps.limits.delayed) {
        admit();
        return undefined;
      }
      const isRequest = kind === 'request';
      while (isFull(bytes)) {
        if (makeRoom(account)) continue;
        if (isRequest) throw tooBusy();
        return undefined;
      }
      return new Promise((resolve, reject) => {
        const cancel = clock.after(limits.loadWaitMs, () => onTime(account, waiter));
        const waiter: Waiter = { bytes, sinceMs: clock.now(), isRequest, resolve, reject, cancel };
        const own = accounts.get(account);
        if (own) own.push(waiter);
        else accounts.set(account, [waiter]);
        waiting += 1;
        bytesWaiting += bytes;
        scheduleCheck();
      });
    },
    yieldToRequests() {
      if (!isBusy()) return undefined;
      return new Promise(resolve => {
        const cancel = clock.after(limits.jobYieldMs, () => {
          const at = jobs.indexOf(go);
          if (at >= 0) jobs.splice(at, 1);
          resolve();
        });
        const go = () => {
          cancel();
          resolve();
        };
        jobs.push(go);
        scheduleCheck();
      });
    },
    grant,
  };
}

const tooBusy = () =>
  webhookErrors.create<ProblemDetails>('webhooks.rate_limited', 'The server is busy. Try again later.', {
    retryAfterS: limits.loadRetryS,
  });
