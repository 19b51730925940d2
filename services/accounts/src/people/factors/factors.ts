import { failedStep, type WriteStep, write } from '@stak/table';
import { isoTime } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import { type Profile, profile, session } from '../../main-table.ts';
import { greeted } from '../../notices/texts.ts';
import { readUser, type UserChange } from '../../users/users.ts';
import { codeWrong, newRecoveryCodes, recoveryHash } from '../credentials/codes.ts';
import { proveOwner, requireFresh, type SessionOrigin, type SignInDeps } from '../credentials/owner.ts';
import { explainFactor, type FactorProof, factorSteps } from '../credentials/second-factor.ts';
import { authenticator, hasFactor } from '../credentials/tables.ts';
import { newSecret, secretText, secretUri } from '../credentials/totp.ts';

export type FactorDeps = SignInDeps & { issuer: string };

// Returns a secret for an authenticator app. Nothing changes until the app has produced a valid code.
export async function beginAuthenticator(
  deps: FactorDeps,
  signed: SessionOrigin,
  password: string | undefined,
) {
  const { store, clock, codes, issuer } = deps;
  const { userId } = signed;
  const user = await proveOwner(deps, signed, password);
  if (user.secondFactor !== undefined) throw alreadyThere();
  await requireFresh(deps, signed, user);
  const secret = newSecret();
  // Recovery codes that came with a passkey are kept.
  const known = hasFactor(user) ? await codes.read(userId) : undefined;
  const begun = {
    userId,
    sealedSecret: codes.seal(userId, secret),
    lastStep: 0,
    codeHashes: known?.codeHashes ?? [],
    uses: (known?.uses ?? 0) + 1,
    createdAt: isoTime(clock.now()),
  };
  const steps = {
    // If enrolment was started twice and one was confirmed meanwhile, the other must not replace the confirmed app and
    // its codes.
    'the user': write.check(profile, { userId }, { present: true, if: { version: user.version } }),
    'the app': write.put(authenticator, begun, known && { if: { uses: known.uses } }),
  };
  await store.transact(steps, { pattern: 'begin an authenticator' }).catch(error => {
    if (failedStep(error) === undefined) throw error;
    throw accountsErrors.create('accounts.changed', 'The account has changed in the meantime. Try again.');
  });
  return { secret: secretText(secret), uri: secretUri(secret, issuer, user.email) };
}

// From now on a password alone is not enough to sign in. The recovery codes are returned only here; those that came
// with a passkey stop working.
export async function confirmAuthenticator(
  deps: FactorDeps,
  signed: SessionOrigin,
  code: string,
): Promise<string[]> {
  const { clock, codes, throttle } = deps;
  const { userId, sessionId } = signed;
  const user = await readUser(deps.users, userId);
  if (user.secondFactor !== undefined) throw alreadyThere();
  const attempt = await throttle.tryPassword({ account: user.email, address: signed.address });
  const found = await codes.read(userId);
  const lastStep = found && codes.match(found, code);
  if (!found || lastStep === undefined) throw codeWrong();
  const recoveryCodes = newRecoveryCodes();
  const nowMs = clock.now();
  const set = {
    lastStep,
    codeHashes: recoveryCodes.map(recoveryHash),
    uses: found.uses + 1,
    confirmedAt: isoTime(nowMs),
  };
  await changeFactor(deps, signed, user, {
    change: { secondFactor: 'totp' },
    what: 'An authenticator app was added',
    steps: {
      'the code': write.update(authenticator, { userId }, { set }, { if: { uses: found.uses } }),
      'the session': write.update(session, { userId, sessionId }, { set: { provenAtMs: nowMs } }),
    },
  });
  await attempt.refund();
  return recoveryCodes;
}

export async function removeAuthenticator(
  deps: FactorDeps,
  signed: SessionOrigin,
  password: string | undefined,
): Promise<void> {
  const user = await proveOwner(deps, signed, password);
  if (user.secondFactor === undefined) throw notThere();
  await requireFresh(deps, signed, user);
  const { userId } = user;
  const keepsCodes = { remove: ['sealedSecret', 'confirmedAt'] as const };
  await changeFactor(deps, signed, user, {
    change: { secondFactor: null },
    what: 'The authenticator app was removed',
    steps: {
      'the code':
        (user.passkeys ?? 0) > 0
          ? write.update(authenticator, { userId }, keepsCodes)
          : write.delete(authenticator, { userId }),
    },
  });
}

export async function renewRecoveryCodes(deps: FactorDeps, signed: SessionOrigin): Promise<string[]> {
  const { userId } = signed;
  const user = await readUser(deps.users, userId);
  if (!hasFactor(user)) throw noFactor();
  await requireFresh(deps, signed, user);
  const found = await deps.codes.read(userId);
  if (!found) throw noFactor();
  const recoveryCodes = newRecoveryCodes();
  const set = { codeHashes: recoveryCodes.map(recoveryHash), uses: found.uses + 1 };
  await changeFactor(deps, signed, user, {
    change: {},
    what: 'New recovery codes were made; the old ones work no more',
    steps: { 'the code': write.update(authenticator, { userId }, { set }, { if: { uses: found.uses } }) },
  });
  return recoveryCodes;
}

// Verifies the second factor again, for operations that require a recent one.
export async function stepUp(deps: SignInDeps, signed: SessionOrigin, shown: FactorProof): Promise<void> {
  const { store, clock, throttle } = deps;
  const { userId, sessionId, address } = signed;
  const user = await readUser(deps.users, userId);
  if (!hasFactor(user)) throw noFactor();
  const attempt = await throttle.tryPassword({ account: user.email, address });
  const steps = {
    ...(await factorSteps(deps, user, shown, { purpose: 'step-up', userId, sessionId })),
    'the session': write.update(session, { userId, sessionId }, { set: { provenAtMs: clock.now() } }),
  };
  await store.transact(steps, { pattern: 'step up' }).catch(error => {
    throw explainFactor(error);
  });
  await attempt.refund();
}

// `unnamed` leaves out the name that its owner chose, for an address that may be a stranger's.
type FactorChange = {
  change: UserChange;
  what: string;
  unnamed?: string;
  steps: Record<string, WriteStep>;
};

// Mails the owner about the change.
export async function changeFactor(
  { users, audit, outbox, clock }: FactorDeps,
  { userId, sessionId, address, requestId }: SessionOrigin,
  user: Profile,
  { change, what, unnamed = what, steps }: FactorChange,
): Promise<void> {
  const by = { via: 'session', credentialId: sessionId, address, requestId };
  const also = {
    ...steps,
    audit: audit.step(userId, { action: 'factor.changed', detail: what, ...by }),
    ...outbox.steps({
      kind: 'factor.changed',
      to: user.email,
      userId,
      details: { ...greeted(user), what: user.emailVerified ? what : unnamed, at: isoTime(clock.now()) },
    }),
  };
  await users.update(userId, change, { ifVersion: user.version, also }).catch(error => {
    throw explainFactor(error);
  });
  outbox.wake();
}

const alreadyThere = () =>
  accountsErrors.create('accounts.factor_exists', 'Your account has an authenticator app. Remove it first.');
const notThere = () =>
  accountsErrors.create('accounts.factor_missing', 'Your account has no authenticator app.');
export const noFactor = () =>
  accountsErrors.create('accounts.factor_missing', 'Your account has no second factor.');
