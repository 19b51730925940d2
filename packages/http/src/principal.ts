import type { MaybePromise } from '@stak/kit';
import { refuse } from './errors.ts';
import * as limits from './limits.ts';

// Each scope holds the ones before it.
const scopes = ['read', 'write', 'admin'] as const;
export type Scope = (typeof scopes)[number];

// What a route asks of an end user: a service, and what may be done in it. They hold nothing but themselves.
export type EndUserScope = `${string}:${string}`;

export type Needs = {
  auth: Auth;
  scope?: Scope;
  role?: 'owner';
  isOwn?: true;
  endUserScope?: EndUserScope | 'any';
};

export type AccountPrincipal = {
  readonly kind: 'account';
  readonly accountId: string;
  readonly scope: Scope;
  readonly via: 'session' | 'api_key' | 'app';
  readonly credentialId: string; // of the session, the key or the app, for the audit trail
  // The person: who has signed in, made the key, or let the app in. An account is an organisation, and may have several.
  readonly userId?: string;
  readonly role?: string; // of the person who has signed in, in the account
  readonly tenants?: readonly string[]; // of a key that is good for these alone
};

export type EndUserPrincipal = {
  readonly kind: 'endUser';
  readonly tenantId: string;
  readonly userId: string;
  // Names separated by spaces, as in the token: `inbox:read inbox:write`. Tokens of before scopes had a service hold
  // one of an account's words instead, and are good for every service until they expire.
  readonly scope: string;
};

export type ProviderPrincipal = {
  readonly kind: 'provider';
  readonly provider: string;
  readonly subject: string; // what the signature was made for: a source, a channel
};

export type Principal = AccountPrincipal | EndUserPrincipal | ProviderPrincipal;

// Whom a route is for. `session` is an account that signed in: a key cannot make or revoke keys. `person` is for what
// people who have signed in do to themselves, whatever they may do in the account. `user` is an account or an end user.
export type Auth = 'public' | 'account' | 'session' | 'person' | 'endUser' | 'user' | 'provider';

type SignedIn = AccountPrincipal & { readonly via: 'session'; readonly userId: string };

export type PrincipalOf<A extends Auth> = {
  public: undefined;
  account: AccountPrincipal;
  session: SignedIn;
  person: SignedIn;
  endUser: EndUserPrincipal;
  user: AccountPrincipal | EndUserPrincipal;
  provider: ProviderPrincipal;
}[A];

export type AuthRequest = {
  token: string;
  requestId: string;
  address: string | undefined;
  fresh?: boolean; // nothing that was read a moment ago will do
  resource?: string; // what is called, for tokens that are good for one resource only
};

// Undefined for a token that is unknown, expired or revoked. An AppError for one that is known and refused.
export type Authenticate = (request: AuthRequest) => MaybePromise<Principal | undefined>;

const bearerShape = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

// Two Authorization headers arrive joined by a comma, which no token contains: neither is taken.
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > limits.tokenChars) return undefined;
  return bearerShape.exec(authorization)?.[1];
}

export const unauthenticated = (hadToken: boolean) =>
  refuse('http.unauthenticated', hadToken ? 'The token is not valid.' : 'This needs a bearer token.', {
    headers: { 'WWW-Authenticate': `Bearer realm="stak"${hadToken ? ', error="invalid_token"' : ''}` },
  });

type Refusal = {
  code: 'http.principal_refused' | 'http.scope_missing' | 'http.role_missing';
  missing: string;
};

export function checkPrincipal(principal: Principal, needs: Needs): void {
  const refusal = refusalOf(principal, needs);
  if (!refusal) return;
  const { code, missing } = refusal;
  if (code === 'http.principal_refused') throw refuse(code, `This is not for ${missing}.`);
  if (code === 'http.role_missing')
    throw refuse(code, `This needs the role "${missing}" in the organisation.`);
  throw refuse(code, `This needs the scope "${missing}".`, {
    headers: { 'WWW-Authenticate': `Bearer realm="stak", error="insufficient_scope", scope="${missing}"` },
  });
}

/** Whether a caller may call a route at all. What they may call it for is the service's to say. */
export const isPermitted = (principal: Principal, needs: Needs): boolean =>
  needs.auth === 'public' || refusalOf(principal, needs) === undefined;

function refusalOf(principal: Principal, needs: Needs): Refusal | undefined {
  if (!isFor(principal, needs.auth)) return { code: 'http.principal_refused', missing: describe(principal) };
  const scope = missingScope(principal, needs);
  if (scope !== undefined) return { code: 'http.scope_missing', missing: scope };
  // A principal that says nothing of a role has none.
  const hasRole = needs.role === undefined || (principal.kind === 'account' && principal.role === needs.role);
  return hasRole ? undefined : { code: 'http.role_missing', missing: needs.role! };
}

function missingScope(principal: Principal, { scope, isOwn, endUserScope }: Needs): string | undefined {
  if (scope === undefined || principal.kind === 'provider') return undefined;
  if (isOwn && principal.kind === 'account' && principal.via === 'session') return undefined;
  const held = scopes.indexOf(principal.scope as Scope);
  if (principal.kind === 'account' || held >= 0) return held < scopes.indexOf(scope) ? scope : undefined;
  if (endUserScope === 'any' || principal.scope.split(' ').includes(endUserScope!)) return undefined;
  return endUserScope;
}

function isFor(principal: Principal, auth: Auth): boolean {
  if (auth === 'session' || auth === 'person')
    return principal.kind === 'account' && principal.via === 'session';
  if (auth === 'user') return principal.kind !== 'provider';
  return auth === principal.kind;
}

const callers = { session: 'an account', api_key: 'an API key', app: 'an app' } as const;

function describe(principal: Principal): string {
  if (principal.kind === 'account') return callers[principal.via];
  return principal.kind === 'endUser' ? 'an end user' : 'a provider';
}

// One text for each caller: limits, idempotency keys and cursors are bound to it. Two parts are spelled as JSON,
// because an end user's id is the tenant's and may hold any separator.
export function principalKey(principal: Principal): string {
  if (principal.kind === 'account') {
    const { accountId, userId = accountId, via } = principal;
    // One member's answers must not be returned to another.
    return via !== 'api_key' && userId !== accountId
      ? `account ${accountId} by ${userId}`
      : `account ${accountId}`;
  }
  if (principal.kind === 'endUser') return JSON.stringify(['endUser', principal.tenantId, principal.userId]);
  return JSON.stringify(['provider', principal.provider, principal.subject]);
}

// A resource that is missing and one that is somebody else's end in the same error.
export function assertOwned<T>(
  resource: T | undefined,
  isOwned: (resource: T) => boolean,
  notFound: () => Error = () => refuse('http.not_found', 'There is nothing here.'),
): T {
  if (resource === undefined || !isOwned(resource)) throw notFound();
  return resource;
}

// Whether one scope holds another.
export const holdsScope = (held: Scope, needed: Scope): boolean =>
  scopes.indexOf(held) >= scopes.indexOf(needed);
