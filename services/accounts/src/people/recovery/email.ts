import { failedStep, is, tableErrors, write } from '@stak/table';
import { inSeconds, isoTime } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import { greeted } from '../../notices/texts.ts';
import { isRace, settle } from '../../settle.ts';
import { readUser } from '../../users/users.ts';
import * as limits from '../credentials/limits.ts';
import {
  findToken,
  type MailedToken,
  newToken,
  parseToken,
  refuseUsedToken,
  tokenRefused,
  useStep,
  verificationSteps,
} from '../credentials/mailed-tokens.ts';
import { proveOwner, type SessionOrigin } from '../credentials/owner.ts';
import { type EmailChange, emailChange } from '../credentials/tables.ts';
import type { RecoveryDeps } from './routes.ts';

const needMail = ({ outbox }: RecoveryDeps): void => {
  if (!outbox.isOpen)
    throw accountsErrors.create('accounts.no_mail', 'This server does not send mail. Ask its operator.');
};

export async function sendVerification(
  deps: RecoveryDeps,
  { userId, address }: SessionOrigin,
): Promise<void> {
  needMail(deps);
  const user = await readUser(deps.users, userId);
  if (user.emailVerified)
    throw accountsErrors.create('accounts.already_verified', 'Your address is already verified.');
  await deps.throttle.tryMail({ email: user.email, address, purpose: 'verification' });
  await deps.store.transact(verificationSteps(deps, user), { pattern: 'send verification' });
  deps.outbox.wake();
}

// They must also be signed in: otherwise the owner of a mailbox would verify an account that a stranger created with
// their address.
export async function verifyEmail(deps: RecoveryDeps, signed: SessionOrigin, text: string): Promise<void> {
  const { users, audit } = deps;
  const { userId, sessionId, address, requestId } = signed;
  await deps.throttle.tryToken(address);
  const token = ownToken(text, userId);
  const { email } = await findToken(deps, token, 'verify');
  const entry = { action: 'email.verified', via: 'session', credentialId: sessionId, address, requestId };
  await settle(async () => {
    const user = await readUser(deps.users, userId);
    if (user.email !== email) throw tokenRefused();
    const also = { 'the token': useStep(deps, token, 'verify'), audit: audit.step(userId, entry) };
    const change = users.update(userId, { emailVerified: true }, { ifVersion: user.version, also });
    await change.catch(refuseUsedToken);
  });
}

// Only the owner of the new address learns whether it is already in use. Both cases write as much and take as long.
export async function requestEmailChange(
  deps: RecoveryDeps,
  signed: SessionOrigin,
  { email: newEmail, password }: { email: string; password?: string },
): Promise<void> {
  needMail(deps);
  const { store, clock, users, throttle, outbox, audit } = deps;
  const { userId, sessionId, address, requestId } = signed;
  const user = await proveOwner(deps, signed, password);
  if (user.email === newEmail)
    throw accountsErrors.create('accounts.email_unchanged', 'This is already your address.');
  await throttle.tryMail({ email: newEmail, address, purpose: 'change of address' });
  const isFree = (await users.findProfile('email', newEmail)) === undefined;
  const [forNew, forOld] = [newToken(userId), newToken(userId)];
  const needsOld = user.emailVerified === true; // an unverified old address need not confirm
  const change: EmailChange = {
    userId,
    oldEmail: user.email,
    newEmail,
    newHash: forNew.hash,
    oldHash: needsOld ? forOld.hash : undefined,
    createdAt: isoTime(clock.now()),
    expiresAt: inSeconds(clock.now()) + limits.emailChangeS,
  };
  const keptS = limits.emailChangeS;
  const toNew = isFree
    ? {
        kind: 'email.confirm_new' as const,
        to: newEmail,
        userId,
        token: forNew.text,
        keptS,
      }
    : { kind: 'email.unavailable' as const, to: newEmail, userId, keptS };
  const toOld = {
    kind: 'email.confirm_old' as const,
    to: user.email,
    userId,
    details: { ...greeted(user), email: newEmail },
    token: forOld.text,
    keptS,
  };
  const entry = {
    action: 'email.change_requested',
    via: 'session',
    credentialId: sessionId,
    address,
    requestId,
  };
  const steps = {
    'the change': write.put(emailChange, change),
    audit: audit.step(userId, entry),
    ...outbox.steps(toNew, ...(needsOld ? [toOld] : [])),
  };
  await store.transact(steps, { pattern: 'request a change of address' });
  outbox.wake();
}

// Returns whether the change is made, or waits for confirmation from the other address.
export async function confirmEmailChange(
  deps: RecoveryDeps,
  signed: SessionOrigin,
  text: string,
): Promise<'changed' | 'waiting'> {
  await deps.throttle.tryToken(signed.address);
  const { hash } = ownToken(text, signed.userId);
  const { userId } = signed;
  const attempt = async () => {
    const change = await deps.store.get(emailChange, { userId }, { consistent: true });
    const side = change?.newHash === hash ? 'newHash' : change?.oldHash === hash ? 'oldHash' : undefined;
    if (!change || !side) throw tokenRefused();
    const other = side === 'newHash' ? 'oldHash' : 'newHash';
    if (change[other] === undefined) {
      await writeEmailChange(deps, signed, change, side);
      return 'changed';
    }
    const unchanged = { [side]: hash, [other]: change[other] };
    await deps.store.update(emailChange, { userId }, { remove: [side] }, { if: unchanged, current: change });
    return 'waiting';
  };
  const isLost = (error: unknown) =>
    isRace(error) ||
    failedStep(error)?.step === 'the change' ||
    (tableErrors.includes(error) && error.code === 'table.condition_failed');
  return settle(attempt, isLost);
}

async function writeEmailChange(
  { users, audit, outbox, clock }: RecoveryDeps,
  { userId, sessionId, address, requestId }: SessionOrigin,
  { oldEmail, newEmail, ...change }: EmailChange,
  side: 'newHash' | 'oldHash',
): Promise<void> {
  const other = side === 'newHash' ? 'oldHash' : 'newHash';
  const user = await users.readProfile(userId);
  if (!user || user.email !== oldEmail) throw tokenRefused();
  const by = { via: 'session', credentialId: sessionId, address, requestId };
  const entry = { action: 'email.changed', detail: `${oldEmail} to ${newEmail}`, ...by };
  const isSame = { [side]: change[side], [other]: is.absent };
  await users.update(
    userId,
    { email: newEmail, emailVerified: true, claimedEmail: null },
    {
      ifVersion: user.version,
      also: {
        'the change': write.delete(emailChange, { userId }, { ifPresent: true, if: isSame }),
        audit: audit.step(userId, entry),
        ...outbox.steps({
          kind: 'email.changed',
          to: oldEmail,
          userId,
          details: {
            ...greeted(user),
            ...(user.emailVerified && { email: newEmail }),
            at: isoTime(clock.now()),
          },
        }),
      },
    },
  );
  outbox.wake();
}

function ownToken(text: string, userId: string): MailedToken {
  const token = parseToken(text);
  if (token.userId !== userId) throw tokenRefused();
  return token;
}
