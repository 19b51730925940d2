import { randomBytes } from 'node:crypto';
import { failedStep, is, type WriteStep, write } from '@stak/table';
import { accountIsOpen } from '../../access/memberships.ts';
import { member } from '../../access/tables.ts';
import type { AuditRecord } from '../../audit.ts';
import { isoTime } from '../../deps.ts';
import { organisationNotFound } from '../../errors.ts';
import { profile, type Session, session } from '../../main-table.ts';
import type { Origin } from '../../origin.ts';
import {
  deletion,
  listSessions,
  mintTokens,
  newSession,
  readSession,
  requestedBy,
  type SessionsDeps,
  type SignedIn,
  type SigningIn,
  sealLocation,
  sessionConfined,
  signInAgain,
  surplusOf,
} from './session-item.ts';

export type Starting = SigningIn & {
  // Checked in the same transaction, so that credentials changed meanwhile open no session. By default: the user
  // exists, is not being deleted and is not disabled.
  userIsGood?: WriteStep;
  isProven?: boolean; // a second factor was verified
  within?: string; // through an organisation's own provider, and valid for that organisation only
  sessionId?: string;
  app?: Session['app']; // an app that the person approved, not their browser
  also?: Readonly<Record<string, WriteStep>>;
};

const isActive = { deletingAt: is.absent, disabledAt: is.absent };

export async function startSession(deps: SessionsDeps, starting: Starting): Promise<SignedIn> {
  const { store, ids, audit, memberships, standings, announceEnd } = deps;
  const { userId, userIsGood, within, app, also = {} } = starting;
  const sessionId = starting.sessionId ?? ids.next('ses');
  const accountId = within ?? (await memberships.homeOf(userId));
  const { made, key } = makeSession(deps, starting, sessionId, accountId);
  const surplus = surplusOf(await listSessions(deps, userId));
  const entry = startEntry(starting, sessionId);
  const steps: [string, WriteStep][] = [
    ['the user', userIsGood ?? write.check(profile, { userId }, { present: true, if: isActive })],
    ['the session', write.put(session, made, { ifAbsent: true })],
    // An app belongs to the organisation: the person's own trail lists only what they did themselves.
    ...(app && accountId !== userId ? [] : [['audit', audit.step(userId, entry)] as [string, WriteStep]]),
    ...stepsToEnter(deps, made, entry),
    ...Object.entries(also),
    ...surplus.map((session): [string, WriteStep] => [`end ${session.sessionId}`, deletion(session)]),
  ];
  if (surplus.length > 0) await announceEnd(userId);
  await store.transact(steps, { pattern: 'start session' });
  for (const session of surplus) standings.forget(session.sessionId);
  return mintTokens(deps, made, key);
}

function makeSession(
  { clock, sealer }: SessionsDeps,
  { isProven = false, within, app, ...who }: Starting,
  sessionId: string,
  accountId: string,
): { made: Session; key: Uint8Array } {
  const { userId } = who;
  const key = randomBytes(32);
  const familyKey = sealer.seal(key, sealLocation(userId, sessionId));
  const made: Session = {
    ...newSession(who, sessionId, familyKey, clock.now()),
    ...(accountId !== userId && { accountId }),
    ...(isProven && { provenAtMs: clock.now() }),
    ...(within !== undefined && { confinedTo: within }),
    ...(app && { app, appOf: accountId }),
  };
  return { made, key };
}

const startEntry = ({ userId, signedInWith, origin, app }: Starting, sessionId: string): AuditRecord => ({
  ...requestedBy(origin),
  action: app ? 'app.connected' : 'session.started',
  via: signedInWith,
  by: userId,
  target: sessionId,
  detail: app?.name,
});

// Starts a session in another organisation that expires when this one would have.
export async function switchSession(
  deps: SessionsDeps,
  accountId: string,
  { userId, sessionId: oldId, ...origin }: Origin & { userId: string; sessionId: string },
): Promise<SignedIn> {
  const { store, clock, ids, sealer, audit, memberships, standings, announceEnd } = deps;
  const old = await readSession(deps, userId, oldId);
  if (!old) throw signInAgain();
  if (old.confinedTo !== undefined) throw sessionConfined();
  if (!(await memberships.roleIn(accountId, userId))) throw organisationNotFound();
  const sessionId = ids.next('ses');
  const key = randomBytes(32);
  const { accountId: from, ...kept } = old;
  // Copies the times of sign-in and second factor: switching repeats neither.
  const made: Session = {
    ...kept,
    sessionId,
    familyKey: sealer.seal(key, sealLocation(userId, sessionId)),
    generation: 1,
    rotatedAtMs: clock.now(),
    lastUsedAt: isoTime(clock.now()),
    ...(accountId !== userId && { accountId }),
  };
  const entry = { ...requestedBy(origin), action: 'session.switched', via: 'session', credentialId: oldId };
  const steps: [string, WriteStep][] = [
    ['the user', write.update(profile, { userId }, { set: { signsInto: accountId } }, { if: isActive })],
    ['the old session', write.delete(session, { userId, sessionId: oldId }, { ifPresent: true })],
    ['the session', write.put(session, made, { ifAbsent: true })],
    ['audit', audit.step(userId, { ...entry, target: accountId })],
    ...stepsToEnter(deps, made, { ...entry, target: sessionId }),
  ];
  await announceEnd(userId, from);
  try {
    await store.transact(steps, { pattern: 'switch organisation' });
  } catch (error) {
    const { step } = failedStep(error) ?? {};
    if (step === 'the member' || step === 'the account') throw organisationNotFound();
    throw step === 'the old session' || step === 'the user' ? signInAgain() : error;
  } finally {
    standings.forget(oldId);
  }
  return mintTokens(deps, made, key);
}

// For an organisation other than the person's own account: checks the membership and writes to the organisation's
// trail.
function stepsToEnter(
  { audit }: SessionsDeps,
  { userId, accountId }: Session,
  entry: AuditRecord,
): [string, WriteStep][] {
  if (accountId === undefined) return [];
  const isMember = { present: true, if: { role: is.present } } as const;
  return [
    ['the member', write.check(member, { accountId, userId }, isMember)],
    ['the account', accountIsOpen(accountId)],
    ['audit of the account', audit.step(accountId, { ...entry, by: userId })],
  ];
}
