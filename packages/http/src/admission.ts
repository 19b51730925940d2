import type { Context } from 'hono';
import { addressKey } from './address.ts';
import type { ApiEnv } from './context.ts';
import * as limits from './limits.ts';
import {
  type Authenticate,
  bearerToken,
  checkPrincipal,
  type Principal,
  principalKey,
  unauthenticated,
} from './principal.ts';
import {
  type RateLimitStore,
  type RatePolicy,
  rateHeaders,
  rateLimited,
  type Verdict,
} from './rate-limit.ts';
import type { RouteSpec } from './route.ts';

export type RateLimits = {
  store: RateLimitStore;
  perPrincipal?: RatePolicy;
  perAddress?: RatePolicy; // for callers without a principal, and for tokens that were refused
};

export type Gate = { authenticate: Authenticate; rateLimits?: RateLimits };

const perPrincipal: RatePolicy = {
  name: 'principal',
  limit: limits.requestsPerPrincipal,
  windowMs: limits.windowMs,
};
const perAddress: RatePolicy = {
  name: 'address',
  limit: limits.requestsPerAddress,
  windowMs: limits.windowMs,
  by: 'address',
};

// Who is calling, if the route asks: a principal of the right kind with enough scope, or a problem.
export async function authenticateCaller(c: Context<ApiEnv>, route: RouteSpec, gate: Gate): Promise<void> {
  const header = c.req.header('authorization');
  const token = bearerToken(header);
  const address = c.get('address');
  const principal =
    token === undefined
      ? undefined
      : await gate.authenticate({ token, requestId: c.get('requestId'), address });
  if (principal === undefined) {
    // Guessing costs the address, but never a caller behind the same address who has a good token.
    await take(c, gate.rateLimits, gate.rateLimits?.perAddress ?? perAddress, 'refused');
    throw unauthenticated(header !== undefined);
  }
  admitPrincipal(c, principal, route);
}

export function admitPrincipal(c: Context<ApiEnv>, principal: Principal, route: RouteSpec): void {
  checkPrincipal(principal, route.auth, route.scope);
  c.set('principal', principal);
}

// Counts the request against its caller and, if it has one, the route's own limit. The headers tell of the
// limit that is nearer.
export async function countRequest(
  c: Context<ApiEnv>,
  route: RouteSpec,
  id: string,
  gate: Gate,
): Promise<void> {
  const own = route.limits?.rate;
  if (!gate.rateLimits || own === false) return;
  const general = c.get('principal')
    ? (gate.rateLimits.perPrincipal ?? perPrincipal)
    : (gate.rateLimits.perAddress ?? perAddress);
  let nearest = await take(c, gate.rateLimits, general, '');
  let policy = general;
  if (own) {
    const verdict = await take(c, gate.rateLimits, own, id);
    if (verdict && nearest && verdict.remaining < nearest.remaining) {
      nearest = verdict;
      policy = own;
    }
  }
  if (nearest) c.set('rateHeaders', rateHeaders(policy, nearest));
}

async function take(
  c: Context<ApiEnv>,
  rateLimits: RateLimits | undefined,
  policy: RatePolicy,
  what: string,
): Promise<Verdict | undefined> {
  if (!rateLimits) return undefined;
  const principal = policy.by === 'address' ? undefined : c.get('principal');
  const caller = principal ? principalKey(principal) : addressKey(c.get('address'));
  const nowMs = c.get('server').clock.now();
  const verdict = await rateLimits.store.take(`${policy.name} ${what} ${caller}`, policy, nowMs);
  if (!verdict.isAllowed) throw rateLimited(policy, verdict);
  return verdict;
}
