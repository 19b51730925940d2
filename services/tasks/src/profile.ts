import { type Store, write } from '@stak/table';
import { commit, secondsOf, type Writing } from './commit.ts';
import { requireVersion } from './edit.ts';
import { tasksErrors } from './errors.ts';
import { tenantOf } from './owner.ts';
import type { Profile, ProfilePatch } from './schema.ts';
import type { NamedSteps } from './shift.ts';
import { emailLock, type StoredUser, user } from './table.ts';

// The document's access pattern "fetch user by user_id". Who has never set anything has a profile all the same.
export async function getUser(
  { store, clock }: Pick<Writing, 'store' | 'clock'>,
  user_id: string,
): Promise<StoredUser> {
  return (await readUser(store, user_id)) ?? newUser(user_id, secondsOf(clock));
}

export const readUser = (store: Store, user_id: string, consistent = false) =>
  store.get(user, { user_id }, { consistent, pattern: 'user by id' });

export const newUser = (user_id: string, nowS: number): StoredUser => ({
  user_id,
  time_zone: 'UTC',
  created_at: nowS,
  updated_at: nowS,
  version: 0,
});

export const showUser = ({ user_id: _user, feed_hash: _feed, ...profile }: StoredUser): Profile => profile;

// Addresses are unique among accounts, and among the users of each tenant: nobody learns of anybody else's.
const realmOf = (user_id: string): string => {
  const tenant = tenantOf(user_id);
  return tenant === undefined ? 'accounts' : `tenant:${encodeURIComponent(tenant)}`;
};

export function updateUser(
  deps: Writing,
  user_id: string,
  patch: ProfilePatch,
  expected?: string,
): Promise<StoredUser> {
  return commit(deps, user_id, 'update user', async ({ nowS }) => {
    const found = await readUser(deps.store, user_id, true);
    const before = found ?? newUser(user_id, nowS);
    requireVersion(before.version, expected);
    const after = { ...patched(before, patch), updated_at: nowS };
    const { version, ...input } = after;
    const steps: NamedSteps = [
      ['user', write.put(user, input, found ? { ifVersion: version } : { ifAbsent: true })],
      ...(await emailSteps(deps.store, before, after)),
    ];
    const { time_zone, retention_days } = after;
    return { answer: { ...after, version: version + 1 }, steps, settings: { time_zone, retention_days } };
  });
}

function patched(before: StoredUser, patch: ProfilePatch): StoredUser {
  const merged = { ...before, ...patch };
  const present = Object.entries(merged).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(present) as StoredUser;
}

async function emailSteps(store: Store, before: StoredUser, after: StoredUser): Promise<NamedSteps> {
  const { user_id } = before;
  const realm = realmOf(user_id);
  if (before.email === after.email) return [];
  const steps: NamedSteps = [];
  if (before.email !== undefined)
    steps.push(['release e-mail', write.delete(emailLock, { realm, email: before.email })]);
  if (after.email !== undefined) {
    const lock = { realm, email: after.email };
    const taken = await store.get(emailLock, lock, { consistent: true, pattern: 'e-mail lock' });
    if (taken) throw tasksErrors.create('tasks.email_taken', 'Somebody else has this e-mail address.');
    steps.push(['claim e-mail', write.put(emailLock, { ...lock, user_id }, { ifAbsent: true })]);
  }
  return steps;
}

export const emailLockOf = (user_id: string, email: string) => ({ realm: realmOf(user_id), email });
