import { backoffMs, type Clock, type Random } from '@stak/kit';
import { isUnavailable } from '@stak/table';
import { PermanentError } from '../errors.ts';
import * as limits from '../limits.ts';
import { embedded, type StreamRecord } from '../source/source.ts';

export type PageJob = {
  attempts: number;
  concurrency: number;
  clock: Clock;
  random: Random;
  signal: AbortSignal;
  // Whether to continue: the lease holds and the consumer is not stopping.
  canContinue(): boolean;
  concerns(record: StreamRecord): boolean; // the rest count as done
  handle(record: StreamRecord, attempt: number): Promise<void>;
  setAside(record: StreamRecord, error: unknown, attempts: number): Promise<void>;
  onRetry(record: StreamRecord, error: unknown, attempt: number): void;
};

// Handles the records of a page. Returns how many of them, from the start, are done: all, unless it had to stop.
// Records of one item are handled one after the other, those of different items concurrently.
export async function handlePage(records: readonly StreamRecord[], job: PageJob): Promise<number> {
  const done = records.map(record => !job.concerns(record));
  const queues = splitByItem(records, done);
  let next = 0;
  const work = async () => {
    for (let queue = queues[next++]; queue; queue = queues[next++]) {
      for (const index of queue) {
        if (!(await handleRecord(records[index]!, job))) return;
        done[index] = true;
      }
    }
  };
  // Waits for all workers before it reports a failure, or they would continue after it has returned.
  const stopOthers = (error: unknown) => {
    next = queues.length;
    throw error;
  };
  const workers = Array.from({ length: Math.min(job.concurrency, queues.length) }, () =>
    work().catch(stopOthers),
  );
  for (const result of await Promise.allSettled(workers))
    if (result.status === 'rejected') throw result.reason;
  const firstOpen = done.indexOf(false);
  return firstOpen === -1 ? records.length : firstOpen;
}

// Whether the record is done: handled, or stored as a dead letter after its last attempt.
async function handleRecord(record: StreamRecord, job: PageJob): Promise<boolean> {
  const tries = createTries(job.attempts);
  for (let attempt = 1; ; attempt++) {
    if (!job.canContinue()) return false;
    let waitMs: number;
    try {
      await job.handle(record, attempt);
      return true;
    } catch (error) {
      // A handler that stopped because of the signal has not failed.
      if (!job.canContinue()) return false;
      tries.count(error);
      if (tries.areOver()) {
        await job.setAside(record, error, attempt);
        return true;
      }
      job.onRetry(record, error, attempt);
      waitMs = tries.delayMs(job.random);
    }
    const isOver = await job.clock.sleep(waitMs, job.signal).then(
      () => false,
      () => true,
    );
    if (isOver) return false;
  }
}

// A store that throttles or is unavailable is not the record's fault, and does not count as an attempt.
export function createTries(most: number) {
  let failures = 0;
  let passing = 0; // in a row
  let isPermanent = false;
  return {
    count(error: unknown) {
      isPermanent ||= error instanceof PermanentError;
      if (isUnavailable(error)) passing += 1;
      else [failures, passing] = [failures + 1, 0];
    },
    areOver: () => isPermanent || failures >= most,
    delayMs: (random: Random) =>
      passing > 0
        ? Math.min(limits.unavailableMostMs, delayMs(passing, random))
        : delayMs(Math.max(1, failures), random),
  };
}

// Half of each delay is random, so consumers that failed together do not retry together.
export const delayMs = (failures: number, random: Random): number =>
  backoffMs(failures, { firstMs: limits.backoffFirstMs, mostMs: limits.backoffMostMs }, random, 'half');

// The positions of each item's records, in order, without those that are done. There are at most two key attributes, so
// sorting their names is cheap.
function splitByItem(records: readonly StreamRecord[], done: readonly boolean[]): number[][] {
  const queues = new Map<string, number[]>();
  for (const [index, record] of records.entries()) {
    if (done[index]) continue;
    const item = itemOf(record);
    const queue = queues.get(item);
    if (queue) queue.push(index);
    else queues.set(item, [index]);
  }
  return [...queues.values()];
}

// Two items with the same text would only be handled one after the other.
function itemOf({ dynamodb }: StreamRecord): string {
  const plain = dynamodb?.[embedded]?.keys();
  const values = plain && Object.values(plain);
  if (values?.every(value => typeof value === 'string')) return values.join('\n');
  const keys = dynamodb?.Keys ?? {};
  const names = Object.keys(keys).sort();
  return JSON.stringify(names.map(name => Object.values(keys[name]!)));
}
