import { failedStep, is, type WriteStep, write } from '@stak/table';
import { type Base, isoTime } from '../deps.ts';
import { accountsErrors, userNotFound } from '../errors.ts';
import { type Profile, profile } from '../main-table.ts';
import type { PlanName } from '../plans.ts';
import { emailSchema } from '../schema.ts';
import { explainLock, lockSteps, locks, type Unique, uniques } from './locks.ts';

export type MonthlyUsage = { usageThisMonth: number; usagePeriodStart: string };

// A user as specified: with the month's usage, which is counted in separate items.
export type User = Profile & MonthlyUsage;

type UsersDeps = Base & {
  usage: {
    add(userId: string, count: number): Promise<void>;
    read(userId: string): Promise<MonthlyUsage>;
    none(): MonthlyUsage;
  };
};

export type NewUser = {
  email: string;
  name: string;
  emailVerified?: boolean;
  passwordHash?: string;
  plan?: PlanName;
  githubId?: string;
  googleId?: string;
  isOrganisation?: boolean;
  madeFor?: string;
  claimedEmail?: string;
};

type Editable = Omit<Profile, 'userId' | 'createdAt' | 'updatedAt' | 'version' | 'deletingAt'>;
type Required = 'email' | 'name' | 'plan';
// Null removes an attribute.
export type UserChange = { [A in keyof Editable]?: Editable[A] | (A extends Required ? never : null) };

type UpdateOptions = {
  ifVersion?: number;
  // Written in the same transaction: an audit entry, the mark of an applied event.
  also?: Readonly<Record<string, WriteStep>>;
};

export type Users = {
  // A new user, and the steps that create them.
  prepare(input: NewUser, userId: string): { made: Profile; steps: [string, WriteStep][] };
  create(input: NewUser, also?: Readonly<Record<string, WriteStep>>, userId?: string): Promise<User>;
  getById(userId: string): Promise<User | null>;
  getByEmail(email: string): Promise<User | null>;
  // By any value that belongs to one user only.
  getByUnique(unique: Unique, value: string): Promise<User | null>;
  update(userId: string, change: UserChange, options?: UpdateOptions): Promise<User>;
  incrementUsage(userId: string, count?: number): Promise<void>;
  // The stored item alone, without its usage: one read.
  readProfile(userId: string): Promise<Profile | undefined>;
  findProfile(unique: Unique, value: string): Promise<Profile | undefined>;
};

export function createUsers({ store, clock, ids, usage }: UsersDeps): Users {
  const readProfile = (userId: string) => store.get(profile, { userId }, { consistent: true });

  const findProfile = async (unique: Unique, value: string): Promise<Profile | undefined> => {
    const userId = await locks[unique].owner(store, value);
    // Always two reads, so that the duration does not reveal whether the value is taken.
    const profile = await readProfile(userId ?? 'nobody');
    // The value may have moved to another user between the two reads.
    return profile?.[unique] === value ? profile : undefined;
  };

  const withUsage = async (stored: Profile): Promise<User> => ({
    ...stored,
    ...(await usage.read(stored.userId)),
  });
  const orNull = async (stored: Profile | undefined) => (stored ? withUsage(stored) : null);

  const prepare: Users['prepare'] = (input, userId) => {
    const now = isoTime(clock.now());
    const made = {
      plan: 'free' as const,
      ...input,
      email: isOurs(input) ? input.email : emailSchema.parse(input.email),
      userId,
      createdAt: now,
      updatedAt: now,
      version: 1,
    };
    const put = write.put(profile, made, { ifAbsent: true });
    return { made, steps: [['the user', put], ...lockSteps(userId, {}, made)] };
  };

  return {
    readProfile,
    findProfile,
    prepare,

    async create(input, also = {}, userId = ids.next('usr')) {
      const { made, steps } = prepare(input, userId);
      await store.transact([...steps, ...Object.entries(also)], { pattern: 'create user' }).catch(error => {
        throw explainLock(error);
      });
      return { ...made, ...usage.none() };
    },

    getById: async userId => orNull(await readProfile(userId)),
    getByEmail: async email => {
      const parsed = emailSchema.safeParse(email);
      return parsed.success ? orNull(await findProfile('email', parsed.data)) : null;
    },
    getByUnique: async (unique, value) => orNull(await findProfile(unique, value)),

    async update(userId, change, { ifVersion, also = {} } = {}) {
      const current = await readProfile(userId);
      if (!current) throw userNotFound();
      const wanted = { ...change };
      if (wanted.email !== undefined) wanted.email = emailSchema.parse(wanted.email);
      const { set, remove } = clausesOf(wanted);
      const steps: [string, WriteStep][] = [
        [
          'the user',
          write.update(
            profile,
            { userId },
            { set: { ...set, updatedAt: isoTime(clock.now()) }, remove },
            { ifVersion, if: { deletingAt: is.absent, ...unchangedUniques(current, wanted) } },
          ),
        ],
        ...lockSteps(userId, current, { ...current, ...set, ...removedUniques(remove) }),
        ...Object.entries(also),
      ];
      await store.transact(steps, { pattern: 'update user' }).catch(error => {
        throw explainUpdate(error, ifVersion);
      });
      const updated = await readProfile(userId);
      if (!updated) throw userNotFound();
      return withUsage(updated);
    },

    incrementUsage: (userId, count = 1) => usage.add(userId, count),
  };
}

// These have an address of our own making, which receives no mail.
const isOurs = ({ isOrganisation, madeFor }: NewUser): boolean =>
  isOrganisation === true || madeFor !== undefined;

function clausesOf(change: UserChange): { set: Partial<Editable>; remove: (keyof Editable)[] } {
  const set: Record<string, unknown> = {};
  const remove: (keyof Editable)[] = [];
  for (const [name, value] of Object.entries(change))
    if (value === null) remove.push(name as keyof Editable);
    else if (value !== undefined) set[name] = value;
  return { set: set as Partial<Editable>, remove };
}

const removedUniques = (removed: readonly string[]) =>
  Object.fromEntries(
    uniques.filter(attribute => removed.includes(attribute)).map(attribute => [attribute, undefined]),
  );

// Locks are moved based on the values that were read, which must be unchanged.
function unchangedUniques(current: Profile, change: UserChange) {
  const touched = uniques.filter(unique => change[unique] !== undefined);
  return Object.fromEntries(touched.map(unique => [unique, current[unique] ?? is.absent]));
}

function explainUpdate(error: unknown, ifVersion: number | undefined): unknown {
  const failed = failedStep(error);
  if (failed?.step !== 'the user' || failed.reason !== 'condition_failed') return explainLock(error);
  const current = failed.current as Profile | undefined;
  if (!current) return userNotFound();
  if (current.deletingAt !== undefined)
    return accountsErrors.create('accounts.being_deleted', 'This account is being deleted.');
  return accountsErrors.create('accounts.changed', 'The account has changed in the meantime. Try again.', {
    ifVersion,
  });
}

export async function readUser(users: Pick<Users, 'readProfile'>, userId: string): Promise<Profile> {
  const user = await users.readProfile(userId);
  if (!user) throw userNotFound();
  return user;
}
