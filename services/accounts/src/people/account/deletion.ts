import type { Worker } from '@stak/kit';
import { failedStep, is, type WriteStep, write } from '@stak/table';
import { type ApiKeys, endApiKeys } from '../../access/api-keys.ts';
import {
  type Leaving,
  leaveTheRest,
  organisationErasure,
  planLeaving,
  subjectErasure,
} from '../../access/leaving.ts';
import type { Memberships } from '../../access/memberships.ts';
import { type AccountEraser, isoTime } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';
import {
  accountDeletion,
  accountDeletions,
  auditEntry,
  auditOfUser,
  creationErasure,
  devicesOfUser,
  knownDevice,
  lakeTexts,
  type Profile,
  profile,
} from '../../main-table.ts';
import { failureDigest, mailedNotice, mailsOfUser, noticesOf, outgoingMail } from '../../notices/tables.ts';
import { organisationDomain } from '../../schema.ts';
import { lockSteps, passEmail } from '../../users/locks.ts';
import { proveOwner, requireFresh, type SessionOrigin, type SignInDeps } from '../credentials/owner.ts';
import { factorErasure, recoveryErasure } from '../credentials/tables.ts';

type PlanDeps = Pick<SignInDeps, 'store' | 'clock'> & { memberships: Memberships };

export type DeletionDeps = SignInDeps & {
  memberships: Memberships;
  apiKeys: ApiKeys;
  usage: { erase(userId: string): Promise<void> };
  erasers: () => readonly AccountEraser[];
};

export type Deletions = {
  request(signed: SessionOrigin, password: string | undefined): Promise<void>;
  // Finishes all requested deletions, including those of crashed processes.
  finishAll(): Promise<void>;
  worker: Worker;
};

export function createDeletions(deps: DeletionDeps): Deletions {
  const { store, clock, log, audit } = deps;

  const request = async (signed: SessionOrigin, password: string | undefined): Promise<void> => {
    const { userId, sessionId, address, requestId } = signed;
    const user = await proveOwner(deps, signed, password);
    await requireFresh(deps, signed, user);
    const entry = { action: 'account.deleted', via: 'session', credentialId: sessionId, address, requestId };
    const { steps, keepsAccount, left } = await planDeletion(deps, user, await planLeaving(deps, user));
    steps.push(['audit', audit.step(userId, entry)]);
    await store.transact(steps, { pattern: 'delete account' }).catch(explainChange);
    // From here on nothing new can be created for it. Its credentials end now, the rest after a grace period.
    await endCredentials(deps, userId, keepsAccount);
    for (const accountId of left) await endApiKeys(deps.apiKeys, accountId, userId);
  };

  const finishAll = async (): Promise<void> => {
    for await (const { userId, requestedAt, keepsAccount = false } of store.all(accountDeletions, {}))
      try {
        await endCredentials(deps, userId, keepsAccount);
        // A request that was admitted earlier, here or in another process, may still create something.
        if (clock.now() - Date.parse(requestedAt) < limits.deletionGraceMs) continue;
        await (keepsAccount ? finishPerson(deps, userId) : finish(deps, userId));
      } catch (error) {
        log.error({ err: error, userId }, 'the deletion of an account has to be tried again');
      }
  };

  return {
    request,
    finishAll,
    worker: {
      name: 'accounts-deletions',
      async run(signal) {
        while (!signal.aborted) {
          await finishAll();
          await clock.sleep(limits.deletionPollMs, signal);
        }
      },
    },
  };
}

// Maps a failed transaction that deletes an account.
export const explainChange = (error: unknown): never => {
  if (failedStep(error) === undefined) throw error;
  throw accountsErrors.create('accounts.changed', 'The account has changed in the meantime. Try again.');
};

// The steps that begin a deletion. With `newOwner`, the address passes to that user; otherwise it is free when the
// deletion has finished.
export async function planDeletion(
  { store, clock }: PlanDeps,
  user: Profile,
  leaving: Leaving,
  newOwner?: string,
): Promise<Pick<Leaving, 'keepsAccount' | 'left'> & { steps: [string, WriteStep][] }> {
  const { userId } = user;
  const { keepsAccount, leaves, left } = leaving;
  const requestedAt = isoTime(clock.now());
  const unchanged = { passwordHash: user.passwordHash ?? is.absent, deletingAt: is.absent };
  // More than fit in one transaction. If one fails, the next attempt continues from there.
  const isTooMany = leaves.length > limits.leftAtOnce;
  if (isTooMany)
    for (const leave of leaves)
      await store.transact(leave, { pattern: 'leave an organisation' }).catch(explainChange);
  const deleting = { set: { deletingAt: requestedAt } };
  const given: [string, WriteStep][] =
    keepsAccount || newOwner !== undefined
      ? handOver(user, unchanged, requestedAt, { isDeleting: !keepsAccount, newOwner })
      : [['the user', write.update(profile, { userId }, deleting, { if: unchanged })]];
  const work = { userId, requestedAt, ...(keepsAccount && { keepsAccount }) };
  const steps: [string, WriteStep][] = [
    ...given,
    ['the work', write.put(accountDeletion, work)],
    ...Object.entries(leaving.steps),
    ...(isTooMany ? [] : leaves.flatMap(leave => Object.entries(leave))),
  ];
  return { steps, keepsAccount, left };
}

