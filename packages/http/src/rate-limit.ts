import { refuse } from './errors.ts';

// `limit` requests in `windowMs`, all at once or spread: a bucket that fills at an even pace.
export type RatePolicy = {
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  // Whom it counts: the principal if there is one, else the address. `path` counts what is called: a source that
  // takes webhooks from whatever addresses its provider has.
  readonly by?: 'principal' | 'address' | 'path';
};

export type Verdict = {
  readonly isAllowed: boolean;
  readonly remaining: number;
  readonly retryMs: number; // until one more is allowed; 0 if it is
  readonly resetMs: number; // until all of them are
};

export type RateLimitStore = {
  take(key: string, policy: RatePolicy, nowMs: number): Verdict | Promise<Verdict>;
};

// The generic cell rate algorithm: a caller is one number, the moment at which its bucket is full again.
export function judge(
  fullAtMs: number | undefined,
  { limit, windowMs }: RatePolicy,
  nowMs: number,
): Verdict & { fullAtMs: number } {
  const stepMs = windowMs / limit;
  // A bucket is never emptier than empty: a clock that steps back must not lock its callers out.
  const startMs = Math.min(Math.max(fullAtMs ?? nowMs, nowMs), nowMs + windowMs);
  const nextMs = startMs + stepMs;
  // Half a microsecond for what dividing a window loses, so that a full bucket always holds `limit`.
  const waitMs = nextMs - windowMs - nowMs - 0.0005;
  if (waitMs > 0)
    return { isAllowed: false, remaining: 0, retryMs: waitMs, resetMs: startMs - nowMs, fullAtMs: startMs };
  const remaining = Math.floor((windowMs - (nextMs - nowMs) + 0.0005) / stepMs);
  return { isAllowed: true, remaining, retryMs: 0, resetMs: nextMs - nowMs, fullAtMs: nextMs };
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
