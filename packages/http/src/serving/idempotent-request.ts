import { createHash } from 'node:crypto';
import { createIds, type Ids } from '@stak/kit';
import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';
import * as limits from '../limits.ts';
import { type Principal, principalKey } from '../principal.ts';
import {
  type Claim,
  checkKey,
  type FirstAttempt,
  hashParts,
  type IdempotencyStore,
  runOnce,
} from '../stores/idempotency.ts';

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
  return runOnce(store, claim, { log, requestId: c.get('requestId') }, ({ first, isRepeated }) => {
    c.set('ids', repeatableIds(first, claim.fingerprint));
    c.set('isRepeated', isRepeated);
    return answer(c);
  });
}

// The same ids in the same order for every attempt: what an earlier one has created is found, and not created again.
function repeatableIds({ name, atMs }: FirstAttempt, fingerprint: string): Ids {
  let block = Buffer.alloc(0);
  let used = 0;
  let blocks = 0;
  const random = () => {
    if (used === block.length) {
      block = createHash('sha512')
        .update(hashParts(name, fingerprint, `${blocks++}`))
        .digest();
      used = 0;
    }
    used += 4;
    return block.readUInt32BE(used - 4) / 2 ** 32;
  };
  return createIds({ clock: { now: () => atMs }, random });
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
