import type { MaybePromise } from '@stak/kit';
import { refuse } from './errors.ts';
import * as limits from './limits.ts';

// Each scope includes the ones before it.
const scopes = ['read', 'write', 'admin'] as const;
export type Scope = (typeof scopes)[number];

// The scope that a route requires of an end user: a service, and an action in it. They do not include each other.
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
  readonly credentialId: string; // the id of the session, the key or the app, for the audit trail
  // The person who signed in, created the key, or authorised the app. An account is an organisation, and may have
  // several.
  readonly userId?: string;
  readonly role?: string; // the role of the person who signed in, in the account
  readonly tenants?: readonly string[]; // of a key that is restricted to these tenants
};

export type EndUserPrincipal = {
  readonly kind: 'endUser';
  readonly tenantId: string;
  readonly userId: string;
  // Names separated by spaces, as in the token: `inbox:read inbox:write`. Tokens from before scopes had a service
  // contain an account scope instead, and are valid for every service until they expire.
  readonly scope: string;
};

export type ProviderPrincipal = {
  readonly kind: 'provider';
  readonly provider: string;
  readonly subject: string; // the subject of the signature: a source, a channel
};

export type Principal = AccountPrincipal | EndUserPrincipal | ProviderPrincipal;

// The callers of a route. `session` is an account that signed in: a key cannot create or revoke keys. `person` is for
// actions on one's own login, which do not depend on the role in the account. `user` is an account or an end user.
export type Auth = 'public' | 'account' | 'session' | 'person' | 'endUser' | 'user' | 'provider';

type SessionPrincipal = AccountPrincipal & { readonly via: 'session'; readonly userId: string };

export type PrincipalOf<A extends Auth> = {
  public: undefined;
  account: AccountPrincipal;
  session: SessionPrincipal;
  person: SessionPrincipal;
  endUser: EndUserPrincipal;
  user: AccountPrincipal | EndUserPrincipal;
  provider: ProviderPrincipal;
}[A];

export type AuthRequest = {
  token: string;
  requestId: string;
  address: string | undefined;
  fresh?: boolean; // ignores caches
  resource?: string; // the resource that is called, for tokens that are valid for one resource only
};

// Undefined for an unknown, expired or revoked token. Throws an AppError for a known one that is refused.
export type Authenticate = (request: AuthRequest) => MaybePromise<Principal | undefined>;

const bearerShape = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

// Two Authorization headers arrive joined by a comma, which no token contains, so neither is accepted.
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

/** Whether a caller may call a route at all. The service decides which resources they may access. */
export const isPermitted = (principal: Principal, needs: Needs): boolean =>
  needs.auth === 'public' || refusalOf(principal, needs) === undefined;

function refusalOf(principal: Principal, needs: Needs): Refusal | undefined {
  if (!isFor(principal, needs.auth)) return { code: 'http.principal_refused', missing: describe(principal) };
  const scope = missingScope(principal, needs);
  if (scope !== undefined) return { code: 'http.scope_missing', missing: scope };
  // A principal without a role has no role's rights.
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

// One text for each caller: limits, idempotency keys and cursors are bound to it. Two parts are written as JSON,
// because the tenant chooses the id of an end user, which may contain any separator.
export function principalKey(principal: Principal): string {
  if (principal.kind === 'account') {
    const { accountId, userId = accountId, via } = principal;
    // Responses to one member must not be replayed to another.
    return via !== 'api_key' && userId !== accountId
      ? `account ${accountId} by ${userId}`
      : `account ${accountId}`;
  }
  if (principal.kind === 'endUser') return JSON.stringify(['endUser', principal.tenantId, principal.userId]);
  return JSON.stringify(['provider', principal.provider, principal.subject]);
}

// A missing resource and one of another account give the same error.
export function assertOwned<T>(
  resource: T | undefined,
  isOwned: (resource: T) => boolean,
  notFound: () => Error = () => refuse('http.not_found', 'There is nothing here.'),
): T {
  if (resource === undefined || !isOwned(resource)) throw notFound();
  return resource;
}

// Whether one scope includes another.
export const holdsScope = (held: Scope, needed: Scope): boolean =>
  scopes.indexOf(held) >= scopes.indexOf(needed);
