import type { Worker } from '@stak/kit';
import { failedStep, is, type WriteStep, write } from '@stak/table';
import { type ApiKeys, endApiKeys } from './api-keys.ts';
import { isoTime } from './deps.ts';
import { accountsErrors } from './errors.ts';
import { requireFresh } from './factors/factors.ts';
import { factorErasure } from './factors/table.ts';
import * as limits from './limits.ts';
import { lockSteps } from './locks.ts';
import { mailsOfUser, outgoingMail } from './mail/table.ts';
import { recoveryErasure } from './recovery/table.ts';
import { proveOwner, type Signed, type SignInDeps } from './sign-in.ts';
import {
  accountDeletion,
  accountDeletions,
  auditEntry,
  auditOfUser,
  devicesOfUser,
  knownDevice,
  profile,
} from './table.ts';
import type { Usage } from './usage.ts';

// What another service does for an account that goes: a bounded piece of work a call, until it says 'done'.
// Calling again after a crash does no harm.
export type AccountEraser = {
  name: string;
  eraseAccount?(accountId: string): Promise<'done' | 'more'>;
};

export type DeletionDeps = SignInDeps & {
  apiKeys: ApiKeys;
  usage: Usage;
  erasers: () => readonly AccountEraser[];
};

export type Deletions = {
  request(signed: Signed, password: string | undefined): Promise<void>;
  // Finishes what was requested, here or in a process that is gone.
  finishAll(): Promise<void>;
  worker: Worker;
};

export function createDeletions(deps: DeletionDeps): Deletions {
  const { store, clock, log, audit } = deps;

  const request = async (signed: Signed, password: string | undefined): Promise<void> => {
    const { userId, sessionId, address, requestId } = signed;
    const user = await proveOwner(deps, signed, password);
    await requireFresh(deps, signed, user);
    const requestedAt = isoTime(clock.now());
    const deed = { action: 'account.deleted', via: 'session', credentialId: sessionId, address, requestId };
    const unchanged = { passwordHash: user.passwordHash ?? is.absent, deletingAt: is.absent };
    const steps = {
      'the user': write.update(profile, { userId }, { set: { deletingAt: requestedAt } }, { if: unchanged }),
      'the work': write.put(accountDeletion, { userId, requestedAt }),
      audit: audit.step(userId, deed),
    };
    await store.transact(steps, { pattern: 'delete account' }).catch(error => {
      if (failedStep(error)?.step !== 'the user') throw error;
      throw accountsErrors.create('accounts.changed', 'The account was changed meanwhile.');
    });
    // From here on nothing new can be made for it. What it has to get in with goes now, the rest in a while.
    await endCredentials(deps, userId);
  };

  const finishAll = async (): Promise<void> => {
    for await (const { userId, requestedAt } of store.all(accountDeletions, {}))
      try {
        await endCredentials(deps, userId);
        // A request that was let in before, here or in another process, may still make something.
        if (clock.now() - Date.parse(requestedAt) >= limits.deletionGraceMs) await finish(deps, userId);
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

async function endCredentials({ sessions, apiKeys }: DeletionDeps, userId: string): Promise<void> {
  await sessions.revokeAll(userId);
  await endApiKeys(apiKeys, userId);
}

// Every step may be repeated. The profile goes last: as long as it is there, there is somebody to go on for.
async function finish(deps: DeletionDeps, userId: string): Promise<void> {
  const { store, log, usage, users } = deps;
  for (const eraser of deps.erasers()) await eraseWith(eraser, userId);
  await eraseTrail(deps, userId);
  await eraseMailsAndDevices(deps, userId);
  await store.batchWrite([...recoveryErasure(userId), ...factorErasure(userId)], {
    pattern: 'erase mailed tokens',
  });
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

async function eraseMailsAndDevices({ store }: DeletionDeps, userId: string): Promise<void> {
  const steps: WriteStep[] = [];
  for await (const { mailId } of store.all(mailsOfUser, { userId }))
    steps.push(write.delete(outgoingMail, { userId, mailId }));
  for await (const { deviceId } of store.all(devicesOfUser, { userId }))
    steps.push(write.delete(knownDevice, { userId, deviceId }));
  if (steps.length > 0) await store.batchWrite(steps, { pattern: 'erase mails and devices' });
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
