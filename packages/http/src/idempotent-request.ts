import type { Context } from 'hono';
import type { ApiEnv } from './context.ts';
import { type Claim, checkKey, hashParts, type IdempotencyStore, runOnce } from './idempotency.ts';
import * as limits from './limits.ts';
import { type Principal, principalKey } from './principal.ts';

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
    key: hashParts(holderOf(c.get('principal')!), c.get('routeId'), key),
    fingerprint: hashParts(pathname, search, c.get('body') ?? ''),
    ttlMs: limits.idempotencyTtlMs,
    leaseMs: limits.idempotencyLeaseMs,
  };
}

// A credential that is limited to some tenants shares no keys with the rest of its account: it would be shown responses
// about other tenants, and could use up the keys of requests to them.
const holderOf = (principal: Principal): string =>
  principal.kind === 'account' && principal.tenants
    ? `${principalKey(principal)} limited to ${JSON.stringify(principal.tenants)}`
    : principalKey(principal);
