import { randomBytes } from 'node:crypto';
import { type MaybePromise, SealError, type Sealer, whenKnown } from '@stak/kit';
import { failedStep, is, tableErrors, type WriteStep, write } from '@stak/table';
import type { Audit, AuditRecord } from '../audit.ts';
import { type AnnounceEnd, type Base, inSeconds, isoTime, type Origin } from '../deps.ts';
import { accountsErrors, organisationNotFound } from '../errors.ts';
import * as limits from '../limits.ts';
import type { AppScope } from '../oauth-server/scopes.ts';
import { accountIsOpen, type Memberships, type Standing } from '../organisations/memberships.ts';
import { member } from '../organisations/table.ts';
import type { Recent } from '../recent.ts';
import { profile, type Session, session, sessionsOfUser } from '../table.ts';
import { isGenuine, parseRefreshToken, type RefreshClaim, refreshToken } from './refresh-token.ts';
import { newSession, type SigningIn, surplusOf, trimAgent } from './session-item.ts';
import type { Tokens } from './tokens.ts';

export type SignedIn = {
  userId: string;
  accountId: string;
  sessionId: string;
  accessToken: string;
  expiresIn: number;
  refreshToken: string;
  refreshExpiresIn: number; // how long a browser should keep the cookie
  scope?: AppScope; // of an app
};

type Ending = { steps: [string, WriteStep][]; forget(): void };

type Also = Readonly<Record<string, WriteStep>>;

export type Sessions = {
  // `userIsGood` is checked in the same transaction, so that nobody signs in with what has just been changed. By
  // default: the user exists and is not being deleted. `isProven`: a second factor was shown with it.
  // `within`: through an organisation's own provider, and good for that organisation only. `app`: not a person's
  // browser, but an app that they let in.
  start(
    who: SigningIn & {
      userIsGood?: WriteStep;
      isProven?: boolean;
      within?: string;
      sessionId?: string;
      app?: Session['app'];
      also?: Also;
    },
  ): Promise<SignedIn>;
  // `clientId` is of the app that has the token: others' are refused, and so are those of people.
  refresh(token: string, origin: Origin, clientId?: string): Promise<SignedIn>;
  // The session that a refresh token is of, whether the token has been used or not.
  readByToken(token: string): Promise<Session | undefined>;
  // Goes on in another organisation: a session of its own, for as long as this one would have been good.
  switchTo(accountId: string, signed: Origin & { userId: string; sessionId: string }): Promise<SignedIn>;
  list(userId: string): Promise<Session[]>;
  read(userId: string, sessionId: string): Promise<Session | undefined>;
  revoke(userId: string, sessionId: string, also?: Also): Promise<boolean>;
  revokeAll(userId: string, also?: Also): Promise<void>;
  // For a transaction that ends all sessions but one; `forget` them when it has happened.
  stepsToEndOthers(userId: string, keptId: string): Promise<Ending>;
  stepsToEndAll(userId: string): Promise<Ending>;
  stepsToEndIn(accountId: string, userId: string): Promise<Ending>;
  endOthers(userId: string, keptId: string): Promise<void>;
  isLive(userId: string, sessionId: string, fresh?: boolean): MaybePromise<boolean>;
  // What its person is in the organisation that the session is for, as of now or a moment ago.
  standing(userId: string, sessionId: string, fresh?: boolean): MaybePromise<Standing | undefined>;
  // For what concerns the whole person: the provider of one organisation may not speak for them elsewhere.
  requireWhole(userId: string, sessionId: string): Promise<void>;
  // Somebody's role is about to change.
  announceChange(accountId: string): Promise<void>;
  forgetIn(accountId: string, userId: string): Promise<void>;
};

type SessionsDeps = Base & {
  sealer: Sealer;
  tokens: Tokens;
  audit: Audit;
  memberships: Memberships;
  standings: Recent<Standing>;
  announceEnd: AnnounceEnd;
};

const sealLocation = (userId: string, sessionId: string) =>
  `ferryhook-main/USER#${userId}/SESSION#${sessionId}/familyKey`;
const refused = () => accountsErrors.create('accounts.refresh_refused', 'Sign in again.');

const sessionConfined = () =>
  accountsErrors.create(
    'accounts.session_confined',
    'You signed in through your organisation: this session is for it alone. Sign in in another way first.',
  );

