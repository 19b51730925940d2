import { type Clock, createTimedCache, type MaybePromise, type TimedCache, whenKnown } from '@stak/kit';
import type { InputOf, Store } from '@stak/table';
import * as limits from '../limits.ts';
import { portalSession, tenant, tokenEpoch } from '../tables.ts';

// Tokens are not stored, so a single one cannot be revoked. An epoch revokes all tokens issued until then, of a tenant
// or of one user. It has whole seconds, like the `iat` of tokens.

type Deps = { store: Store; clock: Clock };
type Issued = { tenant: string; sub: string; issuedAt: number; session?: string };

// `fresh` ignores the cache.
export type IsTokenRevoked = (token: Issued, fresh?: boolean) => MaybePromise<boolean>;

export type TokenEpochs = {
  isRevoked: IsTokenRevoked;
  // The second of the last revocation that concerns this user; -1 if there was none.
  lastOf(tenantId: string, userId: string): Promise<number>;
  // The second of the last revocation of all tokens of the tenant; -1 if there was none.
  lastOfAll(tenantId: string): MaybePromise<number>;
  // Called after a write of this process, so that it takes effect at once. Other processes notice within a second.
  forgetTenant(tenantId: string): void;
  forgetUser(tenantId: string, userId: string): void;
  forgetSession(sessionId: string): void;
};

const never = -1;
const always = Number.POSITIVE_INFINITY;

export const secondOf = (clock: Clock): number => Math.floor(clock.now() / 1000);

export function epochItem({ clock }: Deps, tenant_id: string, user_id: string): InputOf<typeof tokenEpoch> {
  const tokens_revoked_at = secondOf(clock);
  // As long as anything that started before it can last.
  const lastS = Math.max(limits.tokenTtlS, limits.sessionS) + 3600;
  return { tenant_id, user_id, tokens_revoked_at, ttl: tokens_revoked_at + lastS };
}

export function createTokenEpochs({ store, clock }: Deps): TokenEpochs {
  // A deleted tenant has no valid tokens.
  const readTenant = async (tenant_id: string): Promise<number> => {
    const item = await store.get(tenant, { tenant_id }, { consistent: true, pattern: 'token epoch' });
    return !item || item.status === 'deleted' ? always : (item.tokens_revoked_at ?? never);
  };
  const readUser = async (tenant_id: string, user_id: string): Promise<number> => {
    const key = { tenant_id, user_id };
    const item = await store.get(tokenEpoch, key, { consistent: true, pattern: 'token epoch' });
    return item?.tokens_revoked_at ?? never;
  };
  // A token of a portal session is valid while the session is.
  const readSession = async (tenant_id: string, user_id: string, session_id: string): Promise<number> => {
    const key = { tenant_id, user_id, session_id };
    const item = await store.get(portalSession, key, { consistent: true, pattern: 'token epoch' });
    return item ? never : always;
  };
  const settings = { clock, most: limits.epochsKept, forMs: limits.epochFreshMs };
  const ofTenants = createTimedCache<number>(settings);
  const ofUsers = createTimedCache<number>(settings);
  const ofSessions = createTimedCache<number>(settings);
  const userKey = (tenantId: string, userId: string) => `${tenantId}#${userId}`;

  return {
    isRevoked({ tenant: tenantId, sub, issuedAt, session }, fresh = false) {
      const ends = [
        load(ofTenants, tenantId, () => readTenant(tenantId), fresh),
        load(ofUsers, userKey(tenantId, sub), () => readUser(tenantId, sub), fresh),
        session === undefined
          ? never
          : load(ofSessions, session, () => readSession(tenantId, sub, session), fresh),
      ];
      return whenKnown(latestOf(ends), latest => !(issuedAt > latest));
    },
    lastOf: async (tenantId, userId) =>
      Math.max(await readTenant(tenantId), await readUser(tenantId, userId)),
    lastOfAll: tenantId => load(ofTenants, tenantId, () => readTenant(tenantId), false),
    forgetTenant: tenantId => ofTenants.delete(tenantId),
    forgetUser: (tenantId, userId) => ofUsers.delete(userKey(tenantId, userId)),
    forgetSession: session => ofSessions.delete(session),
  };
}

// Every request of an end user asks, so a value that is cached is not waited for.
const load = (
  cache: TimedCache<number>,
  key: string,
  read: () => Promise<number>,
  fresh: boolean,
): MaybePromise<number> => (fresh ? undefined : cache.peek(key)) ?? cache.load(key, read, fresh);

const latestOf = (ends: readonly MaybePromise<number>[]): MaybePromise<number> =>
  ends.every(end => typeof end === 'number')
    ? Math.max(...ends)
    : Promise.all(ends).then(known => Math.max(...known));
