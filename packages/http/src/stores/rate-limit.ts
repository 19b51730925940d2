import type { MaybePromise } from '@stak/kit';
import { refuse } from '../errors.ts';

// `limit` requests in `windowMs`, all at once or spread: a bucket that fills at a constant rate.
export type RatePolicy = {
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  // Counts by the principal if there is one, else by the address. `path` counts by what is called, which the caller
  // chooses, so use it only together with other limits. A provider's principal is counted after verification.
  readonly by?: 'principal' | 'address' | 'path';
  // Counted over all processes if the store supports it, at the cost of a write: for example, to guard a password.
  readonly shared?: true;
};

export type Verdict = {
  readonly isAllowed: boolean;
  readonly remaining: number;
  readonly retryMs: number; // until one more is allowed; 0 if it is
  readonly resetMs: number; // until all of them are allowed
};

export type RateLimitStore = {
  take(key: string, policy: RatePolicy, nowMs: number): MaybePromise<Verdict>;
};

// A leaky bucket: what a caller has used, in milliseconds times `limit`, at the time of the last request. In these
// units everything is a whole number, and a full bucket never holds one request too few.
export type Bucket = { readonly used: number; readonly atMs: number };

export function judge(
  bucket: Bucket | undefined,
  { limit, windowMs }: RatePolicy,
  nowMs: number,
): Verdict & { bucket: Bucket } {
  const size = limit * windowMs;
  // A clock that steps back refills nothing, and a bucket cannot be emptier than empty.
  const refilled = bucket ? Math.max(0, nowMs - bucket.atMs) * limit : 0;
  const used = Math.max(0, (bucket?.used ?? 0) - refilled);
  const wanted = used + windowMs;
  if (wanted > size) {
    const retryMs = (wanted - size) / limit;
    return { isAllowed: false, remaining: 0, retryMs, resetMs: used / limit, bucket: { used, atMs: nowMs } };
  }
  return {
    isAllowed: true,
    remaining: Math.floor((size - wanted) / windowMs),
    retryMs: 0,
    resetMs: wanted / limit,
    bucket: { used: wanted, atMs: nowMs },
  };
}

const inSeconds = (ms: number): number => Math.ceil(ms / 1000);

export const rateHeaders = (policy: RatePolicy, verdict: Verdict): Record<string, string> => ({
  'RateLimit-Limit': String(policy.limit),
  'RateLimit-Remaining': String(verdict.remaining),
  'RateLimit-Reset': String(inSeconds(verdict.resetMs)),
});

export const rateLimited = (policy: RatePolicy, verdict: Verdict) =>
  refuse('http.rate_limited', 'Too many requests.', {
    retryAfterS: Math.max(1, inSeconds(verdict.retryMs)),
    headers: rateHeaders(policy, verdict),
  });
