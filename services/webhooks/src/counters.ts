import type { Clock, Logger, Random, Worker } from '@stak/kit';
import type { Store } from '@stak/table';
import { dayCount, latencyBoundsMs, latencyBuckets, totalCount } from './counter-table.ts';
import type { EventStatus } from './events-table.ts';
import * as limits from './limits.ts';

type Of = { userId: string; sourceId: string };
type Numbers = Record<string, number>;
type Day = Of & { day: string; add: Numbers };
type Total = { userId: string; ofId: string; add: Numbers; lastAt?: number };

export type Counters = {
  received(of: Of, receivedAt: number, status: EventStatus): void;
  // An event is counted under one status: the one it has.
  moved(of: Of, receivedAt: number, from: EventStatus, to: EventStatus): void;
  attempted(of: Of & { connectionId: string }, latencyMs: number, isSuccess: boolean): void;
  finished(of: Of & { connectionId: string }, isSuccess: boolean): void;
  used(userId: string): void;
  // What was used here and not handed on yet.
  unreported(userId: string): number;
  flush(): Promise<void>;
  worker: Worker;
};

const dayMs = 24 * 60 * 60 * 1000;
let latestDay = { startMs: Number.NaN, text: '' };

// Mostly of the day that it was asked for last.
export function dayOf(nowMs: number): string {
  const startMs = Math.floor(nowMs / dayMs) * dayMs;
  if (startMs !== latestDay.startMs)
    latestDay = { startMs, text: new Date(startMs).toISOString().slice(0, 10) };
  return latestDay.text;
}

export function bucketOf(latencyMs: number): number {
  const found = latencyBoundsMs.findIndex(bound => latencyMs <= bound);
  return found === -1 ? latencyBuckets - 1 : found;
}

const bump = (numbers: Numbers, name: string, by = 1): void => {
  numbers[name] = (numbers[name] ?? 0) + by;
};

// Adds up in memory and writes once a second: a source that takes thousands of events costs one write of a
// counter. A crash loses up to a second of counting, never an event.
export function createCounters(deps: {
  store: Store;
  clock: Clock;
  log: Logger;
  random: Random;
  countUsage(userId: string, count: number): Promise<void>;
}): Counters {
  const { store, clock, log } = deps;
  const shard = Math.floor(deps.random() * limits.counterShards);
  let days = new Map<string, Day>();
  let totals = new Map<string, Total>();
  let usage = new Map<string, number>();
  const reporting = new Map<string, number>();

  const dayEntry = ({ userId, sourceId }: Of, atMs: number): Numbers => {
    const day = dayOf(atMs);
    const key = `${userId} ${day} ${sourceId}`;
    let entry = days.get(key);
    if (!entry) {
      entry = { userId, sourceId, day, add: {} };
      days.set(key, entry);
    }
    return entry.add;
  };
  const totalEntry = (userId: string, ofId: string): Total => {
    let entry = totals.get(ofId);
    if (!entry) {
      entry = { userId, ofId, add: {} };
      totals.set(ofId, entry);
    }
    return entry;
  };

  const flushDay = ({ userId, sourceId, day, add }: Day) => {
    const expiresAt = Math.floor(clock.now() / 1000) + limits.counterDaysS;
    const change = { add: withoutZeros(add), set: { expiresAt } };
    return store.update(dayCount, { userId, day, sourceId, shard }, change, { upsert: true });
  };
  const flushTotal = ({ userId, ofId, add, lastAt }: Total) =>
    store.update(totalCount, { userId, ofId, shard }, { add, set: { lastAt } }, { upsert: true });
  const flushUsage = async (userId: string, count: number) => {
    tally(reporting, userId, count);
    try {
      await deps.countUsage(userId, count);
    } finally {
      tally(reporting, userId, -count);
    }
  };

  const flush = async (): Promise<void> => {
    const taken = { days, totals, usage };
    days = new Map();
    totals = new Map();
    usage = new Map();
    const results = await Promise.allSettled([
      ...[...taken.days.values()].map(flushDay),
      ...[...taken.totals.values()].map(flushTotal),
      ...[...taken.usage].map(([userId, count]) => flushUsage(userId, count)),
    ]);
    // Whether a failed ADD was made is not known: it is not repeated, a count too few is better than one twice.
    const failed = results.filter(result => result.status === 'rejected');
    if (failed.length > 0) log.warn({ err: failed[0]!.reason, failed: failed.length }, 'counts were lost');
  };

  return {
    received(of, receivedAt, status) {
      const add = dayEntry(of, receivedAt);
      bump(add, 'received');
      bump(add, `s_${status}`);
      const total = totalEntry(of.userId, of.sourceId);
      bump(total.add, 'count');
      total.lastAt = Math.max(total.lastAt ?? 0, receivedAt);
    },
    moved(of, receivedAt, from, to) {
      if (from === to) return;
      const add = dayEntry(of, receivedAt);
      bump(add, `s_${from}`, -1);
      bump(add, `s_${to}`);
    },
    attempted(of, latencyMs, isSuccess) {
      const add = dayEntry(of, clock.now());
      bump(add, 'attempts');
      if (isSuccess) bump(add, 'successes');
      bump(add, `l_${bucketOf(latencyMs)}`);
    },
    finished(of, isSuccess) {
      bump(totalEntry(of.userId, of.connectionId).add, isSuccess ? 'count' : 'failures');
    },
    used: userId => tally(usage, userId, 1),
    unreported: userId => (usage.get(userId) ?? 0) + (reporting.get(userId) ?? 0),
    flush,
    worker: {
      name: 'webhooks counters',
      async run(signal) {
        while (!signal.aborted) {
          await clock.sleep(limits.flushMs, signal).catch(() => {});
          await flush();
        }
      },
    },
  };
}

function tally(counts: Map<string, number>, key: string, by: number): void {
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

const withoutZeros = (numbers: Numbers): Numbers =>
  Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0));
