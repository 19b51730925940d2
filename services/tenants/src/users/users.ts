import { type PageRequest, versionMismatch } from '@stak/http';
import { failedCondition, type ItemOf, isRefused, type NamedStep, type WriteStep, write } from '@stak/table';
import { epochItem } from '../access/token-epochs.ts';
import { type Service, timestampOf } from '../deps.ts';
import { noUser, tenantErrors, tooLarge } from '../errors.ts';
import { mergePatch, parseObject } from '../json-object.ts';
import * as limits from '../limits.ts';
import { type NewUser, type UserPatch, withinBytes } from '../schema.ts';
import { emailLock, identityLock, invitation, tokenEpoch, user, usersOfTenant } from '../tables.ts';
import { addCounted, removalSteps, roomFor, usersCounted } from '../tenants/counts.ts';
import { checkProperties } from '../tenants/custom-properties.ts';
import { idFromKey } from '../tenants/tenants.ts';
import { adoptUser } from './adopt.ts';
import { endSessions, losesProof, stepsToEndSessions } from './portal-sessions.ts';
import { releaseStaleLocks } from './stale-locks.ts';
import { type Holdings, invitationIdOf, lockSteps, newlyHeld, nothingHeld } from './user-locks.ts';

type UserItem = ItemOf<typeof user>;
type Owned = { tenant_id: string; account_id: string };
export type User = Omit<
  UserItem,
  'channel_identities' | 'preferences' | 'custom_properties' | 'request_key'
> & {
  channel_identities: Record<string, string>;
  preferences: Record<string, unknown>;
  custom_properties: Record<string, unknown>;
};

// JSON in strings becomes objects.
export function userOf(item: UserItem): User {
  const { request_key: _, ...shown } = item;
  return {
    ...shown,
    channel_identities: parseObject(item.channel_identities) as Record<string, string>,
    preferences: parseObject(item.preferences),
    custom_properties: parseObject(item.custom_properties),
  };
}

export async function createUser(
  deps: Service,
  entered: Owned,
  body: NewUser,
  request_key?: string,
): Promise<User> {
  const { tenant_id } = entered;
  await checkProperties(deps, tenant_id, body.custom_properties);
  const generated = request_key === undefined ? deps.ids.next('u') : idFromKey('u_', request_key);
  const item = newUserItem(deps, { ...body, tenant_id, user_id: body.user_id ?? generated, request_key });
  try {
    await reserve(deps, tenant_id, body, () => addUser(deps, entered, creationSteps(item), 'create a user'));
    return userOf(item);
  } catch (error) {
    const { step, current } = failedCondition(error) ?? {};
    const made = step === 'the user' ? (current as UserItem | undefined) : undefined;
    if (made && request_key !== undefined && made.request_key === request_key) return userOf(made);
    throw refusalOf(error);
  }
}

/** Writes a user with what is unique to them, considering users that another program has written. */
// Users of other programs reserve nothing before they are adopted, and leave locks behind when they are written again or
// deleted.
export async function reserve(
  deps: Service,
  tenant_id: string,
  wanted: Holdings,
  work: () => Promise<unknown>,
): Promise<void> {
  const needsLock = wanted.email !== undefined || Object.keys(wanted.channel_identities).length > 0;
  if (needsLock) await deps.adoptUsers(deps, tenant_id);
  try {
    await work();
  } catch (error) {
    const isTaken = /^hold the /.test(failedCondition(error)?.step ?? '');
    if (!isTaken || !(await releaseStaleLocks(deps, tenant_id, wanted))) throw error;
    await work();
  }
}

export function newUserItem(
  { clock }: Service,
  body: NewUser & { tenant_id: string; user_id: string; request_key?: string },
): UserItem {
  const created_at = timestampOf(clock.now());
  return {
    ...body,
    channel_identities: JSON.stringify(body.channel_identities),
    preferences: JSON.stringify(body.preferences),
    custom_properties: JSON.stringify(body.custom_properties),
    created_at,
    updated_at: created_at,
    version: 1,
  };
}

