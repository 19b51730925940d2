import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { SealError } from '@stak/kit';
import { failedCondition, isRefused, type WriteStep, write } from '@stak/table';
import { secondOf } from '../access/token-epochs.ts';
import { outliveEpoch } from '../access/tokens.ts';
import { type PortalDeps, type Service, timestampOf } from '../deps.ts';
import { tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { type PortalSession, portalSession, sessionsOfUser, user } from '../tables.ts';

// A session's cookie contains its generation and a code made with the session's own secret. So a cookie that was
// already exchanged can be distinguished from a forged one: the first ends the session, the second is ignored. The
// cookie of a generation is always the same, so a lost response can be repeated.

export type Deps = Service & { portal: PortalDeps };
export type SignedIn = { token: string; expires_at: string; cookie: string; cookieS: number };

const cookieShape = /^([A-Za-z0-9_-]{2,180})\.(ses_[0-9a-z]{24})\.([0-9]{1,9})\.([A-Za-z0-9_-]{43})$/;

const sessionRefused = () => tenantErrors.create('tenants.session_refused', 'Sign in again.');

const sealLocation = ({ tenant_id, user_id, session_id }: Omit<PortalSession, 'ttl'>) =>
  `tenants/TENANT#${tenant_id}/SESSION#${user_id}#${session_id}/sealed_secret`;

const codeOf = (secret: Uint8Array, session_id: string, generation: number): string =>
  createHmac('sha256', secret).update(`${session_id}.${generation}`).digest('base64url');

const cookieOf = (secret: Uint8Array, { user_id, session_id, generation }: PortalSession): string =>
  [
    Buffer.from(user_id).toString('base64url'),
    session_id,
    generation,
    codeOf(secret, session_id, generation),
  ].join('.');

function parseCookie(cookie: string) {
  const [, user64, session_id, generation, code] = cookieShape.exec(cookie) ?? [];
  if (!user64 || !session_id || !generation || !code) return undefined;
  return {
    user_id: Buffer.from(user64, 'base64url').toString(),
    session_id,
    generation: Number(generation),
    code,
  };
}

type Claim = NonNullable<ReturnType<typeof parseCookie>>;

function isGenuine(secret: Uint8Array, { session_id, generation, code }: Claim): boolean {
  return timingSafeEqual(Buffer.from(codeOf(secret, session_id, generation)), Buffer.from(code));
}

// Everything a user does for themselves; admins also manage. Whether they are an admin is looked up each time.
const personalScopes = 'inbox:read inbox:write tasks:read tasks:write agents:chat profile:read profile:write';
const scopesOf = (role: string): string =>
  role === 'admin' ? `${personalScopes} tenant:manage` : personalScopes;

async function signedIn(deps: Deps, one: PortalSession, secret: Uint8Array, role: string): Promise<SignedIn> {
  const { tenant_id, user_id, session_id, ttl } = one;
  const minted = await deps.mintEndUserToken({
    tenant: tenant_id,
    sub: user_id,
    scope: scopesOf(role),
    ttlSeconds: limits.sessionTokenS,
    session: session_id,
  });
  return { ...minted, cookie: cookieOf(secret, one), cookieS: ttl - secondOf(deps.clock) };
}

type Person = { tenant_id: string; user_id: string; role: string };

// `proof` uses up the proof of identity in the same transaction, which also checks that the user still exists.
export async function startSession(
  deps: Deps,
  { tenant_id, user_id, role }: Person,
  userAgent: string | undefined,
  proof: readonly (readonly [string, WriteStep])[],
): Promise<SignedIn> {
  const { store, clock, ids, portal } = deps;
  await outliveEpoch(deps, tenant_id, user_id);
  const nowS = secondOf(clock);
  const made = {
    tenant_id,
    user_id,
    session_id: ids.next('ses'),
    sealed_secret: '',
    generation: 1,
    rotated_at_ms: clock.now(),
    ...(userAgent !== undefined && { user_agent: userAgent.slice(0, limits.userAgentChars) }),
    started_at: nowS,
    last_used_at: timestampOf(clock.now()),
    ends_at: nowS + limits.sessionS,
    ttl: nowS + limits.sessionIdleS,
  };
  const secret = randomBytes(32);
  made.sealed_secret = portal.sealer.seal(secret, sealLocation(made));
  const surplus = await surplusOf(deps, tenant_id, user_id);
  await store.transact(
    [
      ...proof,
      ['the session', write.put(portalSession, made, { ifAbsent: true })],
      ...surplus.map(one => [`end ${one.session_id}`, write.delete(portalSession, one)] as const),
    ],
    { pattern: 'sign in to the portal' },
  );
  return signedIn(deps, made, secret, role);
}

// Makes room for one more: the least recently used sessions are deleted.
async function surplusOf({ store }: Deps, tenant_id: string, user_id: string): Promise<PortalSession[]> {
  const all: PortalSession[] = [];
  for await (const one of store.all(sessionsOfUser, { tenant_id, user_id })) all.push(one);
  const surplus = Math.max(0, all.length - limits.sessionsPerUser + 1);
  return all.sort((a, b) => (a.last_used_at < b.last_used_at ? -1 : 1)).slice(0, Math.min(surplus, 50));
}

// Returns the next cookie and a token, for the current cookie.
export async function refreshSession(deps: Deps, tenant_id: string, cookie: string): Promise<SignedIn> {
  const { store, clock, portal, epochs } = deps;
  const claim = parseCookie(cookie);
  if (!claim) throw sessionRefused();
  const { user_id, session_id, generation } = claim;
  const key = { tenant_id, user_id, session_id };
  for (let left = limits.refreshAttempts; left > 0; left--) {
    const [current, person, revokedAt] = await Promise.all([
      store.get(portalSession, key, { consistent: true, pattern: 'refresh a session' }),
      store.get(user, { tenant_id, user_id }, { consistent: true }),
      epochs.lastOf(tenant_id, user_id),
    ]);
    const nowS = secondOf(clock);
    if (!current || !person || current.ttl <= nowS || current.started_at <= revokedAt) throw sessionRefused();
    const secret = openSecret(deps, current);
    if (!secret || !isGenuine(secret, claim) || generation > current.generation) throw sessionRefused();
    const isLast = generation === current.generation - 1;
    if (isLast && clock.now() - current.rotated_at_ms <= limits.refreshGraceMs)
      return signedIn(deps, current, secret, person.role);
    if (generation < current.generation) {
      // It was copied, and either holder may be the owner.
      deps.log.warn(
        { tenant_id, user_id, session_id },
        'a cookie of the portal was used twice; its session was ended',
      );
      await endSession(deps, key);
      throw sessionRefused();
    }
    const change = {
      generation: generation + 1,
      rotated_at_ms: clock.now(),
      last_used_at: timestampOf(clock.now()),
      ttl: Math.min(current.ends_at, nowS + limits.sessionIdleS),
      ...(portal.sealer.isStale(current.sealed_secret) && {
        sealed_secret: portal.sealer.seal(secret, sealLocation(current)),
      }),
    };
    try {
      const next = await store.update(portalSession, key, { set: change }, { if: { generation } });
      return await signedIn(deps, next, secret, person.role);
    } catch (error) {
      // Another tab was first: this is now the previous cookie, within its grace period.
      if (!isRefused(error) && !failedCondition(error)) throw error;
    }
  }
  throw sessionRefused();
}

function openSecret({ portal, log }: Deps, one: PortalSession): Uint8Array | undefined {
  try {
    return portal.sealer.open(one.sealed_secret, sealLocation(one));
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    log.warn({ err: error, session_id: one.session_id }, 'the secret of a session cannot be opened');
    return undefined;
  }
}

type SessionKey = { tenant_id: string; user_id: string; session_id: string };

async function endSession(deps: Service, key: SessionKey): Promise<void> {
  await deps.announce({ tenant: key.tenant_id, user: key.user_id });
  await deps.store.delete(portalSession, key);
  deps.epochs.forgetSession(key.session_id);
}

// Only the holder of the cookie can end the session: its name alone proves nothing.
export async function signOut(deps: Deps, tenant_id: string, cookie: string): Promise<void> {
  const claim = parseCookie(cookie);
  if (!claim) return;
  const { user_id, session_id } = claim;
  const key = { tenant_id, user_id, session_id };
  const current = await deps.store.get(portalSession, key, { consistent: true });
  const secret = current && openSecret(deps, current);
  if (secret && isGenuine(secret, claim)) await endSession(deps, key);
}
