import { failedStep, is, type WriteStep, write } from '@stak/table';
import { isoTime } from '../../deps.ts';
import { accountsErrors, disabledError } from '../../errors.ts';
import { type Profile, profile } from '../../main-table.ts';
import { greeted } from '../../notices/texts.ts';
import type { Origin } from '../../origin.ts';
import { settle } from '../../settle.ts';
import { readUser } from '../../users/users.ts';
import { proveOwner, type SessionOrigin, type SignInDeps } from '../credentials/owner.ts';
import { type PasskeyAnswer, passkeyRefused } from '../credentials/passkey-check.ts';
import { checkPassword } from '../credentials/password-policy.ts';
import { explainFactor, type FactorProof, factorSteps } from '../credentials/second-factor.ts';
import type { SignedIn } from '../sessions/session-item.ts';
import { deviceSteps } from './devices.ts';

const wrongCredentials = () =>
  accountsErrors.create('accounts.credentials_wrong', 'The e-mail address or the password is wrong.');

// Every failure looks the same and takes the same time: there is always a hash to compare with.
export async function logIn(
  deps: SignInDeps,
  { email, password, ...shown }: FactorProof & { email: string; password: string },
  origin: Origin,
): Promise<SignedIn> {
  const { users, sessions, passwords, throttle, audit, background } = deps;
  const who = { account: email, address: origin.address };
  const attempt = await throttle.tryPassword(who);
  const user = await users.findProfile('email', email);
  const isRight = await passwords.verify(password, user?.passwordHash);
  if (!user || !isRight) {
    const { address, requestId } = origin;
    const entry = { action: 'session.refused', via: 'password', by: null, address, requestId };
    if (user && user.deletingAt === undefined)
      background.run('note a failed sign-in', () => audit.record(user.userId, entry));
    throw wrongCredentials();
  }
  if (user.disabledAt !== undefined) throw disabledError();
  const used = await factorSteps(deps, user, shown, { purpose: 'sign-in' });
  const userIsGood = await stillThisPassword(deps, user, password);
  const device = await deviceSteps(deps, user, origin);
  const started = await sessions
    .start({
      userId: user.userId,
      signedInWith: 'password',
      origin,
      userIsGood,
      isProven: Object.keys(used).length > 0,
      also: { ...device, ...used },
    })
    .catch(error => {
      throw failedStep(error)?.step === 'the user' ? wrongCredentials() : explainFactor(error);
    });
  deps.outbox.wake();
  background.run('refund an attempt', () => attempt.refund());
  background.run('remember a place', () => throttle.remember(who));
  return started;
}

// Signs in with a passkey alone: it identifies its owner and verifies that they are present.
export async function signInWithPasskey(
  deps: SignInDeps,
  answer: PasskeyAnswer,
  origin: Origin,
): Promise<SignedIn> {
  const { users, sessions, passkeys, throttle, background } = deps;
  const attempt = await throttle.tryToken(origin.address);
  const userId = passkeys.claimedUser(answer);
  if (userId === undefined) throw passkeyRefused();
  const used = await passkeys.use(userId, answer, { purpose: 'sign-in' });
  const user = await users.readProfile(userId);
  if (!user) throw passkeyRefused();
  if (user.disabledAt !== undefined) throw disabledError();
  const device = await deviceSteps(deps, user, origin);
  const also = { ...device, ...used };
  const started = await sessions
    .start({ userId, signedInWith: 'passkey', origin, isProven: true, also })
    .catch(error => {
      throw failedStep(error)?.step === 'the user' ? passkeyRefused(error) : explainFactor(error);
    });
  deps.outbox.wake();
  background.run('refund an attempt', () => attempt.refund());
  background.run('remember a place', () =>
    throttle.remember({ account: user.email, address: origin.address }),
  );
  return started;
}

// Part of the sign-in's transaction: a password that was changed during the check opens no session. Also replaces a
// hash of an older cost.
async function stillThisPassword(
  { passwords, clock }: SignInDeps,
  { userId, passwordHash }: Profile,
  password: string,
): Promise<WriteStep> {
  const unchanged = { passwordHash, deletingAt: is.absent, disabledAt: is.absent };
  if (!passwords.isOutdated(passwordHash!))
    return write.check(profile, { userId }, { present: true, if: unchanged });
  const set = { passwordHash: await passwords.hash(password), updatedAt: isoTime(clock.now()) };
  return write.update(profile, { userId }, { set }, { if: unchanged });
}

// The new password and the end of all other sessions are one transaction: the old password keeps nobody signed in.
export async function changePassword(
  deps: SignInDeps,
  signed: SessionOrigin,
  { currentPassword, newPassword }: { currentPassword?: string; newPassword: string },
): Promise<void> {
  const { users, sessions, passwords, outbox } = deps;
  const { userId, sessionId } = signed;
  const proven = await proveOwner(deps, signed, currentPassword);
  await checkPassword(newPassword, proven, 'newPassword');
  const passwordHash = await passwords.hash(newPassword);
  // Hashing takes long, and a thief who switches organisations meanwhile changes the account. That must not block its
  // owner.
  await settle(async () => {
    const user = await readUser(users, userId);
    if (user.passwordHash !== proven.passwordHash) throw passwordChanged();
    await writePassword(deps, signed, user, passwordHash);
  });
  outbox.wake();
  // A session opened with the old password during this change is in the table by now, and no more can follow.
  await sessions.endOthers(userId, sessionId);
}

const passwordChanged = () =>
  accountsErrors.create('accounts.changed', 'The password has changed in the meantime. Try again.');

async function writePassword(
  { users, sessions, audit, outbox, clock }: SignInDeps,
  { userId, sessionId, address, requestId }: SessionOrigin,
  user: Profile,
  passwordHash: string,
): Promise<void> {
  const { steps, forget } = await sessions.stepsToEndOthers(userId, sessionId);
  const entry = { action: 'password.changed', via: 'session', credentialId: sessionId, address, requestId };
  const mail = outbox.steps({
    kind: 'password.changed',
    to: user.email,
    userId,
    details: { ...greeted(user), at: isoTime(clock.now()) },
  });
  const also = { audit: audit.step(userId, entry), ...mail, ...Object.fromEntries(steps) };
  await users.update(userId, { passwordHash }, { ifVersion: user.version, also });
  forget();
}
