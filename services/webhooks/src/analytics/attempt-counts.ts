import { type Clock, createNotifier, type Logger, type Random, type Worker } from '@stak/kit';
import type { Store } from '@stak/table';
import * as limits from '../limits.ts';
import { countPartitionOf, dayCount, latencyBoundsMs, latencyBuckets, totalCount } from '../tables.ts';

type Of = { userId: string; sourceId: string };
type Numbers = Record<string, number>;
type Day = Of & { day: string; add: Numbers };
type Total = { userId: string; ofId: string; add: Numbers };

export type AttemptCounts = {
  attempted(of: Of & { connectionId: string }, latencyMs: number, isSuccess: boolean): void;
  finished(of: Of & { connectionId: string }, isSuccess: boolean): void;
  flush(): Promise<void>;
  worker: Worker;
};

const dayMs = 24 * 60 * 60 * 1000;
let latestDay = { startMs: Number.NaN, text: '' };

// Mostly called for the same day as before.
export function dayOf(nowMs: number): string {
  const startMs = Math.floor(nowMs / dayMs) * dayMs;
  if (startMs !== latestDay.startMs)
    latestDay = { startMs, text: new Date(startMs).toISOString().slice(0, 10) };
  return latestDay.text;
}

function bucketOf(latencyMs: number): number {
  const found = latencyBoundsMs.findIndex(bound => latencyMs <= bound);
  return found === -1 ? latencyBuckets - 1 : found;
}

const bump = (numbers: Numbers, name: string, by = 1): void => {
  numbers[name] = (numbers[name] ?? 0) + by;
};

// Counts attempts with their latencies, and the deliveries of each connection. No bill and no limit depends on them. They
// are added up in memory and written once a second, so thousands of deliveries cost one write; a crash loses up to a second
// of them. What has to be exact is counted from the stream: see event-counts.ts.
export function createAttemptCounts(deps: {
  store: Store;
  clock: Clock;
  log: Logger;
  random: Random;
}): AttemptCounts {
  const { store, clock, log } = deps;
  const shard = Math.floor(deps.random() * limits.counterShards);
  const begun = createNotifier(clock);
  let days = new Map<string, Day>();
  let totals = new Map<string, Total>();

  const dayEntry = ({ userId, sourceId }: Of, atMs: number): Numbers => {
    const day = dayOf(atMs);
    const key = `${userId} ${day} ${sourceId}`;
    let entry = days.get(key);
    if (!entry) {
      entry = { userId, sourceId, day, add: {} };
      days.set(key, entry);
      begun.notify();
    }
    return entry.add;
  };
  const totalEntry = (userId: string, ofId: string): Total => {
    let entry = totals.get(ofId);
    if (!entry) {
      entry = { userId, ofId, add: {} };
      totals.set(ofId, entry);
      begun.notify();
    }
    return entry;
  };

  const flushDay = ({ userId, sourceId, day, add }: Day) => {
    const expiresAt = Math.floor(clock.now() / 1000) + limits.counterDaysS;
    const change = { add, set: { expiresAt } };
    const key = { userId, partition: countPartitionOf(sourceId), day, sourceId, shard };
    return store.update(dayCount, key, change, { upsert: true });
  };
  const flushTotal = ({ userId, ofId, add }: Total) => {
    const key = { userId, partition: countPartitionOf(ofId), ofId, shard };
    return store.update(totalCount, key, { add }, { upsert: true });
  };
  const flush = async (): Promise<void> => {
    const taken = { days, totals };
    days = new Map();
    totals = new Map();
    const results = await Promise.allSettled([
      ...[...taken.days.values()].map(flushDay),
      ...[...taken.totals.values()].map(flushTotal),
    ]);
    // A failed ADD may have been applied, so it is not retried: a missing count is better than a double one.
    const failed = results.filter(result => result.status === 'rejected');
    if (failed.length > 0) log.warn({ err: failed[0]!.reason, failed: failed.length }, 'counts were lost');
  };

  return {
    attempted(of, latencyMs, isSuccess) {
      const add = dayEntry(of, clock.now());
      bump(add, 'attempts');
      if (isSuccess) bump(add, 'successes');
      bump(add, `l_${bucketOf(latencyMs)}`);
    },
    finished(of, isSuccess) {
      bump(totalEntry(of.userId, of.connectionId).add, isSuccess ? 'count' : 'failures');
    },
    flush,
    worker: {
      name: 'webhooks counters',
      async run(signal) {
        while (!signal.aborted) {
          await begun.wait(limits.flushIdleMs, signal);
          await clock.sleep(limits.flushMs, signal).catch(() => {});
          await flush();
        }
      },
    },
  };
}
