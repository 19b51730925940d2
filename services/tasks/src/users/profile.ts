import { failedStep, type NamedStep, type Store, write } from '@stak/table';
import { type CommitDeps, commit, secondsOf } from '../edit/commit.ts';
import { requireVersion } from '../edit/update.ts';
import { tasksErrors } from '../errors.ts';
import { type Owner, ownerOf, tenantOf } from '../owner.ts';
import { email, name, type Profile, type ProfilePatch } from '../schema.ts';
import { emailLock, type StoredUser, user } from '../tables.ts';

export type Person = { email?: string; name?: string; createdAt: string };
export type DescribeOwner = (owner: Owner) => Promise<Person | undefined>;
type UserDeps = Pick<CommitDeps, 'store' | 'clock'> & { describeOwner?: DescribeOwner };

// The design's access pattern "fetch user by user_id". A user who has not written anything has a profile too, as old as
// their account. Reading stores nothing.
export const getUser = async (users: UserDeps, user_id: string): Promise<StoredUser> =>
  (await readUser(users.store, user_id)) ?? newUser(users, user_id);

export const readUser = (store: Store, user_id: string, consistent = false) =>
  store.get(user, { user_id }, { consistent, pattern: 'user by id' });

export async function newUser({ clock, describeOwner }: UserDeps, user_id: string): Promise<StoredUser> {
  const person = await describeOwner?.(ownerOf(user_id));
  const created_at = person ? Math.floor(Date.parse(person.createdAt) / 1000) : secondsOf(clock);
  const known = {
    email: email.safeParse(person?.email).data,
    name: name.safeParse(person?.name).data,
  };
  const unset = { user_id, time_zone: 'UTC', created_at, updated_at: created_at, version: 0 };
  return present({ ...unset, ...known }) as StoredUser;
}

// Stores the profile with the user's first write. False after a conflict, also about the e-mail address.
export async function ensureUser(users: UserDeps, user_id: string): Promise<boolean> {
  const { store } = users;
  if (await readUser(store, user_id, true)) return true;
  const { version: _, ...made } = await newUser(users, user_id);
  const isFree = made.email !== undefined && !(await readLock(store, user_id, made.email));
  const steps: NamedStep[] = [
    ['user', write.put(user, isFree ? made : present({ ...made, email: undefined }), { ifAbsent: true })],
    ...(isFree ? [claimStep(user_id, made.email!)] : []),
  ];
  try {
    await store.transact(steps, { pattern: 'store user' });
    return true;
  } catch (error) {
    if (failedStep(error) === undefined) throw error;
    return false;
  }
}

export const showUser = ({ user_id: _user, feed_hash: _feed, ...profile }: StoredUser): Profile => profile;

// E-mail addresses are unique among accounts, and among the users of each tenant, so that they reveal nothing about
// users elsewhere.
const realmOf = (user_id: string): string => {
  const tenant = tenantOf(user_id);
  return tenant === undefined ? 'accounts' : `tenant:${encodeURIComponent(tenant)}`;
};

export function updateUser(
  deps: CommitDeps & UserDeps,
  user_id: string,
  patch: ProfilePatch,
  expected?: string,
): Promise<StoredUser> {
  return commit(deps, user_id, 'update user', async ({ nowS }) => {
    const found = await readUser(deps.store, user_id, true);
    const before = found ?? (await newUser(deps, user_id));
    requireVersion(before.version, expected);
    const wanted = { ...patched(before, patch), updated_at: nowS };
    const { after, steps: emailSteps } = await settleEmail(deps.store, found?.email, wanted, patch);
    const { version, ...input } = after;
    const steps: NamedStep[] = [
      ['user', write.put(user, input, found ? { ifVersion: version } : { ifAbsent: true })],
      ...emailSteps,
    ];
    const { time_zone, retention_days } = after;
    return { answer: { ...after, version: version + 1 }, steps, settings: { time_zone, retention_days } };
  });
}

const patched = (before: StoredUser, patch: ProfilePatch): StoredUser =>
  present({ ...before, ...patch }) as StoredUser;

const present = <T extends object>(item: T) =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined && value !== null)) as {
    [A in keyof T]: NonNullable<T[A]>;
  };

// An address that the user asked for is refused if it is taken. One that comes from the account is left out.
export async function settleEmail(
  store: Store,
  held: string | undefined,
  after: StoredUser,
  patch: ProfilePatch = {},
): Promise<{ after: StoredUser; steps: NamedStep[] }> {
  const { user_id, email: wanted } = after;
  if (held === wanted) return { after, steps: [] };
  const steps: NamedStep[] = [];
  if (held !== undefined) steps.push(['release e-mail', write.delete(emailLock, emailLockOf(user_id, held))]);
  if (wanted === undefined) return { after, steps };
  if (!(await readLock(store, user_id, wanted)))
    return { after, steps: [...steps, claimStep(user_id, wanted)] };
  if (patch.email != null) throw tasksErrors.create('tasks.email_taken', 'This e-mail address is taken.');
  return { after: present({ ...after, email: undefined }) as unknown as StoredUser, steps };
}

const readLock = (store: Store, user_id: string, address: string) =>
  store.get(emailLock, emailLockOf(user_id, address), { consistent: true, pattern: 'e-mail lock' });

const claimStep = (user_id: string, address: string): NamedStep => [
  'claim e-mail',
  write.put(emailLock, { ...emailLockOf(user_id, address), user_id }, { ifAbsent: true }),
];

export const emailLockOf = (user_id: string, address: string) => ({
  realm: realmOf(user_id),
  email: address,
});
