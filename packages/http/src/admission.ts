import type { Context } from 'hono';
import { addressKey } from './address.ts';
import { callerKey } from './caller.ts';
import type { ApiEnv } from './context.ts';
import * as limits from './limits.ts';
import {
  type Authenticate,
  bearerToken,
  checkPrincipal,
  type Principal,
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
    if (gate.rateLimits) await take(c, gate.rateLimits, gate.rateLimits.perAddress ?? perAddress, 'refused');
    throw unauthenticated(header !== undefined);
  }
  admitPrincipal(c, principal, route);
}

export function admitPrincipal(c: Context<ApiEnv>, principal: Principal, route: RouteSpec): void {
  checkPrincipal(principal, route.auth, route.scope);
  c.set('principal', principal);
}

// Counts the request against its caller and against the route's own limit, if it has one. The headers tell of the
// limit that is nearer.
export async function countRequest(
  c: Context<ApiEnv>,
  route: RouteSpec,
  id: string,
  gate: Gate,
): Promise<void> {
  const { rateLimits } = gate;
  const own = route.limits?.rate;
  if (!rateLimits || own === false) return;
  const general = generalPolicy(c, route, rateLimits);
  const counted = general && (await take(c, rateLimits, general, ''));
  const countedByRoute = own && (await take(c, rateLimits, own, id));
  if (own && countedByRoute && !(counted && counted.remaining < countedByRoute.remaining))
    c.set('rateHeaders', rateHeaders(own, countedByRoute));
  else if (general && counted) c.set('rateHeaders', rateHeaders(general, counted));
}

// A provider calls for thousands of accounts from a handful of addresses: only its route can say what is much.
function generalPolicy(c: Context<ApiEnv>, route: RouteSpec, rateLimits: RateLimits): RatePolicy | undefined {
  if (c.get('principal')) return rateLimits.perPrincipal ?? perPrincipal;
  return route.auth === 'provider' ? undefined : (rateLimits.perAddress ?? perAddress);
}

async function take(
  c: Context<ApiEnv>,
  rateLimits: RateLimits,
  policy: RatePolicy,
  what: string,
): Promise<Verdict> {
  const nowMs = c.get('server').clock.now();
  const key = `${policy.name} ${what} ${countedKey(c, policy)}`;
  const verdict = await rateLimits.store.take(key, policy, nowMs);
  if (!verdict.isAllowed) throw rateLimited(policy, verdict);
  return verdict;
}

function countedKey(c: Context<ApiEnv>, { by }: RatePolicy): string {
  if (by === 'path') return c.req.path;
  return by === 'address' ? addressKey(c.get('address')) : callerKey(c);
}
