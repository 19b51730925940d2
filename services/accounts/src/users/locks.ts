import { failedStep, is, or, type Store, type WriteStep, write } from '@stak/table';
import { accountsErrors } from '../errors.ts';
import { emailLock, githubLock, googleLock, stripeLock } from '../main-table.ts';

// Values that belong to one user only. Each has a lock item, written and deleted together with the user's item.
export const uniques = ['email', 'githubId', 'googleId', 'stripeCustomerId'] as const;
export type Unique = (typeof uniques)[number];

type Lock = {
  take(value: string, userId: string): WriteStep;
  free(value: string, userId: string): WriteStep;
  owner(store: Store, value: string): Promise<string | undefined>;
};

const absent = { ifAbsent: true };
// A lock that is already gone counts as freed; another user's lock must stay.
const ownedBy = (userId: string) => ({ if: or({ userId }, { userId: is.absent }) });

export const locks: Readonly<Record<Unique, Lock>> = {
  email: {
    take: (email, userId) => write.put(emailLock, { email, userId }, absent),
    free: (email, userId) => write.delete(emailLock, { email }, ownedBy(userId)),
    owner: async (store, email) => (await store.get(emailLock, { email }, { consistent: true }))?.userId,
  },
  githubId: {
    take: (githubId, userId) => write.put(githubLock, { githubId, userId }, absent),
    free: (githubId, userId) => write.delete(githubLock, { githubId }, ownedBy(userId)),
    owner: async (store, githubId) =>
      (await store.get(githubLock, { githubId }, { consistent: true }))?.userId,
  },
  googleId: {
    take: (googleId, userId) => write.put(googleLock, { googleId, userId }, absent),
    free: (googleId, userId) => write.delete(googleLock, { googleId }, ownedBy(userId)),
    owner: async (store, googleId) =>
      (await store.get(googleLock, { googleId }, { consistent: true }))?.userId,
  },
  stripeCustomerId: {
    take: (stripeCustomerId, userId) => write.put(stripeLock, { stripeCustomerId, userId }, absent),
    free: (stripeCustomerId, userId) => write.delete(stripeLock, { stripeCustomerId }, ownedBy(userId)),
    owner: async (store, stripeCustomerId) =>
      (await store.get(stripeLock, { stripeCustomerId }, { consistent: true }))?.userId,
  },
};

type Values = { readonly [U in Unique]?: string };

// Gives an address to another user in one write: a transaction cannot free and take it.
export const passEmail = (email: string, from: string, to: string): WriteStep =>
  write.put(emailLock, { email, userId: to }, { if: { userId: from } });

// The steps that move a user's locks from the old values to the new ones.
export function lockSteps(userId: string, before: Values, after: Values): [string, WriteStep][] {
  const steps: [string, WriteStep][] = [];
  for (const unique of uniques) {
    const [old, wanted] = [before[unique], after[unique]];
    if (old === wanted) continue;
    if (wanted !== undefined) steps.push([`take ${unique}`, locks[unique].take(wanted, userId)]);
    if (old !== undefined) steps.push([`free ${unique}`, locks[unique].free(old, userId)]);
  }
  return steps;
}

// Turns another user's lock into an error for the caller; returns any other error unchanged.
export function explainLock(error: unknown): unknown {
  const step = failedStep(error)?.step;
  if (step === 'take email')
    return accountsErrors.create(
      'accounts.email_taken',
      'An account with this e-mail address already exists.',
    );
  if (step?.startsWith('take '))
    return accountsErrors.create('accounts.identity_taken', 'Another account is linked to this identity.');
  return error;
}
