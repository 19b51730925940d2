import { failedStep, write } from '@stak/table';
import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';
import { type Profile, session } from '../../main-table.ts';
import { readUser } from '../../users/users.ts';
import { newRecoveryCodes, recoveryHash } from '../credentials/codes.ts';
import { proveOwner, requireFresh, type SessionOrigin, type SignInDeps } from '../credentials/owner.ts';
import type { NewPasskeyAnswer } from '../credentials/passkey-check.ts';
import { authenticator, hasFactor, type Passkey, passkey } from '../credentials/tables.ts';
import { refuse } from '../oauth/errors.ts';
import { changeFactor, type FactorDeps, noFactor } from './factors.ts';

export type PasskeysDeps = FactorDeps & {
  // Whether the user could still sign in without any passkey.
  hasOtherWay(user: Profile): boolean;
};

// Options for the browser to create a passkey. Nothing changes until the browser has responded.
export async function beginPasskey(deps: PasskeysDeps, signed: SessionOrigin, password: string | undefined) {
  const { userId, sessionId } = signed;
  const user = await proveOwner(deps, signed, password);
  await requireFresh(deps, signed, user);
  checkRoom(user);
  return deps.passkeys.creationOptions(user, { purpose: 'register', userId, sessionId });
}

// The first factor of an account comes with recovery codes, which are returned only here.
export async function addPasskey(
  deps: PasskeysDeps,
  signed: SessionOrigin,
  { name, answer }: { name: string; answer: NewPasskeyAnswer },
): Promise<{ added: Passkey; recoveryCodes?: string[] }> {
  const { clock, passkeys } = deps;
  const { userId, sessionId } = signed;
  const made = await passkeys.checkNew(answer, { purpose: 'register', userId, sessionId });
  const added = { ...made, name };
  const user = await readUser(deps.users, userId);
  checkRoom(user);
  const recoveryCodes = hasFactor(user) ? undefined : newRecoveryCodes();
  const nowMs = clock.now();
  const codes = recoveryCodes && {
    userId,
    lastStep: 0,
    codeHashes: recoveryCodes.map(recoveryHash),
    uses: 0,
    createdAt: added.createdAt,
  };
  await changeFactor(deps, signed, user, {
    change: { passkeys: (user.passkeys ?? 0) + 1 },
    what: `The passkey “${name}” was added`,
    unnamed: 'A passkey was added',
    steps: {
      'the new passkey': write.put(passkey, added, { ifAbsent: true }),
      ...(codes && { 'the recovery codes': write.put(authenticator, codes) }),
      'the session': write.update(session, { userId, sessionId }, { set: { provenAtMs: nowMs } }),
    },
  }).catch(error => {
    if (failedStep(error)?.step !== 'the new passkey') throw error;
    throw accountsErrors.create('accounts.passkey_exists', 'Your account already has this passkey.');
  });
  return { added, recoveryCodes };
}

export async function renamePasskey(
  { store, audit }: SignInDeps,
  { userId, sessionId, address, requestId }: SessionOrigin,
  passkeyId: string,
  name: string,
): Promise<Passkey> {
  const by = { via: 'session', credentialId: sessionId, address, requestId };
  const entry = { action: 'passkey.renamed', target: passkeyId, detail: name, ...by };
  const steps = {
    'the passkey': write.update(passkey, { userId, passkeyId }, { set: { name } }),
    audit: audit.step(userId, entry),
  };
  await store.transact(steps, { pattern: 'rename a passkey' }).catch(explainMissing);
  const renamed = await store.get(passkey, { userId, passkeyId }, { consistent: true });
  if (!renamed) throw notFound();
  return renamed;
}

// Removing the last factor also removes the recovery codes.
export async function removePasskey(
  deps: PasskeysDeps,
  signed: SessionOrigin,
  passkeyId: string,
  password: string | undefined,
): Promise<void> {
  const { userId } = signed;
  const user = await proveOwner(deps, signed, password);
  const stored = await deps.store.get(passkey, { userId, passkeyId }, { consistent: true });
  if (!stored) throw notFound();
  await requireFresh(deps, signed, user);
  const left = (user.passkeys ?? 1) - 1;
  if (left === 0 && !deps.hasOtherWay(user))
    throw refuse(
      'accounts.last_sign_in',
      'This is the only way to sign in to the account. Set a password or add another passkey first.',
    );
  const isLastFactor = left === 0 && user.secondFactor === undefined;
  await changeFactor(deps, signed, user, {
    change: { passkeys: left === 0 ? null : left },
    what: `The passkey “${stored.name}” was removed`,
    unnamed: 'A passkey was removed',
    steps: {
      'the old passkey': write.delete(passkey, { userId, passkeyId }, { ifPresent: true }),
      ...(isLastFactor && { 'the recovery codes': write.delete(authenticator, { userId }) }),
    },
  }).catch(error => {
    throw failedStep(error)?.step === 'the old passkey' ? notFound() : error;
  });
}

// A challenge for `stepUp`.
export async function beginPasskeyStepUp({ passkeys }: SignInDeps, { userId, sessionId }: SessionOrigin) {
  const existing = await passkeys.list(userId);
  if (existing.length === 0) throw noFactor();
  return passkeys.requestOptions({ purpose: 'step-up', userId, sessionId }, existing);
}

function checkRoom({ passkeys = 0 }: Profile): void {
  if (passkeys < limits.passkeysPerUser) return;
  throw accountsErrors.create(
    'accounts.too_many_passkeys',
    `An account can have at most ${limits.passkeysPerUser} passkeys. Remove one first.`,
  );
}

const notFound = () => accountsErrors.create('accounts.passkey_not_found', 'Passkey not found.');

function explainMissing(error: unknown): never {
  throw failedStep(error)?.step === 'the passkey' ? notFound() : error;
}
