import type { Context } from 'hono';
import type { ApiEnv } from './context.ts';
import { type Claim, checkKey, hashParts, type IdempotencyStore, runOnce } from './idempotency.ts';
import * as limits from './limits.ts';
import { principalKey } from './principal.ts';

// Handles a request with an Idempotency-Key, or returns the stored response.
export async function runKeyed(
  c: Context<ApiEnv>,
  key: string,
  store: IdempotencyStore,
  answer: (c: Context<ApiEnv>) => Promise<Response>,
): Promise<Response> {
  checkKey(key);
  const claim = claimOf(c, key);
  c.set('idempotencyKey', claim.key);
  const { log } = c.get('server');
  return runOnce(store, claim, { log, requestId: c.get('requestId') }, () => answer(c));
}

// The key belongs to the caller and the route; the rest of the request must stay the same.
function claimOf(c: Context<ApiEnv>, key: string): Claim {
  const { pathname, search } = new URL(c.req.url);
  return {
    key: hashParts(principalKey(c.get('principal')!), c.get('routeId'), key),
    fingerprint: hashParts(pathname, search, c.get('body') ?? ''),
    ttlMs: limits.idempotencyTtlMs,
    leaseMs: limits.idempotencyLeaseMs,
  };
}