/** The transaction that makes a user, if the plan has room for another one. */
export async function addUser(
  deps: Service,
  { tenant_id, account_id }: Owned,
  steps: readonly NamedStep[],
  pattern: string,
): Promise<void> {
  const limit = await roomFor(deps, account_id, 'usersPerTenant');
  await addCounted(deps, usersCounted(deps, tenant_id), { account_id, limit }, counting =>
    deps.store.transact([...steps, ...counting], { pattern }),
  );
}

export const creationSteps = (item: UserItem): NamedStep[] => [
  ['the user', write.put(user, item, { ifAbsent: true })],
  ...lockSteps(item, nothingHeld, userOf(item)),
];

// Tells the caller which condition of a user's transaction failed. Other errors stay as they are.
export function refusalOf(error: unknown): unknown {
  const failed = failedCondition(error);
  if (!failed) return error;
  if (failed.step === 'the user') return tenantErrors.create('tenants.user_exists', 'This user id is taken.');
  if (failed.step === 'hold the e-mail')
    return tenantErrors.create('tenants.email_taken', 'Another user has this e-mail address.');
  const channel = /^hold the identity on (.+)$/.exec(failed.step)?.[1];
  return channel === undefined
    ? error
    : tenantErrors.create('tenants.identity_taken', `Another user has this identity on ${channel}.`, {
        channel,
      });
}

export async function getUser(deps: Service, tenant_id: string, user_id: string): Promise<User> {
  const stored = await deps.store.get(user, { tenant_id, user_id }, { consistent: true });
  const item = stored && (await adoptUser(deps, tenant_id, stored));
  if (!item) throw noUser();
  return userOf(item);
}

type Page = { items: User[]; cursor?: string };

export async function listUsers(deps: Service, tenant_id: string, page: PageRequest): Promise<Page> {
  const { items, cursor } = await deps.store.query(usersOfTenant, { tenant_id }, page);
  const whole: UserItem[] = [];
  for (const item of items) {
    const adopted = await adoptUser(deps, tenant_id, item);
    if (adopted) whole.push(adopted);
  }
  return { items: whole.map(userOf), cursor };
}

// The lock names the user, so no other is read. Between the two reads the user may have given up the lock.
export async function findByEmail(deps: Service, tenant_id: string, given: string): Promise<Page> {
  const email = given.toLowerCase();
  const read = () => deps.store.get(emailLock, { tenant_id, email }, { consistent: true });
  return findLocked(deps, tenant_id, read, one => one.email?.toLowerCase() === email);
}

export async function findByIdentity(
  deps: Service,
  tenant_id: string,
  channel: string,
  identity: string,
): Promise<Page> {
  const read = () => deps.store.get(identityLock, { tenant_id, channel, identity }, { consistent: true });
  return findLocked(deps, tenant_id, read, found => found.channel_identities[channel] === identity);
}

// Among the first users of a tenant, and at most so many.
export async function listAdmins({ store }: Service, tenant_id: string): Promise<string[]> {
  const admins: string[] = [];
  let seen = 0;
  for await (const { role, user_id } of store.all(usersOfTenant, { tenant_id })) {
    if (role === 'admin') admins.push(user_id);
    if (admins.length === limits.adminsNotified || ++seen === limits.usersSearched) break;
  }
  return admins;
}

// A user that another program wrote has no lock yet, or somebody else still has it.
async function findLocked(
  deps: Service,
  tenant_id: string,
  readLock: () => Promise<{ tenant_id: string; user_id: string } | undefined>,
  isStillSo: (found: User) => boolean,
): Promise<Page> {
  const find = async (): Promise<User[]> => {
    const lock = await readLock();
    const item = lock && (await deps.store.get(user, lock, { consistent: true }));
    const found = item && userOf(item);
    return found && isStillSo(found) ? [found] : [];
  };
  const items = await find();
  const mayBeForeign = items.length === 0 && (await deps.adoptUsers(deps, tenant_id));
  return { items: mayBeForeign ? await find() : items };
}

