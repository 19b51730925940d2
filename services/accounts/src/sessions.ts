import { randomBytes } from 'node:crypto';
import { SealError, type Sealer, type Soon, whenKnown } from '@stak/kit';
import { failedStep, is, tableErrors, type WriteStep, write } from '@stak/table';
import type { Audit } from './audit.ts';
import { type AnnounceEnd, type Base, inSeconds, isoTime, type Origin } from './deps.ts';
import { accountsErrors } from './errors.ts';
import * as limits from './limits.ts';
import type { Recent } from './recent.ts';
import { isGenuine, parseRefreshToken, refreshToken } from './refresh-token.ts';
import { profile, type Session, session, sessionsOfUser } from './table.ts';
import type { Tokens } from './tokens.ts';

export type SignedIn = {
  userId: string;
  sessionId: string;
  accessToken: string;
  expiresIn: number;
  refreshToken: string;
  refreshExpiresIn: number; // how long a browser should keep the cookie
};

type Ending = { steps: [string, WriteStep][]; forget(): void };

type SignInWith = 'password' | 'github' | 'google';
type SigningIn = { userId: string; signedInWith: SignInWith; origin: Origin };

type Also = Readonly<Record<string, WriteStep>>;

export type Sessions = {
  // `userIsGood` is checked in the same transaction, so that nobody signs in with what has just been changed. By
  // default: the user exists and is not being deleted.
  start(who: SigningIn & { userIsGood?: WriteStep; also?: Also }): Promise<SignedIn>;
  refresh(token: string, origin: Origin): Promise<SignedIn>;
  list(userId: string): Promise<Session[]>;
  read(userId: string, sessionId: string): Promise<Session | undefined>;
  revoke(userId: string, sessionId: string, also?: Also): Promise<boolean>;
  revokeAll(userId: string, also?: Also): Promise<void>;
  // For a transaction that ends all sessions but one; `forget` them when it has happened.
  stepsToEndOthers(userId: string, keptId: string): Promise<Ending>;
  stepsToEndAll(userId: string): Promise<Ending>;
  endOthers(userId: string, keptId: string): Promise<void>;
  isLive(userId: string, sessionId: string, fresh?: boolean): Soon<boolean>;
};

type SessionsDeps = Base & {
  sealer: Sealer;
  tokens: Tokens;
  audit: Audit;
  live: Recent<true>;
  announceEnd: AnnounceEnd;
};

const placeOf = (userId: string, sessionId: string) =>
  `ferryhook-main/USER#${userId}/SESSION#${sessionId}/familyKey`;
const refused = () => accountsErrors.create('accounts.refresh_refused', 'Sign in again.');

