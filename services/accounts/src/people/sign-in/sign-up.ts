import { failedCondition, type WriteStep } from '@stak/table';
import { accountsErrors } from '../../errors.ts';
import type { OutgoingMail } from '../../notices/tables.ts';
import { greeted } from '../../notices/texts.ts';
import type { Origin } from '../../origin.ts';
import * as recovery from '../credentials/limits.ts';
import {
  findToken,
  newToken,
  parseToken,
  tokenRefused,
  tokenSteps,
  useStep,
  verificationSteps,
} from '../credentials/mailed-tokens.ts';
import type { SignInDeps } from '../credentials/owner.ts';
import { checkPassword } from '../credentials/password-policy.ts';
import type { SignedIn } from '../sessions/session-item.ts';
import { deviceSteps } from './devices.ts';

export type SignUpDeps = SignInDeps & { signsUpByMail: boolean };
type NewPerson = { email: string; password: string; name: string };

// Creates the account at once, for servers that trust those who can reach them. It reveals that an address is taken,
// because that address cannot sign up, but takes as long as for a free one and is rate limited.
export async function signUp(deps: SignUpDeps, input: NewPerson, origin: Origin): Promise<SignedIn> {
  const { passwords, throttle, ids, outbox } = deps;
  if (deps.signsUpByMail)
    throw accountsErrors.create(
      'accounts.sign_up_by_mail',
      'This server creates accounts for confirmed addresses only. Request a mail with POST /v1/auth/signup/request.',
    );
  await checkPassword(input.password, input, 'password');
  await throttle.trySignUp(origin.address);
  const { email, name } = input;
  const userId = ids.next('usr');
  const person = { userId, email, name, passwordHash: await passwords.hash(input.password) };
  const signedIn = await createPerson(deps, person, origin, verificationSteps(deps, person));
  outbox.wake();
  return signedIn;
}

// Sign-up by mail: does the same, and takes as long, for every address. The worker that sends mail looks up later
// whether it has an account.
export async function requestSignUp(deps: SignUpDeps, input: NewPerson, origin: Origin): Promise<void> {
  const { store, passwords, throttle, outbox } = deps;
  if (!outbox.isOpen)
    throw accountsErrors.create(
      'accounts.no_mail',
      'This server does not send mail. Use POST /v1/auth/signup instead.',
    );
  const { email: to, name, password } = input;
  await checkPassword(password, { email: to, name }, 'password');
  await throttle.trySignUp(origin.address);
  await throttle.tryMail({ email: to, address: origin.address, purpose: 'sign-up' });
  const request = {
    kind: 'sign_up.requested' as const,
    to,
    details: { name },
    token: await passwords.hash(password),
    keptS: recovery.signUpS,
  };
  await store.transact(outbox.steps(request), { pattern: 'request a sign-up' });
  outbox.wake();
}

// Resolves the request to a mail with a link to finish, or to a notice to the owner of an existing account.
export async function resolveSignUp(
  deps: Pick<SignInDeps, 'users' | 'clock' | 'ids' | 'outbox'>,
  { to, details }: OutgoingMail,
  passwordHash: string,
): Promise<Readonly<Record<string, WriteStep>>> {
  const { users, ids, outbox } = deps;
  const owner = await users.findProfile('email', to);
  const keptS = recovery.signUpS;
  if (owner) {
    const { userId } = owner;
    return outbox.steps({ kind: 'sign_up.taken', to, userId, details: greeted(owner), keptS });
  }
  const userId = ids.next('usr');
  const { text, hash } = newToken(userId);
  const person = { name: details.name ?? '', passwordHash };
  return {
    ...tokenSteps(deps, { userId, purpose: 'sign_up', hash, email: to, lifeS: keptS, person }),
    ...outbox.steps({ kind: 'sign_up.finish', to, userId, token: text, keptS }),
  };
}

// The caller must also know the password: otherwise the owner of a mailbox would create an account whose password a
// stranger knows.
export async function finishSignUp(
  deps: SignUpDeps,
  { token: text, password }: { token: string; password: string },
  origin: Origin,
): Promise<SignedIn> {
  const { passwords, throttle, background } = deps;
  const { address } = origin;
  await throttle.tryToken(address);
  const token = parseToken(text);
  const { email, person } = await findToken(deps, token, 'sign_up');
  if (!person) throw tokenRefused();
  const attempt = await throttle.tryPassword({ account: email, address });
  if (!(await passwords.verify(password, person.passwordHash)))
    throw accountsErrors.create(
      'accounts.password_wrong',
      'This is not the password that you signed up with.',
    );
  background.run('refund an attempt', () => attempt.refund());
  const { userId } = token;
  const also = { 'the token': useStep(deps, token, 'sign_up') };
  return createPerson(deps, { userId, email, emailVerified: true, ...person }, origin, also).catch(error => {
    throw failedCondition(error, 'the token') ? tokenRefused() : error;
  });
}

async function createPerson(
  deps: SignUpDeps,
  person: { userId: string; email: string; name: string; passwordHash: string; emailVerified?: boolean },
  origin: Origin,
  also: Readonly<Record<string, WriteStep>>,
): Promise<SignedIn> {
  const { users, sessions, audit, background, throttle } = deps;
  const { userId, ...fields } = person;
  const { address, requestId } = origin;
  const entry = { action: 'account.created', via: 'password', address, requestId };
  await users.create(fields, { audit: audit.step(userId, entry), ...also }, userId);
  background.run('remember a place', () => throttle.remember({ account: person.email, address }));
  const device = await deviceSteps(deps, person, origin);
  return sessions.start({ userId, signedInWith: 'password', origin, also: device });
}
