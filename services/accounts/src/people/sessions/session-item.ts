import type { Sealer } from '@stak/kit';
import { type WriteStep, write } from '@stak/table';
import type { Memberships, Standing } from '../../access/memberships.ts';
import type { AppScope } from '../../app-scopes.ts';
import type { Audit } from '../../audit.ts';
import { type AnnounceEnd, type Base, inSeconds, isoTime } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';
import { type Session, session, sessionsOfUser } from '../../main-table.ts';
import type { Origin } from '../../origin.ts';
import type { Recent } from '../../recent.ts';
import { refreshToken } from './refresh-token.ts';
import type { Tokens } from './tokens.ts';

export type SessionsDeps = Base & {
  sealer: Sealer;
  tokens: Tokens;
  audit: Audit;
  memberships: Memberships;
  standings: Recent<Standing>;
  announceEnd: AnnounceEnd;
};

export type SignedIn = {
  userId: string;
  accountId: string;
  sessionId: string;
  accessToken: string;
  expiresIn: number;
  refreshToken: string;
  refreshExpiresIn: number; // lifetime of the cookie
  scope?: AppScope; // only for apps
};

type SignInWith = 'password' | 'passkey' | 'github' | 'google' | 'organisation' | 'app';
export type SigningIn = { userId: string; signedInWith: SignInWith; origin: Origin };

export function newSession(
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

// The least recently used sessions, which must end to make room for one more.
export function surplusOf(all: Session[]): Session[] {
  const surplus = all.length - (limits.sessionsPerUser - 1);
  if (surplus <= 0) return [];
  return all
    .sort((a, b) => (a.lastUsedAt < b.lastUsedAt ? -1 : 1))
    .slice(0, Math.min(surplus, limits.sessionsPerUser));
}

export const trimAgent = (userAgent: string | undefined) => userAgent?.slice(0, limits.userAgentChars);

export const readSession = ({ store }: Pick<Base, 'store'>, userId: string, sessionId: string) =>
  store.get(session, { userId, sessionId }, { consistent: true });

export async function listSessions({ store }: Pick<Base, 'store'>, userId: string): Promise<Session[]> {
  const sessions: Session[] = [];
  for await (const session of store.all(sessionsOfUser, { userId })) sessions.push(session);
  return sessions;
}

export const deletion = ({ userId, sessionId }: Session): WriteStep =>
  write.delete(session, { userId, sessionId });

export const sealLocation = (userId: string, sessionId: string) =>
  `ferryhook-main/USER#${userId}/SESSION#${sessionId}/familyKey`;

// Returns a new access token, and the refresh token of the session's generation.
export async function mintTokens(
  { tokens, clock }: SessionsDeps,
  session: Session,
  key: Uint8Array,
): Promise<SignedIn> {
  const { userId, sessionId, expiresAt, app, accountId = userId } = session;
  const { token, expiresIn } = await (app
    ? tokens.mintApp({ userId, sessionId, ...app })
    : tokens.mintAccess({ userId, sessionId }));
  return {
    userId,
    accountId,
    sessionId,
    accessToken: token,
    expiresIn,
    refreshToken: refreshToken(key, { ...session, isApp: app !== undefined }),
    refreshExpiresIn: expiresAt - inSeconds(clock.now()),
    ...(app && { scope: app.scope }),
  };
}

export const signInAgain = () => accountsErrors.create('accounts.refresh_refused', 'Sign in again.');

export const sessionConfined = () =>
  accountsErrors.create(
    'accounts.session_confined',
    'You signed in through your organisation, so this session is limited to it. Sign in another way first.',
  );

// For the audit trail.
export const requestedBy = ({ address, requestId }: Origin) => ({ address, requestId });
