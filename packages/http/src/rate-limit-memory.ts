import * as limits from './limits.ts';
import { judge, type RateLimitStore } from './rate-limit.ts';

// Limits for one process. The least recently used caller is forgotten when there are too many: it was the one
// most likely to have a full bucket again.
export function createMemoryRateLimits(mostKeys = limits.rateKeys): RateLimitStore & { size(): number } {
  const fullAt = new Map<string, number>();
  return {
    size: () => fullAt.size,
    take(key, policy, nowMs) {
      const verdict = judge(fullAt.get(key), policy, nowMs);
      fullAt.delete(key); // a map keeps the order of insertion: whoever is set last is the most recent
      fullAt.set(key, verdict.fullAtMs);
      if (fullAt.size > mostKeys) fullAt.delete(fullAt.keys().next().value!);
      return verdict;
    },
  };
}
