import type { Authenticate, Principal } from '@stak/http';
import type { Clock } from '@stak/kit';
import { type ApiKeys, isApiKey, type KeyOwner } from './api-keys.ts';
import type { Background } from './background.ts';
import { sha256 } from './deps.ts';
import * as limits from './limits.ts';
import { createLru } from './lru.ts';
import type { Sessions } from './sessions.ts';
import type { Claims, EndUserClaims, Tokens } from './tokens.ts';

// Whether a tenant still stands by the tokens it minted: services/tenants knows.
export type CheckEndUser = (claims: EndUserClaims) => Promise<boolean> | boolean;

export type AuthenticateDeps = {
  clock: Clock;
  tokens: Tokens;
  sessions: Sessions;
  apiKeys: ApiKeys;
  background: Background;
  checkEndUser?: CheckEndUser;
};

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const { tokens, apiKeys } = deps;
  const noteUse = createUseNotes(deps);

  return async ({ token }) => {
    // The hash is what keys are kept by, and by which a verified token is known again.
    const digest = sha256(token);
    if (isApiKey(token)) {
      const owner = await apiKeys.findOwner(digest);
      if (!owner) return undefined;
      noteUse(owner);
      return {
        kind: 'account',
        accountId: owner.userId,
        scope: owner.permissions,
        via: 'api_key',
        credentialId: owner.keyId,
      };
    }
    const claims = await tokens.verify(token, digest);
    return claims && principalOf(claims, deps);
  };
}

async function principalOf(
  claims: Claims,
  { sessions, checkEndUser }: AuthenticateDeps,
): Promise<Principal | undefined> {
  if (claims.kind === 'endUser') {
    const { tenant, sub, scope } = claims;
    const isGood = checkEndUser === undefined || (await checkEndUser(claims));
    return isGood ? { kind: 'endUser', tenantId: tenant, userId: sub, scope } : undefined;
  }
  const { userId, sessionId } = claims;
  if (!(await sessions.isLive(userId, sessionId))) return undefined;
  return { kind: 'account', accountId: userId, scope: 'admin', via: 'session', credentialId: sessionId };
}

// A key that is used a thousand times a second is written about once a minute.
function createUseNotes({ clock, apiKeys, background }: AuthenticateDeps) {
  const notedMs = createLru<number>(limits.verifiedTokens);
  return ({ keyId, userId }: KeyOwner): void => {
    const nowMs = clock.now();
    const lastMs = notedMs.get(keyId);
    if (lastMs !== undefined && nowMs - lastMs < limits.lastUsedMs) return;
    notedMs.set(keyId, nowMs);
    background.run('note the use of a key', () => apiKeys.updateLastUsed(keyId, userId));
  };
}
