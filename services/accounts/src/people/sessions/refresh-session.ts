import { SealError } from '@stak/kit';
import { tableErrors } from '@stak/table';
import { inSeconds, isoTime } from '../../deps.ts';
import * as limits from '../../limits.ts';
import { type Session, session } from '../../main-table.ts';
import type { Origin } from '../../origin.ts';
import { revokeSession } from './end-sessions.ts';
import { isGenuine, parseRefreshToken, type RefreshClaim } from './refresh-token.ts';
import {
  mintTokens,
  readSession,
  requestedBy,
  type SessionsDeps,
  type SignedIn,
  sealLocation,
  signInAgain,
  trimAgent,
} from './session-item.ts';

type OpenedToken = { claim: RefreshClaim; current: Session; key: Uint8Array };

// The session of a genuine token, used or not.
export async function openToken(deps: SessionsDeps, token: string): Promise<OpenedToken | undefined> {
  const claim = parseRefreshToken(token);
  const current = claim && (await readSession(deps, claim.userId, claim.sessionId));
  const key = current && openFamilyKey(deps, current);
  if (!key || !isGenuine(key, claim) || claim.generation > current.generation) return undefined;
  return claim.isApp === (current.app !== undefined) ? { claim, current, key } : undefined;
}

// Undefined if it was sealed with a removed key, or manipulated. The person then signs in again.
function openFamilyKey(
  { sealer, log }: SessionsDeps,
  { userId, sessionId, familyKey }: Session,
): Uint8Array | undefined {
  try {
    return sealer.open(familyKey, sealLocation(userId, sessionId));
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    log.warn({ err: error, userId, sessionId }, 'the key of a session cannot be opened');
    return undefined;
  }
}

export async function refreshSession(
  deps: SessionsDeps,
  token: string,
  origin: Origin,
  clientId: string | undefined,
): Promise<SignedIn> {
  const { store, clock, memberships } = deps;
  // A caller that loses the race to rotate reads again, and is then within the grace period.
  for (let attempt = 0; attempt < 3; attempt++) {
    const opened = await openToken(deps, token);
    if (!opened || opened.current.app?.clientId !== clientId) throw signInAgain();
    const { current, key, claim } = opened;
    const { userId, sessionId, generation } = claim;
    if (!(await memberships.roleIn(current.accountId ?? userId, userId))) throw signInAgain();
    const isLast = generation === current.generation - 1;
    if (isLast && clock.now() - current.rotatedAtMs <= limits.refreshGraceMs)
      return mintTokens(deps, current, key);
    if (generation < current.generation) {
      await endStolen(deps, current, origin);
      throw signInAgain();
    }
    try {
      const change = { set: rotated(deps, current, key, origin) };
      const next = await store.update(session, { userId, sessionId }, change, { if: { generation } });
      return await mintTokens(deps, next, key);
    } catch (error) {
      if (!tableErrors.includes(error) || error.code !== 'table.condition_failed') throw error;
    }
  }
  throw signInAgain();
}

function rotated({ clock, sealer }: SessionsDeps, session: Session, key: Uint8Array, origin: Origin) {
  const nowMs = clock.now();
  const { userId, sessionId, familyKey } = session;
  return {
    familyKey: sealer.isStale(familyKey) ? sealer.seal(key, sealLocation(userId, sessionId)) : familyKey,
    generation: session.generation + 1,
    rotatedAtMs: nowMs,
    lastUsedAt: isoTime(nowMs),
    expiresAt: Math.min(session.endsAt, inSeconds(nowMs) + limits.refreshIdleS),
    address: origin.address ?? session.address,
    userAgent: trimAgent(origin.userAgent) ?? session.userAgent,
  };
}

// The token was already exchanged, so it was copied, and we cannot tell which holder is the owner.
async function endStolen(deps: SessionsDeps, session: Session, origin: Origin): Promise<void> {
  const { userId, sessionId } = session;
  const entry = {
    ...requestedBy(origin),
    action: session.app ? 'app.reused' : 'session.reused',
    via: session.app ? 'app' : 'session',
    by: null,
    credentialId: sessionId,
  };
  deps.log.warn({ userId, sessionId }, 'a refresh token was used twice; its session is over');
  const trail = session.appOf ?? userId;
  const audit = deps.audit.step(trail, { ...entry, target: sessionId });
  await revokeSession(deps, userId, sessionId, { audit });
}
