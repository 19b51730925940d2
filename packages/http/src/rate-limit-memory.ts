import { createRecentMap } from '@stak/kit';
import * as limits from './limits.ts';
import { type Bucket, judge, type RatePolicy, type Verdict } from './rate-limit.ts';

// Answers at once: whoever serves many requests need not wait for a promise.
export type MemoryRateLimits = {
  take(key: string, policy: RatePolicy, nowMs: number): Verdict;
  size(): number;
};

// Limits for one process. The least recently used caller is forgotten when there are too many: it was the one
// most likely to have a full bucket again.
export function createMemoryRateLimits(mostKeys = limits.rateKeys): MemoryRateLimits {
  const buckets = createRecentMap<string, Bucket>(mostKeys);
  return {
    size: buckets.size,
    take(key, policy, nowMs) {
      const verdict = judge(buckets.get(key), policy, nowMs);
      buckets.set(key, verdict.bucket);
      return verdict;
    },
  };
}
