import { failedStep, type WriteStep, write } from '@stak/table';
import { isoTime } from '../deps.ts';
import { accountsErrors, userNotFound } from '../errors.ts';
import * as limits from '../limits.ts';
import { proveOwner, type Signed, type SignInDeps } from '../sign-in.ts';
import { type Profile, session } from '../table.ts';
import { codeWrong, newRecoveryCodes, recoveryHash } from './codes.ts';
import { authenticator } from './table.ts';
import { newSecret, secretText, secretUri } from './totp.ts';

export type FactorDeps = SignInDeps & { issuer: string };

// The secret for an authenticator app. It changes nothing until the app has shown a code.
export async function beginAuthenticator(deps: FactorDeps, signed: Signed, password: string | undefined) {
  const { store, clock, codes, issuer } = deps;
  const { userId } = signed;
  const user = await proveOwner(deps, signed, password);
  if (user.secondFactor !== undefined) throw alreadyThere();
  const secret = newSecret();
  await store.put(authenticator, {
    userId,
    sealedSecret: codes.seal(userId, secret),
    lastStep: 0,
    codeHashes: [],
    uses: 0,
    createdAt: isoTime(clock.now()),
  });
  return { secret: secretText(secret), uri: secretUri(secret, issuer, user.email) };
}

// From now on a password alone is not enough to sign in. The recovery codes are shown only this once.
export async function confirmAuthenticator(
  deps: FactorDeps,
  signed: Signed,
  code: string,
): Promise<string[]> {
  const { clock, codes, throttle } = deps;
  const { userId, sessionId } = signed;
  const user = await readUser(deps, userId);
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
    secondFactor: 'totp',
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
  signed: Signed,
  password: string | undefined,
): Promise<void> {
  const user = await proveOwner(deps, signed, password);
  if (user.secondFactor === undefined) throw notThere();
  await requireFresh(deps, signed, user);
  await changeFactor(deps, signed, user, {
    secondFactor: null,
    what: 'The authenticator app was removed',
    steps: { 'the code': write.delete(authenticator, { userId: user.userId }) },
  });
}

export async function renewRecoveryCodes(deps: FactorDeps, signed: Signed): Promise<string[]> {
  const { userId } = signed;
  const user = await readUser(deps, userId);
  if (user.secondFactor === undefined) throw notThere();
  await requireFresh(deps, signed, user);
  const found = await deps.codes.read(userId);
  if (!found) throw notThere();
  const recoveryCodes = newRecoveryCodes();
  const set = { codeHashes: recoveryCodes.map(recoveryHash), uses: found.uses + 1 };
  await changeFactor(deps, signed, user, {
    secondFactor: 'totp',
    what: 'New recovery codes were made; the old ones work no more',
    steps: { 'the code': write.update(authenticator, { userId }, { set }, { if: { uses: found.uses } }) },
  });
  return recoveryCodes;
}

// Shows the second factor again, for what needs a fresh one.
export async function stepUp(deps: SignInDeps, signed: Signed, code: string): Promise<void> {
  const { store, clock, codes, throttle } = deps;
  const { userId, sessionId, address } = signed;
  const user = await readUser(deps, userId);
  if (user.secondFactor === undefined) throw notThere();
  const attempt = await throttle.tryPassword({ account: user.email, address });
  const steps = {
    ...(await codes.useSteps(user, code)),
    'the session': write.update(session, { userId, sessionId }, { set: { provenAtMs: clock.now() } }),
  };
  await store.transact(steps, { pattern: 'step up' }).catch(explainCode);
  await attempt.refund();
}

// An open session alone must not be enough to take over the account: changes that would allow it need a second factor
// shown within the last ten minutes. Accounts without a second factor have nothing to show.
export async function requireFresh(
  { sessions, clock, users }: Pick<SignInDeps, 'sessions' | 'clock' | 'users'>,
  { userId, sessionId }: Pick<Signed, 'userId' | 'sessionId'>,
  known?: Profile,
): Promise<void> {
  const user = known ?? (await users.readProfile(userId));
  if (user?.secondFactor === undefined) return;
  const found = await sessions.read(userId, sessionId);
  const ageMs = clock.now() - (found?.provenAtMs ?? 0);
  if (found && ageMs < limits.freshSessionMs) return;
  throw accountsErrors.create(
    'accounts.step_up_needed',
    'Enter a code of your authenticator app again, then repeat this.',
  );
}

type FactorChange = { secondFactor: 'totp' | null; what: string; steps: Record<string, WriteStep> };

async function changeFactor(
  { users, audit, outbox, clock }: FactorDeps,
  { userId, sessionId, address, requestId }: Signed,
  { email, name, version }: Profile,
  { secondFactor, what, steps }: FactorChange,
): Promise<void> {
  const by = { via: 'session', credentialId: sessionId, address, requestId };
  const also = {
    ...steps,
    audit: audit.step(userId, { action: 'factor.changed', detail: what, ...by }),
    ...outbox.steps({
      kind: 'factor.changed',
      to: email,
      userId,
      details: { name, what, at: isoTime(clock.now()) },
    }),
  };
  await users.update(userId, { secondFactor }, { ifVersion: version, also }).catch(explainCode);
  outbox.ring();
}

function explainCode(error: unknown): never {
  throw failedStep(error)?.step === 'the code' ? codeWrong() : error;
}

const alreadyThere = () =>
  accountsErrors.create('accounts.factor_exists', 'Your account has an authenticator app. Remove it first.');
const notThere = () =>
  accountsErrors.create('accounts.factor_missing', 'Your account has no authenticator app.');

async function readUser({ users }: SignInDeps, userId: string): Promise<Profile> {
  const user = await users.readProfile(userId);
  if (!user) throw userNotFound();
  return user;
}
