import { createRecentMap } from '@stak/kit';
import { failedStep, type ItemOf, is, type NamedStep, ref, write } from '@stak/table';
import { type Service, timestampOf } from '../deps.ts';
import { parseObject } from '../json-object.ts';
import * as limits from '../limits.ts';
import { userId } from '../schema.ts';
import { emailLock, identityLock, user, usersOfTenant } from '../tables.ts';
import { usersCounted } from '../tenants/counts.ts';
import { releaseStaleLocks } from './stale-locks.ts';
import { type Holdings, lockSteps } from './user-locks.ts';

// A user that another program wrote as the document describes has no version, and nothing reserves their address and
// identities. They get what they lack when they are first read, or when somebody is looked for who is not found. What
// the document does not allow is left alone.

type UserItem = ItemOf<typeof user>;
type AdoptDeps = Pick<Service, 'store' | 'clock' | 'log'>;

export async function adoptUser(
  deps: Service,
  tenant_id: string,
  stored: UserItem,
): Promise<UserItem | undefined> {
  if (stored.version !== undefined) return stored;
  const whole = wholeUser(deps, tenant_id, stored);
  if (!whole) return undefined;
  const { user_id } = whole;
  for (let left = limits.adoptAttempts; left > 0; left--)
    try {
      await deps.store.transact(await adoptionSteps(deps, whole, stored), { pattern: 'adopt a user' });
      break;
    } catch (error) {
      // Another process adopted them, or somebody took their address.
      if (failedStep(error) === undefined) throw error;
    }
  const found = await deps.store.get(user, { tenant_id, user_id }, { consistent: true });
  return found?.version === undefined ? undefined : found;
}

// An address or identity that somebody else has is left out: no two users of a tenant share one.
async function adoptionSteps(deps: Service, whole: UserItem, stored: UserItem): Promise<NamedStep[]> {
  const { tenant_id, user_id, version: _, email, ...given } = whole;
  const { taken, held } = await readFreeLocks(deps, whole);
  // Only a user who was adopted, and counted, before has something reserved. One without an address may have been, too.
  const isCounted = held.email !== undefined || Object.keys(held.channel_identities).length > 0;
  const identities = Object.entries(identitiesOf(whole)).filter(([channel]) => !taken.has(channel));
  const channel_identities = Object.fromEntries(identities);
  const isFree = email !== undefined && !taken.has(addressOf);
  if (taken.size > 0)
    deps.log.warn({ tenant_id, user_id }, 'a user of another program had what belongs to another user');
  // Only what they lack: the other program may have changed the rest since.
  const all = { ...given, channel_identities: JSON.stringify(channel_identities) };
  const set = Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== stored[name as keyof UserItem]),
  );
  const change = { set, ...(!isFree && stored.email !== undefined && { remove: ['email' as const] }) };
  // An attribute that the other program has set to null is there, so `??` would not do.
  const unchanged = {
    version: is.absent,
    channel_identities: stored.channel_identities === undefined ? is.absent : stored.channel_identities,
    email: stored.email === undefined ? is.absent : stored.email,
  };
  const counted = usersCounted(deps, tenant_id);
  return [
    ['the user', write.update(user, { tenant_id, user_id }, change, { if: unchanged })],
    ...lockSteps(whole, held, { channel_identities, ...(isFree && { email }) }),
    ...(!isCounted && (await counted.read())
      ? ([['the count', counted.addUncertain()]] satisfies NamedStep[])
      : []),
  ];
}

// Locks of users who do not hold them any more are free.
async function readFreeLocks(deps: Service, whole: UserItem) {
  const { tenant_id, email } = whole;
  const locks = await readLocks(deps, whole);
  if (locks.taken.size === 0) return locks;
  const wanted = { ...(email && { email }), channel_identities: identitiesOf(whole) };
  return (await releaseStaleLocks(deps, tenant_id, wanted)) ? readLocks(deps, whole) : locks;
}

const addressOf = ''; // no channel is called so

const identitiesOf = ({ channel_identities }: UserItem) =>
  parseObject(channel_identities) as Record<string, string>;

// Reads which of their address and channels others have, and what they hold already: the other program may have
// written them again.
async function readLocks({ store }: AdoptDeps, whole: UserItem) {
  const { tenant_id, user_id, email } = whole;
  const channels = Object.entries(identitiesOf(whole));
  const taken = new Set<string>();
  const held: Holdings & { channel_identities: Record<string, string> } = { channel_identities: {} };
  const options = { consistent: true, pattern: 'locks of a user' } as const;
  const address = email && (await store.get(emailLock, { tenant_id, email: email.toLowerCase() }, options));
  if (address && address.user_id === user_id) held.email = email;
  else if (address) taken.add(addressOf);
  if (channels.length === 0) return { taken, held };
  const refs = channels.map(([channel, identity]) => ref(identityLock, { tenant_id, channel, identity }));
  const found = await store.batchGet(refs, options);
  for (const [i, [channel, identity]] of channels.entries()) {
    if (found[i] && found[i].user_id === user_id) held.channel_identities[channel] = identity;
    else if (found[i]) taken.add(channel);
  }
  return { taken, held };
}

function wholeUser({ clock }: AdoptDeps, tenant_id: string, stored: UserItem): UserItem | undefined {
  const present = Object.fromEntries(
    Object.entries(stored).filter(([, value]) => value !== null && value !== ''),
  ) as Partial<UserItem>;
  const now = timestampOf(clock.now());
  const { created_at = now, updated_at = created_at } = present;
  const identities = Object.values(parseObject(present.channel_identities ?? '{}'));
  if (
    !userId.safeParse(present.user_id).success ||
    !identities.every(identity => typeof identity === 'string' && identity)
  )
    return undefined;
  const defaults = { channel_identities: '{}', preferences: '{}', custom_properties: '{}' };
  return user.schema.safeParse({ ...defaults, ...present, tenant_id, created_at, updated_at, version: 0 })
    .data as UserItem | undefined;
}

/** Adopts the users of a tenant that are older than this service, or that another program has just written. */
// Reads all users of the tenant, so it is not repeated for a while.
export function createUserAdoption() {
  const scans = createRecentMap<string, { atMs: number; scan: Promise<boolean> }>(limits.adoptedTenants);
  return (deps: Service, tenant_id: string): Promise<boolean> => {
    const atMs = deps.clock.now();
    const known = scans.get(tenant_id);
    if (known && Math.abs(atMs - known.atMs) < limits.adoptPauseMs) return known.scan;
    const scan = adoptUsers(deps, tenant_id);
    scans.set(tenant_id, { atMs, scan });
    scan.catch(() => scans.delete(tenant_id));
    return scan;
  };
}

async function adoptUsers(deps: Service, tenant_id: string): Promise<boolean> {
  let isAny = false;
  const foreign = { filter: { version: is.absent } };
  for await (const one of deps.store.all(usersOfTenant, { tenant_id }, foreign))
    isAny = (await adoptUser(deps, tenant_id, one)) !== undefined || isAny;
  return isAny;
}
