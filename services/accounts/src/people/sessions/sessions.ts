import { type MaybePromise, whenKnown } from '@stak/kit';
import type { WriteStep } from '@stak/table';
import type { Standing } from '../../access/memberships.ts';
import type { Session } from '../../main-table.ts';
import type { Origin } from '../../origin.ts';
import { type Ending, endSessions, planEnding, revokeSession } from './end-sessions.ts';
import { openToken, refreshSession } from './refresh-session.ts';
import {
  listSessions,
  readSession,
  type SessionsDeps,
  type SignedIn,
  sessionConfined,
} from './session-item.ts';
import { type Starting, startSession, switchSession } from './start-session.ts';

type Also = Readonly<Record<string, WriteStep>>;

export type Sessions = {
  start(starting: Starting): Promise<SignedIn>;
  // `clientId` is the app that presents the token. Tokens of other apps and of people are refused.
  refresh(token: string, origin: Origin, clientId?: string): Promise<SignedIn>;
  // The session of a refresh token, used or not.
  readByToken(token: string): Promise<Session | undefined>;
  // Starts a session in another organisation that expires when this one would have.
  switchTo(accountId: string, signed: Origin & { userId: string; sessionId: string }): Promise<SignedIn>;
  list(userId: string): Promise<Session[]>;
  // The sessions that this session may see and end. One that came through an organisation's provider sees only others
  // that did.
  listFor(userId: string, sessionId: string): Promise<Session[]>;
  revokeAllFor(userId: string, sessionId: string, also?: Also): Promise<void>;
  read(userId: string, sessionId: string): Promise<Session | undefined>;
  revoke(userId: string, sessionId: string, also?: Also): Promise<boolean>;
  revokeAll(userId: string, also?: Also): Promise<void>;
  // For a transaction that ends all sessions but one. Call `forget` when it has committed.
  stepsToEndOthers(userId: string, keptId: string): Promise<Ending>;
  stepsToEndAll(userId: string): Promise<Ending>;
  stepsToEndIn(accountId: string, userId: string): Promise<Ending>;
  endOthers(userId: string, keptId: string): Promise<void>;
  isLive(userId: string, sessionId: string, fresh?: boolean): MaybePromise<boolean>;
  // The person's role in the session's organisation, from the table or a recent cache.
  standing(userId: string, sessionId: string, fresh?: boolean): MaybePromise<Standing | undefined>;
  // Required for operations that concern the person as a whole: an organisation's provider may not speak for them
  // elsewhere. With `madeFor`, the provider of that organisation may, because it created the person.
  requireWhole(userId: string, sessionId: string, madeFor?: string): Promise<void>;
  // Call before a member's role changes.
  announceChange(accountId: string): Promise<void>;
  // Call after it, and after an account was disabled.
  forgetAll(): void;
};

export function createSessions(deps: SessionsDeps): Sessions {
  const { memberships, standings, announceEnd } = deps;
  const list = (userId: string) => listSessions(deps, userId);
  const read = (userId: string, sessionId: string) => readSession(deps, userId, sessionId);
  const listIn = async (accountId: string, userId: string): Promise<Session[]> =>
    (await list(userId)).filter(session => (session.accountId ?? userId) === accountId);
  const listWithin = async (userId: string, within: string | undefined): Promise<Session[]> =>
    (await list(userId)).filter(session => within === undefined || session.confinedTo === within);
  const confinementOf = async (userId: string, sessionId: string): Promise<string | undefined> => {
    const session = await read(userId, sessionId);
    return session ? session.confinedTo : 'nothing'; // it has just ended, so nothing is allowed
  };
  const listOthers = async (userId: string, keptId: string): Promise<Session[]> =>
    (await list(userId)).filter(session => session.sessionId !== keptId);

  const readStanding = async (userId: string, sessionId: string): Promise<Standing | undefined> => {
    const session = await read(userId, sessionId);
    if (!session) return undefined;
    const { accountId = userId } = session;
    const role = await memberships.roleIn(accountId, userId);
    return role && { accountId, role };
  };
  const standing: Sessions['standing'] = (userId, sessionId, fresh) =>
    standings.get(sessionId, () => readStanding(userId, sessionId), fresh);

  return {
    list,
    listFor: async (userId, sessionId) => listWithin(userId, await confinementOf(userId, sessionId)),
    async revokeAllFor(userId, sessionId, also) {
      const within = await confinementOf(userId, sessionId);
      await endSessions(deps, () => listWithin(userId, within), also);
    },
    read,
    readByToken: async token => (await openToken(deps, token))?.current,
    start: starting => startSession(deps, starting),
    switchTo: (accountId, signed) => switchSession(deps, accountId, signed),
    refresh: (token, origin, clientId) => refreshSession(deps, token, origin, clientId),
    revoke: (userId, sessionId, also) => revokeSession(deps, userId, sessionId, also),
    stepsToEndOthers: async (userId, keptId) => planEnding(deps, await listOthers(userId, keptId)),
    stepsToEndAll: async userId => planEnding(deps, await list(userId)),
    stepsToEndIn: async (accountId, userId) => planEnding(deps, await listIn(accountId, userId)),
    revokeAll: (userId, also) => endSessions(deps, () => list(userId), also),
    endOthers: (userId, keptId) => endSessions(deps, () => listOthers(userId, keptId)),
    isLive: (userId, sessionId, fresh) =>
      whenKnown(standing(userId, sessionId, fresh), session => session !== undefined),
    standing,
    async requireWhole(userId, sessionId, madeFor) {
      const within = (await read(userId, sessionId))?.confinedTo;
      if (within !== undefined && within !== madeFor) throw sessionConfined();
    },
    announceChange: accountId => announceEnd(accountId),
    forgetAll: standings.forgetAll,
  };
}