export function createSessions({
  store,
  clock,
  ids,
  log,
  sealer,
  tokens,
  audit,
  memberships,
  standings,
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
      return sealer.open(familyKey, sealLocation(userId, sessionId));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      log.warn({ err: error, userId, sessionId }, 'the key of a session cannot be opened');
      return undefined;
    }
  };
  const openToken = async (
    token: string,
  ): Promise<{ claim: RefreshClaim; current: Session; key: Uint8Array } | undefined> => {
    const claim = parseRefreshToken(token);
    const current = claim && (await read(claim.userId, claim.sessionId));
    const key = current && openFamilyKey(current);
    if (!key || !isGenuine(key, claim) || claim.generation > current.generation) return undefined;
    return claim.isApp === (current.app !== undefined) ? { claim, current, key } : undefined;
  };
  const listIn = async (accountId: string, userId: string): Promise<Session[]> =>
    (await list(userId)).filter(one => (one.accountId ?? userId) === accountId);
  const standingOf = async ({ userId, accountId = userId }: Session): Promise<Standing | undefined> => {
    const role = await memberships.roleIn(accountId, userId);
    return role && { accountId, role };
  };
  const standing: Sessions['standing'] = (userId, sessionId, fresh) =>
    standings.get(
      sessionId,
      async () => {
        const found = await read(userId, sessionId);
        return found && standingOf(found);
      },
      fresh,
    );
  // Of an organisation that is not their own: they are a member at that very moment, and its trail says so.
  const stepsToEnter = ({ userId, accountId }: Session, entry: AuditRecord): [string, WriteStep][] =>
    accountId === undefined
      ? []
      : [
          [
            'the member',
            write.check(member, { accountId, userId }, { present: true, if: { role: is.present } }),
          ],
          ['the account', accountIsOpen(accountId)],
          ['audit of the account', audit.step(accountId, { ...entry, by: userId })],
        ];
  const deletion = ({ userId, sessionId }: Session) => write.delete(session, { userId, sessionId });

  const signedIn = async (one: Session, key: Uint8Array): Promise<SignedIn> => {
    const { userId, sessionId, expiresAt, app, accountId = userId } = one;
    const { token, expiresIn } = await (app
      ? tokens.mintApp({ userId, sessionId, ...app })
      : tokens.mintAccess({ userId, sessionId }));
    return {
      userId,
      accountId,
      sessionId,
      accessToken: token,
      expiresIn,
      refreshToken: refreshToken(key, { ...one, isApp: app !== undefined }),
      refreshExpiresIn: expiresAt - inSeconds(clock.now()),
      ...(app && { scope: app.scope }),
    };
  };

  const rotated = (one: Session, key: Uint8Array, { address, userAgent }: Origin) => {
    const nowMs = clock.now();
    const { userId, sessionId, familyKey } = one;
    return {
      familyKey: sealer.isStale(familyKey) ? sealer.seal(key, sealLocation(userId, sessionId)) : familyKey,
      generation: one.generation + 1,
      rotatedAtMs: nowMs,
      lastUsedAt: isoTime(nowMs),
      expiresAt: Math.min(one.endsAt, inSeconds(nowMs) + limits.refreshIdleS),
      address: address ?? one.address,
      userAgent: trimAgent(userAgent) ?? one.userAgent,
    };
  };

  // The token was already exchanged: it was copied, and we cannot tell which holder is the owner.
  const endStolen = async (one: Session, origin: Origin): Promise<void> => {
    const { userId, sessionId } = one;
    const entry = {
      ...requested(origin),
      action: one.app ? 'app.reused' : 'session.reused',
      via: one.app ? 'app' : 'session',
      by: null,
      credentialId: sessionId,
    };
    log.warn({ userId, sessionId }, 'a refresh token was used twice; its session is over');
    const trail = one.appOf ?? userId;
    await revoke(userId, sessionId, { audit: audit.step(trail, { ...entry, target: sessionId }) });
  };

  const revoke: Sessions['revoke'] = async (userId, sessionId, also = {}) => {
    const steps = {
      'the session': write.delete(session, { userId, sessionId }, { ifPresent: true }),
      ...also,
    };
    await announceEnd(userId, (await read(userId, sessionId))?.accountId);
    try {
      await store.transact(steps, { pattern: 'end session' });
    } catch (error) {
      if (failedStep(error)?.step === 'the session') return false;
      throw error;
    } finally {
      standings.forget(sessionId);
    }
    return true;
  };

  const stepsToEnd = async (ended: readonly Session[]): Promise<Ending> => {
    if (ended[0]) await announceEnd(ended[0].userId, ...ended.map(one => one.accountId));
    // Sign-ins that happen together can be more than the limit. What does not fit in a transaction goes first.
    const surplus = ended.slice(limits.sessionsPerUser);
    if (surplus.length > 0) await store.batchWrite(surplus.map(deletion), { pattern: 'end all sessions' });
    return {
      steps: ended.slice(0, limits.sessionsPerUser).map(one => [`end ${one.sessionId}`, deletion(one)]),
      forget: () => {
        for (const one of ended) standings.forget(one.sessionId);
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
    readByToken: async token => (await openToken(token))?.current,
    revoke,

    async start({
      userIsGood,
      isProven = false,
      within,
      app,
      sessionId = ids.next('ses'),
      also = {},
      ...who
    }) {
      const { userId, signedInWith, origin } = who;
      const accountId = within ?? (await memberships.homeOf(userId));
      const key = randomBytes(32);
      const familyKey = sealer.seal(key, sealLocation(userId, sessionId));
      const made: Session = {
        ...newSession(who, sessionId, familyKey, clock.now()),
        ...(accountId !== userId && { accountId }),
        ...(isProven && { provenAtMs: clock.now() }),
        ...(within !== undefined && { confinedTo: within }),
        ...(app && { app, appOf: accountId }),
      };
      const surplus = surplusOf(await list(userId));
      const action = app ? 'app.connected' : 'session.started';
      const entry = {
        ...requested(origin),
        action,
        via: signedInWith,
        by: userId,
        target: sessionId,
        detail: app?.name,
      };
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
        // An app is of the organisation alone: the person's own trail has what they did themselves.
        ...(app && accountId !== userId ? [] : [['audit', audit.step(userId, entry)] as [string, WriteStep]]),
        ...stepsToEnter(made, entry),
        ...Object.entries(also),
        ...surplus.map((one): [string, WriteStep] => [`end ${one.sessionId}`, deletion(one)]),
      ];
      if (surplus.length > 0) await announceEnd(userId);
      await store.transact(steps, { pattern: 'start session' });
      for (const one of surplus) standings.forget(one.sessionId);
      return signedIn(made, key);
    },

    async switchTo(accountId, { userId, sessionId: oldId, ...origin }) {
      const old = await read(userId, oldId);
      if (!old) throw refused();
      if (old.confinedTo !== undefined) throw sessionConfined();
      if (!(await memberships.roleIn(accountId, userId))) throw organisationNotFound();
      const sessionId = ids.next('ses');
      const key = randomBytes(32);
      const { accountId: from, ...kept } = old;
      // Fresh is only what was fresh before: neither the sign-in nor the second factor is repeated here.
      const made: Session = {
        ...kept,
        sessionId,
        familyKey: sealer.seal(key, sealLocation(userId, sessionId)),
        generation: 1,
        rotatedAtMs: clock.now(),
        lastUsedAt: isoTime(clock.now()),
        ...(accountId !== userId && { accountId }),
      };
      const entry = { ...requested(origin), action: 'session.switched', via: 'session', credentialId: oldId };
      const isGood = { deletingAt: is.absent, disabledAt: is.absent };
      const steps: [string, WriteStep][] = [
        ['the user', write.update(profile, { userId }, { set: { signsInto: accountId } }, { if: isGood })],
        ['the old session', write.delete(session, { userId, sessionId: oldId }, { ifPresent: true })],
        ['the session', write.put(session, made, { ifAbsent: true })],
        ['audit', audit.step(userId, { ...entry, target: accountId })],
        ...stepsToEnter(made, { ...entry, target: sessionId }),
      ];
      await announceEnd(userId, from);
      try {
        await store.transact(steps, { pattern: 'switch organisation' });
      } catch (error) {
        const { step } = failedStep(error) ?? {};
        if (step === 'the member' || step === 'the account') throw organisationNotFound();
        throw step === 'the old session' || step === 'the user' ? refused() : error;
      } finally {
        standings.forget(oldId);
      }
      return signedIn(made, key);
    },

    async refresh(token, origin, clientId) {
      // A caller that loses the race to rotate reads again, and is then within the grace period.
      for (let attempt = 0; attempt < 3; attempt++) {
        const opened = await openToken(token);
        if (!opened || opened.current.app?.clientId !== clientId) throw refused();
        const { current, key, claim } = opened;
        const { userId, sessionId, generation } = claim;
        if (!(await standingOf(current))) throw refused();
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
    stepsToEndIn: async (accountId, userId) => stepsToEnd(await listIn(accountId, userId)),
    revokeAll: async (userId, also = {}) => end(await stepsToEnd(await list(userId)), also),
    endOthers: async (userId, keptId) => end(await stepsToEndOthers(userId, keptId), {}),

    isLive: (userId, sessionId, fresh) =>
      whenKnown(standing(userId, sessionId, fresh), found => found !== undefined),
    standing,
    async requireWhole(userId, sessionId) {
      if ((await read(userId, sessionId))?.confinedTo !== undefined) throw sessionConfined();
    },
    announceChange: accountId => announceEnd(accountId),
    async forgetIn(accountId, userId) {
      for (const { sessionId } of await listIn(accountId, userId)) standings.forget(sessionId);
    },
  };
}

const requested = ({ address, requestId }: Origin) => ({ address, requestId });
