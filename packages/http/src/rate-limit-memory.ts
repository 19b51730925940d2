import * as limits from './limits.ts';
import { type Bucket, judge, type RateLimitStore } from './rate-limit.ts';

// Limits for one process. The least recently used caller is forgotten when there are too many: it was the one
// most likely to have a full bucket again.
export function createMemoryRateLimits(mostKeys = limits.rateKeys): RateLimitStore & { size(): number } {
  const buckets = new Map<string, Bucket>();
  return {
    size: () => buckets.size,
    take(key, policy, nowMs) {
      const verdict = judge(buckets.get(key), policy, nowMs);
      buckets.delete(key); // a map keeps the order of insertion: whoever is set last is the most recent
      buckets.set(key, verdict.bucket);
      if (buckets.size > mostKeys) buckets.delete(buckets.keys().next().value!);
      return verdict;
    },
  };
}
