import { failedStep, is, write } from '@stak/table';
import type { Service } from '../deps.ts';
import { parseObject } from '../json-object.ts';
import { emailLock, identityLock, user } from '../tables.ts';
import type { Holdings } from './user-locks.ts';

// Another program that changes or deletes a user knows nothing of locks. What such a user had before must not stay
// reserved for ever.

type Stores = Pick<Service, 'store'>;
type Lock = { tenant_id: string; user_id: string };

/** Releases what is wanted if it is reserved for a user who does not have it. Returns whether anything was. */
export async function releaseStaleLocks(
  { store }: Stores,
  tenant_id: string,
  { email, channel_identities }: Holdings,
): Promise<boolean> {
  const options = { consistent: true, pattern: 'locks of a user' } as const;
  let isAny = false;
  if (email !== undefined) {
    const key = { tenant_id, email: email.toLowerCase() };
    const lock = await store.get(emailLock, key, options);
    const removal = lock && write.delete(emailLock, key, { if: { user_id: lock.user_id } });
    const isHeld = (held: Holdings) => held.email?.toLowerCase() === key.email;
    isAny = removal !== undefined && (await release({ store }, lock!, isHeld, removal));
  }
  for (const [channel, identity] of Object.entries(channel_identities)) {
    const key = { tenant_id, channel, identity };
    const lock = await store.get(identityLock, key, options);
    const removal = lock && write.delete(identityLock, key, { if: { user_id: lock.user_id } });
    const isHeld = ({ channel_identities: held }: Holdings) => held[channel] === identity;
    isAny = (removal !== undefined && (await release({ store }, lock!, isHeld, removal))) || isAny;
  }
  return isAny;
}

// The service writes a user and their locks in one transaction. So a user who is read after the lock, and does not have
// what it reserves, has given it up since, or was written by another program. Nothing is released if they change now.
async function release(
  { store }: Stores,
  { tenant_id, user_id }: Lock,
  isHeld: (held: Holdings) => boolean,
  removal: ReturnType<typeof write.delete>,
): Promise<boolean> {
  const key = { tenant_id, user_id };
  const found = await store.get(user, key, { consistent: true });
  if (found && isHeld(holdingsOf(found))) return false;
  const asRead = found && {
    email: found.email === undefined ? is.absent : found.email,
    channel_identities: found.channel_identities === undefined ? is.absent : found.channel_identities,
  };
  const isSame = asRead
    ? write.check(user, key, { present: true, if: asRead })
    : write.check(user, key, { absent: true });
  try {
    await store.transact({ 'the user': isSame, 'the lock': removal }, { pattern: 'release a stale lock' });
    return true;
  } catch (error) {
    if (failedStep(error) === undefined) throw error;
    return false;
  }
}

// The other program may have written null.
type Stored = { email?: string | null | undefined; channel_identities?: string | null | undefined };
const holdingsOf = ({ email, channel_identities }: Stored): Holdings => ({
  ...(email && { email }),
  channel_identities: parseObject(channel_identities ?? '{}') as Record<string, string>,
});
