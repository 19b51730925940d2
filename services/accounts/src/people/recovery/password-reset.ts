import { failedStep, type WriteStep } from '@stak/table';
import { endApiKeys } from '../../access/api-keys.ts';
import { planAbandoning } from '../../access/leaving.ts';
import { isoTime } from '../../deps.ts';
import { accountsErrors, disabledError } from '../../errors.ts';
import type { Profile } from '../../main-table.ts';
import type { OutgoingMail } from '../../notices/tables.ts';
import { greeted } from '../../notices/texts.ts';
import type { Origin } from '../../origin.ts';
import { settle } from '../../settle.ts';
import { explainChange, planDeletion } from '../account/deletion.ts';
import * as limits from '../credentials/limits.ts';
import {
  findToken,
  newToken,
  parseToken,
  refuseUsedToken,
  tokenRefused,
  tokenSteps,
  useStep,
} from '../credentials/mailed-tokens.ts';
import { checkPassword } from '../credentials/password-policy.ts';
import { factorErasure } from '../credentials/tables.ts';
import { displayName } from '../oauth/identities.ts';
import type { RecoveryDeps } from './routes.ts';

// Requests a password reset. The worker that sends mail looks up later whether the address has an account, so that this
// call does the same, and takes as long, for every address.
export async function requestReset(
  { store, throttle, outbox }: RecoveryDeps,
  email: string,
  origin: Origin,
): Promise<void> {
  if (!outbox.isOpen)
    throw accountsErrors.create(
      'accounts.no_mail',
      'This server does not send mail. Ask its operator to reset your password.',
    );
  await throttle.tryMail({ email, address: origin.address, purpose: 'password reset' });
  const details = { address: origin.address ?? '', requestId: origin.requestId ?? '' };
  const request = { kind: 'password.reset_requested' as const, to: email, details, keptS: limits.resetS };
  await store.transact(outbox.steps(request), { pattern: 'request a password reset' });
  outbox.wake();
}

// Resolves the request to a token and a mail, or to nothing.
export async function resolveReset(
  deps: Pick<RecoveryDeps, 'users' | 'audit' | 'clock' | 'outbox'>,
  { to, details }: OutgoingMail,
): Promise<Readonly<Record<string, WriteStep>>> {
  const user = await deps.users.findProfile('email', to);
  if (!user || user.deletingAt !== undefined) return {};
  const { userId, email } = user;
  const { text, hash } = newToken(userId);
  const entry = {
    action: 'password.reset_requested',
    via: 'mail',
    address: details.address || undefined,
    requestId: details.requestId || undefined,
  };
  return {
    ...tokenSteps(deps, { userId, purpose: 'reset', hash, email, lifeS: limits.resetS }),
    audit: deps.audit.step(userId, entry),
    ...deps.outbox.steps({
      kind: 'password.reset',
      to: email,
      userId,
      details: mayBeStrangers(user) ? { isNew: 'yes' } : greeted(user),
      token: text,
      keptS: limits.resetS,
    }),
  };
}

// The person who signed up with the address may not be the one who reads its mail. An account that an operator imported was not signed
// up for here: the operator has decided whose it is, and its data must not be lost.
const mayBeStrangers = ({ emailVerified, importedAt }: Profile): boolean =>
  !emailVerified && importedAt === undefined;

// The token, the new password and the end of all sessions are one transaction: if a token is used twice, one use wins,
// and the old password keeps nobody signed in. An account whose address was never verified may be a stranger's, so its
// address gets a new one.
export async function finishReset(
  deps: RecoveryDeps,
  {
    token: text,
    newPassword,
    endAccess = false,
  }: { token: string; newPassword: string; endAccess?: boolean },
  origin: Origin,
): Promise<void> {
  const { users, passwords, sessions, throttle } = deps;
  await throttle.tryToken(origin.address);
  const token = parseToken(text);
  const { email, isMailed } = await findToken(deps, token, 'reset');
  const first = await users.readProfile(token.userId);
  if (!first || first.email !== email) throw tokenRefused();
  await checkPassword(newPassword, first, 'newPassword');
  const passwordHash = await passwords.hash(newPassword);
  await settle(async () => {
    const user = await users.readProfile(token.userId);
    if (!user || user.email !== email || user.deletingAt !== undefined) throw tokenRefused();
    const reset = { token: useStep(deps, token, 'reset'), isMailed, passwordHash, origin };
    // Ended before the token is used up, because a crash after that would leave it for good. Ended again after it,
    // because a stranger may have created more meanwhile.
    const end = async () => {
      if (endAccess || !user.emailVerified) await endAccessOf(deps, user.userId);
    };
    await end();
    if (isMailed && mayBeStrangers(user)) await replaceAccount(deps, user, reset);
    else await writeReset(deps, user, reset).catch(refuseUsedToken);
    await end();
  });
  deps.outbox.wake();
  // The person has proved who they are, so failed guesses from elsewhere do not lock them out here.
  await throttle.remember({ account: email, address: origin.address });
  // A session opened with the old password during this reset is in the table by now, and no more can follow.
  await sessions.revokeAll(token.userId);
}