export async function patchUser(
  deps: Service,
  tenant_id: string,
  user_id: string,
  patch: UserPatch,
  expected: string | undefined,
): Promise<User> {
  const before = await getUser(deps, tenant_id, user_id);
  if (expected !== undefined && expected !== String(before.version)) throw versionMismatch();
  const after = merge(before, patch);
  if (patch.custom_properties) await checkProperties(deps, tenant_id, after.custom_properties);
  const updated_at = timestampOf(deps.clock.now());
  const steps: [string, WriteStep][] = [
    [
      'change the user',
      write.update(
        user,
        { tenant_id, user_id },
        {
          set: {
            display_name: after.display_name,
            role: after.role,
            email: after.email,
            channel_identities: JSON.stringify(after.channel_identities),
            preferences: JSON.stringify(after.preferences),
            custom_properties: JSON.stringify(after.custom_properties),
            updated_at,
          },
          ...(after.email === undefined && { remove: ['email' as const] }),
        },
        { ifVersion: before.version },
      ),
    ],
  ];
  // A token says what its user may do, and would continue saying so.
  const isDemoted = before.role === 'admin' && after.role !== 'admin';
  if (isDemoted) {
    await deps.announce({ tenant: tenant_id, user: user_id });
    steps.push(['revoke its tokens', write.put(tokenEpoch, epochItem(deps, tenant_id, user_id))]);
  }
  const isStrangers = losesProof(before, after);
  const ending = isStrangers ? await stepsToEndSessions(deps, { tenant_id, user_id }) : undefined;
  if (ending && !isDemoted) await deps.announce({ tenant: tenant_id, user: user_id });
  const all = [...steps, ...lockSteps(before, before, after), ...(ending?.steps ?? [])];
  const taken = newlyHeld(before, after);
  try {
    await reserve(deps, tenant_id, taken, () => deps.store.transact(all, { pattern: 'change a user' }));
  } catch (error) {
    throw failedCondition(error)?.step === 'change the user' ? versionMismatch() : refusalOf(error);
  }
  if (isDemoted) deps.epochs.forgetUser(tenant_id, user_id);
  ending?.forget();
  // A session that began during the read is in the table by now, and none can follow.
  if (ending) await endSessions(deps, { tenant_id, user_id });
  return { ...after, updated_at, version: before.version + 1 };
}

function merge(before: User, { email, ...patch }: UserPatch): User {
  const after = mergePatch(before, patch) as User;
  if (email === null) delete after.email;
  else if (email !== undefined) after.email = email;
  if (!withinBytes(limits.preferencesBytes)(after.preferences))
    throw tooLarge('preferences', limits.preferencesBytes);
  if (!withinBytes(limits.propertiesBytes)(after.custom_properties))
    throw tooLarge('custom properties', limits.propertiesBytes);
  if (Object.keys(after.channel_identities).length > limits.identitiesPerUser)
    throw tenantErrors.create(
      'tenants.too_large',
      `A user can have at most ${limits.identitiesPerUser} channel identities.`,
    );
  return after;
}

// With the user go what it held, every token it was given, and an invitation to its address, which would bring it back.
export async function deleteUser(
  deps: Service,
  tenant_id: string,
  user_id: string,
  expected?: string,
): Promise<void> {
  const before = await getUser(deps, tenant_id, user_id);
  if (expected !== undefined && expected !== String(before.version)) throw versionMismatch();
  const counting = await removalSteps(usersCounted(deps, tenant_id));
  await deps.announce({ tenant: tenant_id, user: user_id });
  const steps: [string, WriteStep][] = [
    ['remove the user', write.delete(user, { tenant_id, user_id }, { ifVersion: before.version })],
    ['revoke its tokens', write.put(tokenEpoch, epochItem(deps, tenant_id, user_id))],
  ];
  if (before.email !== undefined) {
    const invitation_id = invitationIdOf(tenant_id, before.email);
    steps.push(['revoke its invitation', write.delete(invitation, { tenant_id, invitation_id })]);
  }
  try {
    await deps.store.transact([...steps, ...lockSteps(before, before, nothingHeld), ...counting], {
      pattern: 'delete a user',
    });
  } catch (error) {
    throw isRefused(error) ? versionMismatch() : error;
  }
  deps.epochs.forgetUser(tenant_id, user_id);
  await deps.endAccess?.(tenant_id, user_id);
}
