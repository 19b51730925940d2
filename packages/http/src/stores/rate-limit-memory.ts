import { type Clock, createRecentMap, type Peers } from '@stak/kit';
import * as limits from '../limits.ts';
import { type Bucket, judge, type RatePolicy, type Verdict } from './rate-limit.ts';

// Synchronous, so that serving a request does not have to await a promise.
export type MemoryRateLimits = {
  take(key: string, policy: RatePolicy, nowMs: number): Verdict;
  // Counts requests that other processes allowed, without checking the limit.
  add(key: string, policy: RateShape, count: number, nowMs: number): void;
  size(): number;
};

type RateShape = Pick<RatePolicy, 'limit' | 'windowMs'>;

// Limits for one process. When there are too many callers, the least recently used one is dropped: it is the one most
// likely to have a full bucket again.
export function createMemoryRateLimits(mostKeys = limits.rateKeys): MemoryRateLimits {
  const buckets = createRecentMap<string, Bucket>(mostKeys);
  return {
    size: buckets.size,
    take(key, policy, nowMs) {
      const verdict = judge(buckets.get(key), policy, nowMs);
      buckets.set(key, verdict.bucket);
      return verdict;
    },
    add(key, { limit, windowMs }, count, nowMs) {
      const bucket = buckets.get(key);
      const refilled = bucket ? Math.max(0, nowMs - bucket.atMs) * limit : 0;
      const used = Math.max(0, (bucket?.used ?? 0) - refilled) + count * windowMs;
      // An excess delays the caller by up to one more window.
      buckets.set(key, {
        used: Math.min(used, 2 * limit * windowMs),
        atMs: Math.max(nowMs, bucket?.atMs ?? 0),
      });
    },
  };
}

type Taken = [key: string, limit: number, windowMs: number, count: number];

// Limits of several processes on one machine: each reports to the others a few times a second what it allowed. So over
// all connections, a caller gets at most the limit and what others allow until they are notified.
export function shareRateLimits(
  own: MemoryRateLimits,
  { peers, clock, topic }: { peers: Pick<Peers, 'send' | 'onMessage'>; clock: Clock; topic: string },
): MemoryRateLimits {
  let taken = new Map<string, Taken>();
  const report = () => {
    peers.send(topic, [...taken.values()]);
    taken = new Map();
  };
  peers.onMessage(topic, body => {
    const nowMs = clock.now();
    for (const [key, limit, windowMs, count] of body as Taken[])
      own.add(key, { limit, windowMs }, count, nowMs);
  });
  return {
    ...own,
    take(key, policy, nowMs) {
      const verdict = own.take(key, policy, nowMs);
      if (!verdict.isAllowed) return verdict;
      const bucket = taken.get(key);
      // The first request since the last report.
      if (taken.size === 0) setTimeout(report, limits.rateShareMs).unref();
      if (bucket) bucket[3] += 1;
      else if (taken.size < limits.rateKeysShared) taken.set(key, [key, policy.limit, policy.windowMs, 1]);
      return verdict;
    },
  };
}
