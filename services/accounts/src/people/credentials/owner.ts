import type { Audit } from '../../audit.ts';
import type { Background } from '../../background.ts';
import type { Base } from '../../deps.ts';
import { accountsErrors, userNotFound } from '../../errors.ts';
import * as limits from '../../limits.ts';
import type { Profile } from '../../main-table.ts';
import type { Outbox } from '../../notices/outbox.ts';
import type { Origin } from '../../origin.ts';
import type { Users } from '../../users/users.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Codes } from './codes.ts';
import type { PasskeyChecks } from './passkey-check.ts';
import type { Passwords } from './passwords.ts';
import { hasFactor } from './tables.ts';
import type { Throttle } from './throttle.ts';

export type SignInDeps = Base & {
  users: Users;
  sessions: Sessions;
  passwords: Passwords;
  throttle: Throttle;
  audit: Audit;
  background: Background;
  outbox: Outbox;
  codes: Codes;
  passkeys: PasskeyChecks;
};

// A person acting with their session, and where from.
export type SessionOrigin = Origin & { userId: string; sessionId: string };

// Proves that the caller is the session's owner: by the password or, if there is none, by a recent sign-in or passkey.
export async function proveOwner(
  deps: SignInDeps,
  { userId, sessionId, address }: SessionOrigin,
  password: string | undefined,
): Promise<Profile> {
  const { users, sessions, passwords, throttle, clock, background } = deps;
  const user = await users.readProfile(userId);
  if (!user) throw userNotFound();
  if (user.passwordHash === undefined) {
    const session = await sessions.read(userId, sessionId);
    // An organisation's provider speaks only for the people it brought.
    const isTheirs = session?.confinedTo === undefined || session.confinedTo === user.madeFor;
    const signedInMs = session && isTheirs ? Date.parse(session.createdAt) : 0;
    const shownMs = session && Math.max(signedInMs, session.provenAtMs ?? 0);
    const isFresh = shownMs !== undefined && clock.now() - shownMs < limits.freshSessionMs;
    if (!isFresh) throw accountsErrors.create('accounts.sign_in_again', 'Sign in again, then repeat this.');
    return user;
  }
  const attempt = await throttle.tryPassword({ account: user.email, address });
  if (password === undefined || !(await passwords.verify(password, user.passwordHash)))
    throw accountsErrors.create('accounts.password_wrong', 'The password is wrong.');
  background.run('refund an attempt', () => attempt.refund());
  return user;
}

// An open session alone must not be enough to take over the account: changes that would allow it need a second factor
// verified within the last ten minutes. Accounts without a second factor are exempt.
export async function requireFresh(
  { sessions, clock, users }: Pick<SignInDeps, 'sessions' | 'clock' | 'users'>,
  { userId, sessionId }: Pick<SessionOrigin, 'userId' | 'sessionId'>,
  profile?: Profile,
): Promise<void> {
  const user = profile ?? (await users.readProfile(userId));
  if (!user || !hasFactor(user)) return;
  const session = await sessions.read(userId, sessionId);
  const ageMs = clock.now() - (session?.provenAtMs ?? 0);
  if (session && ageMs < limits.freshSessionMs) return;
  throw accountsErrors.create(
    'accounts.step_up_needed',
    'Confirm your second factor again (a code or a passkey), then retry.',
  );
}