async function endCredentials(
  { sessions, apiKeys }: DeletionDeps,
  userId: string,
  keepsAccount: boolean,
): Promise<void> {
  await sessions.revokeAll(userId);
  await endApiKeys(apiKeys, userId, keepsAccount ? userId : undefined);
}

// Others use the person's account as an organisation, or their address: nobody can sign in to the account any more.
function handOver(
  user: Profile,
  unchanged: { passwordHash: string | typeof is.absent; deletingAt: typeof is.absent },
  updatedAt: string,
  { isDeleting, newOwner }: { isDeleting: boolean; newOwner: string | undefined },
): [string, WriteStep][] {
  const { userId } = user;
  const email = userId + organisationDomain;
  const change = {
    set: { email, isOrganisation: true, updatedAt, ...(isDeleting && { deletingAt: updatedAt }) },
    remove: [
      'passwordHash',
      'secondFactor',
      'passkeys',
      'githubId',
      'googleId',
      'madeFor',
      'claimedEmail',
      'signsInto',
      'mailsOff',
    ] as const,
  };
  const after = { email, stripeCustomerId: user.stripeCustomerId };
  return [
    ['the user', write.update(profile, { userId }, change, { if: { ...unchanged, version: user.version } })],
    ...lockSteps(userId, user, after).map(([name, step]): [string, WriteStep] =>
      name === 'free email' && newOwner !== undefined
        ? ['pass email', passEmail(user.email, userId, newOwner)]
        : [name, step],
    ),
  ];
}

// Deletes what belonged to the person and not to the organisation.
async function finishPerson(deps: DeletionDeps, userId: string): Promise<void> {
  const { store, log } = deps;
  await leaveTheRest(deps, userId);
  await eraseMailsAndDevices(deps, userId);
  await eraseCredentials(deps, userId);
  await store.delete(accountDeletion, { userId });
  log.info({ userId }, 'deleted a person and kept their organisation');
}

// Every step can be repeated. The profile is deleted last: while it exists, the deletion is resumed.
async function finish(deps: DeletionDeps, userId: string): Promise<void> {
  const { store, log, usage, users } = deps;
  await store.delete(lakeTexts, { accountId: userId }); // first: stops the lake from storing more of them
  for (const eraser of deps.erasers()) await eraseWith(eraser, userId);
  await leaveTheRest(deps, userId);
  await eraseTrail(deps, userId);
  await organisationErasure(deps, userId);
  await eraseMailsAndDevices(deps, userId);
  await eraseNotices(deps, userId);
  await eraseCredentials(deps, userId);
  await usage.erase(userId);

  const user = await users.readProfile(userId);
  const steps: [string, WriteStep][] = [
    ['the user', write.delete(profile, { userId }, user && { if: { version: user.version } })],
    ...(user ? lockSteps(userId, user, {}) : []),
    ['the work', write.delete(accountDeletion, { userId })],
  ];
  await store.transact(steps, { pattern: 'erase account' });
  log.info({ userId }, 'an account was deleted');
}

async function eraseCredentials({ store }: DeletionDeps, userId: string): Promise<void> {
  const steps = [
    ...recoveryErasure(userId),
    ...creationErasure(userId),
    ...Object.values(await factorErasure(store, userId)),
    ...(await subjectErasure(store, userId)),
  ];
  await store.batchWrite(steps, { pattern: 'erase credentials' });
}

async function eraseMailsAndDevices({ store }: DeletionDeps, userId: string): Promise<void> {
  const steps: WriteStep[] = [];
  for await (const { mailId } of store.all(mailsOfUser, { userId }))
    steps.push(write.delete(outgoingMail, { userId, mailId }));
  for await (const { deviceId } of store.all(devicesOfUser, { userId }))
    steps.push(write.delete(knownDevice, { userId, deviceId }));
  if (steps.length > 0) await store.batchWrite(steps, { pattern: 'erase mails and devices' });
}

async function eraseNotices({ store }: DeletionDeps, accountId: string): Promise<void> {
  const steps = [write.delete(failureDigest, { accountId })];
  for await (const { noticeKey } of store.all(noticesOf, { accountId }))
    steps.push(write.delete(mailedNotice, { accountId, noticeKey }));
  await store.batchWrite(steps, { pattern: 'erase notices' });
}

async function eraseTrail({ store }: DeletionDeps, userId: string): Promise<void> {
  let steps: WriteStep[] = [];
  const flush = async () => {
    if (steps.length > 0) await store.batchWrite(steps, { pattern: 'erase audit trail' });
    steps = [];
  };
  for await (const { auditId } of store.all(auditOfUser, { userId }, { consistent: true })) {
    steps.push(write.delete(auditEntry, { userId, auditId }));
    if (steps.length === limits.erasedAtOnce) await flush();
  }
  await flush();
}

async function eraseWith(eraser: AccountEraser, userId: string): Promise<void> {
  if (!eraser.eraseAccount) return;
  for (let step = 0; step < limits.deletionSteps; step++)
    if ((await eraser.eraseAccount(userId)) === 'done') return;
  throw new Error(`${eraser.name} is not done with an account after ${limits.deletionSteps} steps`);
}
