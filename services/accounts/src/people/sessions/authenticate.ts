import type { Authenticate, Principal } from '@stak/http';
import { type Clock, createRecentMap, type MaybePromise, whenKnown } from '@stak/kit';
import { type ApiKeys, isApiKey, isKeyId, type KeyOwner } from '../../access/api-keys.ts';
import { isWithinLimits } from '../../access/key-limits.ts';
import { narrowest } from '../../app-scopes.ts';
import type { Background } from '../../background.ts';
import { sha256 } from '../../deps.ts';
import * as limits from '../../limits.ts';
import { roles } from '../../roles.ts';
import type { Sessions } from './sessions.ts';
import type { Claims, EndUserClaims, Tokens } from './tokens.ts';

// Whether a tenant still accepts the tokens it minted. Implemented by services/tenants.
export type CheckEndUser = (claims: EndUserClaims, fresh?: boolean) => MaybePromise<boolean>;

export type AuthenticateDeps = {
  clock: Clock;
  tokens: Tokens;
  sessions: Sessions;
  apiKeys: ApiKeys;
  background: Background;
  checkEndUser?: CheckEndUser;
};

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const { tokens, apiKeys, clock } = deps;
  const noteUse = createUseNotes(deps);

  return ({ token, fresh, address, resource }) => {
    // Keys are stored by this hash, and verified tokens are cached by it.
    const digest = sha256(token);
    if (isApiKey(token))
      return whenKnown(apiKeys.findOwner(digest, fresh), owner => {
        if (!owner || !isWithinLimits(owner, clock.now(), address)) return undefined;
        noteUse(owner);
        return keyHolder(owner);
      });
    return whenKnown(tokens.verify(token, digest), claims => {
      if (!claims || (claims.kind === 'app' && claims.resource !== resource)) return undefined;
      return principalOf(claims, deps, fresh);
    });
  };
}

const keyHolder = ({ userId, madeBy = userId, permissions, keyId, tenants }: KeyOwner): Principal => ({
  kind: 'account',
  accountId: userId,
  userId: madeBy,
  scope: permissions,
  via: 'api_key',
  credentialId: keyId,
  ...(tenants && { tenants }),
});

function principalOf(
  claims: Claims,
  deps: AuthenticateDeps,
  fresh: boolean | undefined,
): MaybePromise<Principal | undefined> {
  const { sessions, checkEndUser } = deps;
  if (claims.kind === 'endUser') {
    const { tenant, sub, scope } = claims;
    return whenKnown(isSourceLive(claims, deps, fresh), isLive =>
      whenKnown(isLive && (checkEndUser?.(claims, fresh) ?? true), isGood =>
        isGood ? { kind: 'endUser', tenantId: tenant, userId: sub, scope } : undefined,
      ),
    );
  }
  const { userId, sessionId } = claims;
  return whenKnown(sessions.standing(userId, sessionId, fresh), standing => {
    if (!standing) return undefined;
    const { accountId, role } = standing;
    const caller = { kind: 'account', accountId, userId, credentialId: sessionId } as const;
    const { scope } = roles[role];
    // An app may do what it was approved for, and never more than the person may at the moment.
    return claims.kind === 'app'
      ? { ...caller, scope: narrowest(claims.scope, scope), via: 'app' }
      : { ...caller, role, scope, via: 'session' };
  });
}

// Whether the session or key with which an account requested the token is still valid.
function isSourceLive(
  { sub, credentialId, person = sub }: EndUserClaims,
  { sessions, apiKeys }: AuthenticateDeps,
  fresh: boolean | undefined,
): MaybePromise<boolean> {
  if (credentialId === undefined) return true;
  if (isKeyId(credentialId)) return apiKeys.isLive(sub, credentialId, fresh);
  return whenKnown(sessions.standing(person, credentialId, fresh), standing => standing?.accountId === sub);
}

// Writes the last use of a key at most once a minute, even if it is used a thousand times a second.
function createUseNotes({ clock, apiKeys, background }: AuthenticateDeps) {
  const notedMs = createRecentMap<string, number>(limits.verifiedTokens);
  return ({ keyId, userId }: KeyOwner): void => {
    const nowMs = clock.now();
    const lastMs = notedMs.get(keyId);
    if (lastMs !== undefined && nowMs - lastMs < limits.lastUsedMs) return;
    notedMs.set(keyId, nowMs);
    background.run('note the use of a key', () => apiKeys.updateLastUsed(keyId, userId));
  };
}