export function createSessions({
  store,
  clock,
  ids,
  log,
  sealer,
  tokens,
  audit,
  live,
  announceEnd,
}: SessionsDeps): Sessions {
  const list = async (userId: string): Promise<Session[]> => {
    const found: Session[] = [];
    for await (const one of store.all(sessionsOfUser, { userId })) found.push(one);
    return found;
  };
  const read = (userId: string, sessionId: string) =>
    store.get(session, { userId, sessionId }, { consistent: true });
  // None if it was sealed with a key that is gone, or was tampered with: then its person signs in again.
  const openFamilyKey = ({ userId, sessionId, familyKey }: Session): Uint8Array | undefined => {
    try {
      return sealer.open(familyKey, placeOf(userId, sessionId));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      log.warn({ err: error, userId, sessionId }, 'the key of a session cannot be opened');
      return undefined;
    }
  };
  const deletion = ({ userId, sessionId }: Session) => write.delete(session, { userId, sessionId });

  const signedIn = async (one: Session, key: Uint8Array): Promise<SignedIn> => {
    const { userId, sessionId, expiresAt } = one;
    const { token, expiresIn } = await tokens.mintAccess({ userId, sessionId });
    return {
      userId,
      sessionId,
      accessToken: token,
      expiresIn,
      refreshToken: refreshToken(key, one),
      refreshExpiresIn: expiresAt - inSeconds(clock.now()),
    };
  };

  const rotated = (one: Session, key: Uint8Array, { address, userAgent }: Origin) => {
    const nowMs = clock.now();
    const { userId, sessionId, familyKey } = one;
    return {
      familyKey: sealer.isStale(familyKey) ? sealer.seal(key, placeOf(userId, sessionId)) : familyKey,
      generation: one.generation + 1,
      rotatedAtMs: nowMs,
      lastUsedAt: isoTime(nowMs),
      expiresAt: Math.min(one.endsAt, inSeconds(nowMs) + limits.refreshIdleS),
      address: address ?? one.address,
      userAgent: trimAgent(userAgent) ?? one.userAgent,
    };
  };

  // Somebody came with a token that was already exchanged: it was copied, and nobody can tell by whom.
  const endStolen = async (one: Session, origin: Origin): Promise<void> => {
    const { userId, sessionId } = one;
    const deed = { ...requested(origin), action: 'session.reused', via: 'session', credentialId: sessionId };
    log.warn({ userId, sessionId }, 'a refresh token was used twice; its session is over');
    await revoke(userId, sessionId, { audit: audit.step(userId, { ...deed, target: sessionId }) });
  };

  const revoke: Sessions['revoke'] = async (userId, sessionId, also = {}) => {
    const steps = {
      'the session': write.delete(session, { userId, sessionId }, { ifPresent: true }),
      ...also,
    };
    await announceEnd(userId);
    try {
      await store.transact(steps, { pattern: 'end session' });
    } catch (error) {
      if (failedStep(error)?.step === 'the session') return false;
      throw error;
    } finally {
      live.forget(sessionId);
    }
    return true;
  };

  const stepsToEnd = async (ended: readonly Session[]): Promise<Ending> => {
    if (ended[0]) await announceEnd(ended[0].userId);
    // Sign-ins that happen together can be more than the limit. What does not fit in a transaction goes first.
    const surplus = ended.slice(limits.sessionsPerUser);
    if (surplus.length > 0) await store.batchWrite(surplus.map(deletion), { pattern: 'end all sessions' });
    return {
      steps: ended.slice(0, limits.sessionsPerUser).map(one => [`end ${one.sessionId}`, deletion(one)]),
      forget: () => {
        for (const one of ended) live.forget(one.sessionId);
      },
    };
  };

  const stepsToEndOthers = async (userId: string, keptId: string) =>
    stepsToEnd((await list(userId)).filter(one => one.sessionId !== keptId));
  const end = async ({ steps, forget }: Ending, also: Also): Promise<void> => {
    const all = [...steps, ...Object.entries(also)];
    if (all.length > 0) await store.transact(all, { pattern: 'end all sessions' });
    forget();
  };

  return {
    list,
    read,
    revoke,

    async start({ userIsGood, also = {}, ...who }) {
      const { userId, signedInWith, origin } = who;
      const sessionId = ids.next('ses');
      const key = randomBytes(32);
      const familyKey = sealer.seal(key, placeOf(userId, sessionId));
      const made = {
        ...newSession(who, sessionId, familyKey, clock.now()),
        ...('the code' in also && { provenAtMs: clock.now() }), // a second factor was shown with it
      };
      const surplus = surplusOf(await list(userId));
      const deed = { ...requested(origin), action: 'session.started', via: signedInWith, target: sessionId };
      const steps: [string, WriteStep][] = [
        [
          'the user',
          userIsGood ??
            write.check(
              profile,
              { userId },
              { present: true, if: { deletingAt: is.absent, disabledAt: is.absent } },
            ),
        ],
        ['the session', write.put(session, made, { ifAbsent: true })],
        ['audit', audit.step(userId, deed)],
        ...Object.entries(also),
        ...surplus.map((one): [string, WriteStep] => [`end ${one.sessionId}`, deletion(one)]),
      ];
      if (surplus.length > 0) await announceEnd(userId);
      await store.transact(steps, { pattern: 'start session' });
      for (const one of surplus) live.forget(one.sessionId);
      return signedIn(made, key);
    },

    async refresh(token, origin) {
      const claim = parseRefreshToken(token);
      if (!claim) throw refused();
      const { userId, sessionId, generation } = claim;
      // Whoever loses the race to rotate reads again, and is then within the grace.
      for (let attempt = 0; attempt < 3; attempt++) {
        const current = await read(userId, sessionId);
        if (!current) throw refused();
        const key = openFamilyKey(current);
        if (!key || !isGenuine(key, claim) || generation > current.generation) throw refused();
        const isLast = generation === current.generation - 1;
        if (isLast && clock.now() - current.rotatedAtMs <= limits.refreshGraceMs)
          return signedIn(current, key);
        if (generation < current.generation) {
          await endStolen(current, origin);
          throw refused();
        }
        try {
          const change = { set: rotated(current, key, origin) };
          const next = await store.update(session, { userId, sessionId }, change, { if: { generation } });
          return await signedIn(next, key);
        } catch (error) {
          if (!tableErrors.includes(error) || error.code !== 'table.condition_failed') throw error;
        }
      }
      throw refused();
    },

    stepsToEndOthers,
    stepsToEndAll: async userId => stepsToEnd(await list(userId)),
    revokeAll: async (userId, also = {}) => end(await stepsToEnd(await list(userId)), also),
    endOthers: async (userId, keptId) => end(await stepsToEndOthers(userId, keptId), {}),

    isLive: (userId, sessionId, fresh) =>
      whenKnown(
        live.get(sessionId, async () => ((await read(userId, sessionId)) ? true : undefined), fresh),
        found => found === true,
      ),
  };
}

function newSession(
  { userId, signedInWith, origin }: SigningIn,
  sessionId: string,
  familyKey: string,
  nowMs: number,
): Session {
  return {
    userId,
    sessionId,
    familyKey,
    generation: 1,
    rotatedAtMs: nowMs,
    signedInWith,
    address: origin.address,
    userAgent: trimAgent(origin.userAgent),
    createdAt: isoTime(nowMs),
    lastUsedAt: isoTime(nowMs),
    endsAt: inSeconds(nowMs) + limits.sessionS,
    expiresAt: inSeconds(nowMs) + limits.refreshIdleS,
  };
}

// Makes room for one more: those that were used least recently go.
function surplusOf(all: Session[]): Session[] {
  const surplus = all.length - (limits.sessionsPerUser - 1);
  if (surplus <= 0) return [];
  return all
    .sort((a, b) => (a.lastUsedAt < b.lastUsedAt ? -1 : 1))
    .slice(0, Math.min(surplus, limits.sessionsPerUser));
}

const requested = ({ address, requestId }: Origin) => ({ address, requestId });

const trimAgent = (userAgent: string | undefined) => userAgent?.slice(0, limits.userAgentChars);
