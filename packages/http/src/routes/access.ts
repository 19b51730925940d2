import { createHash } from 'node:crypto';
import { type MaybePromise, whenKnown } from '@stak/kit';
import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';
import * as limits from '../limits.ts';
import {
  type Authenticate,
  bearerToken,
  checkPrincipal,
  type Principal,
  unauthenticated,
} from '../principal.ts';
import {
  type RateLimitStore,
  type RatePolicy,
  rateHeaders,
  rateLimited,
  type Verdict,
} from '../stores/rate-limit.ts';
import { addressKey } from './address.ts';
import { callerKey } from './caller.ts';
import type { RouteSpec } from './route.ts';

export type RateLimits = {
  store: RateLimitStore;
  perPrincipal?: RatePolicy;
  perAddress?: RatePolicy; // for callers without a principal, and for refused tokens
  perWebhookAddress?: RatePolicy; // for requests of providers, who have few addresses for all their customers
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

const perWebhookAddress: RatePolicy = {
  name: 'webhook address',
  limit: limits.webhooksPerAddress,
  windowMs: limits.windowMs,
  by: 'address',
};

// The caller, if the route requires one: a principal of the right kind with sufficient scope, or a problem.
export function authenticateCaller(c: Context<ApiEnv>, route: RouteSpec, gate: Gate): MaybePromise<void> {
  const header = c.req.header('authorization');
  const token = bearerToken(header);
  if (token === undefined) return refuseCaller(c, gate, header !== undefined);
  const found = gate.authenticate({
    token,
    requestId: c.get('requestId'),
    address: c.get('address'),
    resource: c.env?.resource,
  });
  return whenKnown(found, principal =>
    principal === undefined ? refuseCaller(c, gate, true) : admitPrincipal(c, principal, route),
  );
}

// Guessing is charged to the address, but never to a caller with a valid token at the same address.
export async function refuseCaller(
  c: Context<ApiEnv>,
  { rateLimits }: Gate,
  hadToken: boolean,
): Promise<never> {
  if (rateLimits) await take(c, rateLimits, rateLimits.perAddress ?? perAddress, 'refused');
  throw unauthenticated(hadToken);
}

export function admitPrincipal(c: Context<ApiEnv>, principal: Principal, route: RouteSpec): void {
  checkPrincipal(principal, route);
  c.set('principal', principal);
}

// Counts the request against its caller and against the limit of the route, if it has one. The headers show the limit
// that is closer to being used up.
export function countRequest(
  c: Context<ApiEnv>,
  route: RouteSpec,
  id: string,
  gate: Gate,
): MaybePromise<void> {
  const { rateLimits } = gate;
  const own = route.limits?.rate;
  if (!rateLimits || own === false) return;
  const general = generalPolicy(c, route, rateLimits);
  return whenKnown(takeGeneral(c, rateLimits, general), counted => {
    c.set('rateHeaders', rateHeaders(general, counted));
    // The sender of a provider's request is known after its signature is verified.
    if (!own || isAfterProof(route, own)) return;
    return whenKnown(take(c, rateLimits, own, id), countedByRoute => {
      if (counted.remaining < countedByRoute.remaining) return;
      c.set('rateHeaders', rateHeaders(own, countedByRoute));
    });
  });
}

// Counts against the limit of the verified subject. Unverified senders can neither use it up nor escape it.
export function countProven(
  c: Context<ApiEnv>,
  route: RouteSpec,
  id: string,
  gate: Gate,
): MaybePromise<void> {
  const { rateLimits } = gate;
  const own = route.limits?.rate;
  if (!rateLimits || !own || !isAfterProof(route, own)) return;
  return whenKnown(take(c, rateLimits, own, id), counted => {
    c.set('rateHeaders', rateHeaders(own, counted));
  });
}

const isAfterProof = (route: RouteSpec, { by }: RatePolicy): boolean =>
  route.auth === 'provider' && by !== 'address';

const generalPolicy = (c: Context<ApiEnv>, route: RouteSpec, rateLimits: RateLimits): RatePolicy =>
  c.get('principal') ? (rateLimits.perPrincipal ?? perPrincipal) : policyWithoutPrincipal(route, rateLimits);

// The limit of callers who do not say who they are.
export const policyWithoutPrincipal = (route: RouteSpec, rateLimits: RateLimits): RatePolicy =>
  route.auth === 'provider' || route.limits?.isWebhook
    ? (rateLimits.perWebhookAddress ?? perWebhookAddress)
    : (rateLimits.perAddress ?? perAddress);

// Counts a request of a caller who is known by their address only.
export const takeOfAddress = (
  { store }: RateLimits,
  policy: RatePolicy,
  address: string | undefined,
  nowMs: number,
): MaybePromise<Verdict> =>
  whenKnown(store.take(`${policy.name}  ${addressKey(address)}`, policy, nowMs), verdict =>
    requireAllowed(policy, verdict),
  );

function requireAllowed(policy: RatePolicy, verdict: Verdict): Verdict {
  if (!verdict.isAllowed) throw rateLimited(policy, verdict);
  return verdict;
}

// A person who has signed in is limited by their own requests only, not by those of the account's keys: a stolen key
// must not keep them from revoking it. Their requests still count for the keys.
function takeGeneral(c: Context<ApiEnv>, rateLimits: RateLimits, policy: RatePolicy): MaybePromise<Verdict> {
  const principal = c.get('principal') as Principal | undefined;
  const isSignedIn = principal?.kind === 'account' && principal.via === 'session';
  if (!isSignedIn) return take(c, rateLimits, policy, '');
  return whenKnown(count(c, rateLimits, policy, ''), () => take(c, rateLimits, policy, 'signed in'));
}

function take(
  c: Context<ApiEnv>,
  rateLimits: RateLimits,
  policy: RatePolicy,
  what: string,
): MaybePromise<Verdict> {
  return whenKnown(count(c, rateLimits, policy, what), verdict => requireAllowed(policy, verdict));
}

const count = (c: Context<ApiEnv>, { store }: RateLimits, policy: RatePolicy, what: string) =>
  store.take(`${policy.name} ${what} ${short(countedKey(c, policy))}`, policy, c.get('server').clock.now());

// A path or a user's id can have kilobytes that its sender chose, and many keys are kept.
const short = (key: string): string =>
  key.length <= limits.rateKeyChars ? key : createHash('sha256').update(key).digest('base64url');

function countedKey(c: Context<ApiEnv>, { by }: RatePolicy): string {
  if (by === 'address') return addressKey(c.get('address'));
  // Decoded parameters rather than the path, because a path can be spelled in many ways.
  const called = JSON.stringify(c.req.param());
  if (by === 'path') return called;
  return c.get('principal')?.kind === 'provider' ? `${callerKey(c)} ${called}` : callerKey(c);
}
