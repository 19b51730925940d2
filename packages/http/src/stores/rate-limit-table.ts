import { createRecentMap } from '@stak/kit';
import { is, type Store, tableErrors } from '@stak/table';
import { refuse } from '../errors.ts';
import * as limits from '../limits.ts';
import { sharedBucket } from './http-table.ts';
import { hashParts } from './idempotency.ts';
import { type Bucket, judge, type RateLimitStore, type RatePolicy, type Verdict } from './rate-limit.ts';
import { createMemoryRateLimits } from './rate-limit-memory.ts';

// Policies with `shared` are counted in the table, exactly, over all processes; the others in this process alone.
// docs/adr/0014-limits-shared-where-it-matters.md says why.
export function createTableRateLimits({
  store,
  others = createMemoryRateLimits(),
}: {
  store: Store;
  others?: RateLimitStore;
}): RateLimitStore {
  const shared = createSharedBuckets(store);
  return {
    take: (key, policy, nowMs) =>
      policy.shared ? shared.take(key, policy, nowMs) : others.take(key, policy, nowMs),
  };
}

// A bucket is changed by compare-and-swap: the write is conditional on the bucket that was read, and a refusal returns
// the current one. The last known bucket is kept, so that the first attempt usually succeeds.
function createSharedBuckets(store: Store): RateLimitStore {
  const seen = createRecentMap<string, Bucket | undefined>(limits.sharedRateKeys);
  const last = new Map<string, Promise<unknown>>();

  const takeOne = async (counted: string, policy: RatePolicy, nowMs: number): Promise<Verdict> => {
    for (let attempt = 0; attempt < limits.sharedRateAttempts; attempt++) {
      const bucket = seen.get(counted);
      // Another process's clock may be a little ahead: going back to ours would refill the bucket twice.
      const verdict = judge(bucket, policy, Math.max(nowMs, bucket?.atMs ?? 0));
      // Others can only have taken more, so a refusal is final and costs no write.
      if (!verdict.isAllowed) return verdict;
      const swapped = await swap(store, counted, bucket, verdict);
      seen.set(counted, swapped.bucket);
      if (swapped.isDone) return verdict;
    }
    throw refuse('http.unavailable', 'Too many requests at the same time.', { retryAfterS: 1 });
  };

  return {
    // One at a time for each caller: requests of one process need not compete with each other.
    take(key, policy, nowMs) {
      const counted = hashParts(key);
      const before = last.get(counted) ?? Promise.resolve();
      const taking = before.then(() => takeOne(counted, policy, nowMs));
      const settled = taking
        .catch(() => {})
        .then(() => {
          if (last.get(counted) === settled) last.delete(counted);
        });
      last.set(counted, settled);
      return taking;
    },
  };
}

async function swap(
  store: Store,
  counted: string,
  before: Bucket | undefined,
  { bucket, resetMs }: Verdict & { bucket: Bucket },
): Promise<{ isDone: boolean; bucket: Bucket | undefined }> {
  const { used, atMs } = bucket;
  const item = { counted, used, at: atMs, expires_at: Math.ceil((atMs + resetMs) / 1000) };
  const isStillThere = before ? { used: before.used, at: before.atMs } : { at: is.absent };
  try {
    await store.put(sharedBucket, item, { if: isStillThere, pattern: 'take from shared bucket' });
    return { isDone: true, bucket };
  } catch (error) {
    if (!tableErrors.includes(error) || error.code !== 'table.condition_failed') throw error;
    const { current } = error.details as { current?: { used: number; at: number } };
    return { isDone: false, bucket: current && { used: current.used, atMs: current.at } };
  }
}