// Ends what outlives sessions, of keys and of what other services gave out: everything of the person's own account, and
// what they asked for in others.
async function endAccessOf({ apiKeys, memberships, endAccess }: RecoveryDeps, userId: string): Promise<void> {
  await endApiKeys(apiKeys, userId);
  for (const { accountId } of await memberships.list(userId)) {
    if (accountId === userId) continue;
    await endApiKeys(apiKeys, accountId, userId);
    await endAccess?.(accountId, userId);
  }
  await endAccess?.(userId, userId);
}

// The owner of the mailbox begins with an empty account. What a stranger left in the old one (keys, feeds, tokens,
// providers, addresses that get webhooks) belongs to an account that nobody can sign in to, and is erased with it.
async function replaceAccount(
  deps: RecoveryDeps,
  user: Profile,
  { token, passwordHash, origin: { address, requestId } }: Reset,
): Promise<void> {
  const { store, users, sessions, audit, clock, ids, outbox } = deps;
  if (user.disabledAt !== undefined) throw disabledError();
  const { email } = user;
  const userId = ids.next('usr');
  const fresh = { email, emailVerified: true, name: displayName({ name: undefined }, email), passwordHash };
  const created = users.prepare(fresh, userId).steps.filter(([name]) => name !== 'take email');
  const abandoned = await planDeletion(deps, user, await planAbandoning(deps, user), userId);
  const { steps: endings, forget } = await sessions.stepsToEndAll(user.userId);
  const by = { via: 'mail', address, requestId };
  const steps: [string, WriteStep][] = [
    ['the token', token],
    ...created.map(([name, step]): [string, WriteStep] => [`new: ${name}`, step]),
    ...abandoned.steps,
    ['audit', audit.step(userId, { action: 'account.created', detail: 'by a password reset', ...by })],
    ...Object.entries(
      outbox.steps({
        kind: 'password.changed',
        to: email,
        userId,
        details: { at: isoTime(clock.now()), isNew: 'yes' },
      }),
    ),
    ...endings,
  ];
  await store.transact(steps, { pattern: 'begin an account anew' }).catch(error => {
    if (failedStep(error)?.step === 'the token') throw tokenRefused();
    explainChange(error);
  });
  forget();
}

type Reset = { token: WriteStep; isMailed: boolean; passwordHash: string; origin: Origin };

async function writeReset(
  { store, users, sessions, audit, clock, outbox }: RecoveryDeps,
  user: Profile,
  { token, isMailed, passwordHash, origin }: Reset,
): Promise<void> {
  const { userId, email, version } = user;
  const { address, requestId } = origin;
  const entry = { action: 'password.reset', via: isMailed ? 'mail' : 'operator', address, requestId };
  const { steps, forget } = await sessions.stepsToEndAll(userId);
  // An operator vouches for the person, but not for whoever added other ways to sign in before.
  const strangers = { githubId: null, googleId: null, secondFactor: null, passkeys: null };
  await users.update(
    userId,
    { passwordHash, ...(isMailed && { emailVerified: true }), ...(!user.emailVerified && strangers) },
    {
      ifVersion: version,
      also: {
        'the token': token,
        ...(!user.emailVerified && (await factorErasure(store, userId))),
        audit: audit.step(userId, entry),
        ...outbox.steps({
          kind: 'password.changed',
          to: email,
          userId,
          details: { ...greeted(user), at: isoTime(clock.now()) },
        }),
        ...Object.fromEntries(steps),
      },
    },
  );
  forget();
}
