import { inSeconds, isoTime, type Origin } from '../deps.ts';
import * as limits from '../limits.ts';
import type { Session } from '../table.ts';

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

// Makes room for one more: those that were used least recently go.
export function surplusOf(all: Session[]): Session[] {
  const surplus = all.length - (limits.sessionsPerUser - 1);
  if (surplus <= 0) return [];
  return all
    .sort((a, b) => (a.lastUsedAt < b.lastUsedAt ? -1 : 1))
    .slice(0, Math.min(surplus, limits.sessionsPerUser));
}

export const trimAgent = (userAgent: string | undefined) => userAgent?.slice(0, limits.userAgentChars);
