import { membersOf, profile } from '@stak/accounts/tables';
import { createRecentMap } from '@stak/kit';
import {
  type AnyEntity,
  type AnyTable,
  type Attributes,
  createOwners,
  type Owner,
  recognise,
  type Store,
} from '@stak/table';
import { tenant } from '@stak/tenants/tables';
import { connectionPointer, sourcesOfUser } from '@stak/webhooks/tables';
import { UsageError } from '../../config/errors.ts';
import { ownTenant } from '../own-tenant.ts';
import { countedTables, type OwnerKind, ownersOfServices } from '../storage.ts';

// An account has the items whose storage it pays for, and Stak's own messages to it. Everything else stays with the
// server: signing keys, rate limits, idempotency keys, checkpoints of consumers.

export const accountTables: readonly AnyTable[] = countedTables;

/** Finds the owners of items. Throws if an entity of a table is in no service's list. */
export const createAccountOwners = () =>
  createOwners(
    countedTables,
    ownersOfServices.flatMap(({ owners }) => owners),
  );

const findOwner = createAccountOwners();

export type AccountItems = {
  readonly ids: readonly string[];
  readonly people: readonly string[]; // members of these accounts whose own account is not among them
  has(table: AnyTable, item: Attributes): Promise<boolean>;
};

const ownersKept = 20_000; // tenants and connections that were looked up, about 100 bytes each

/** Distinguishes the items of these accounts from all others. */
export async function openAccounts(store: Store, given: readonly string[]): Promise<AccountItems> {
  const accounts = new Set(given);
  const ids = [...accounts].toSorted();
  const sources = new Set<string>();
  const people = new Set<string>();
  for (const userId of ids) {
    const storedProfile = await store.get(profile, { userId }, { consistent: true });
    if (!storedProfile) throw new UsageError(`there is no account ${userId}`);
    if (storedProfile.deletingAt !== undefined)
      throw new UsageError(`the account ${userId} is being deleted`);
    for await (const { sourceId } of store.all(sourcesOfUser, { userId })) sources.add(sourceId);
    for await (const membership of store.all(membersOf, { accountId: userId }))
      if (!accounts.has(membership.userId)) people.add(membership.userId);
  }
  const isOurs = remember(ownersKept, async ({ kind, id }: Owner<OwnerKind>) => {
    if (kind === 'account') return accounts.has(id);
    if (kind === 'source') return sources.has(id);
    const owner =
      kind === 'tenant'
        ? (await store.get(tenant, { tenant_id: id }, { consistent: true }))?.account_id
        : (await store.get(connectionPointer, { connectionId: id }, { consistent: true }))?.userId;
    return owner !== undefined && accounts.has(owner);
  });
  return {
    ids,
    people: [...people],
    async has(table, item) {
      const found = findOwner(table, item, () => item);
      if (!found) return false;
      const { owner, entity } = found;
      return owner.kind === 'tenant' && owner.id === ownTenant
        ? accounts.has(userIn(entity, item) ?? '')
        : isOurs(owner);
    },
  };
}

function remember<Kind extends string>(most: number, ask: (owner: Owner<Kind>) => Promise<boolean>) {
  const cache = createRecentMap<string, boolean>(most);
  return async (owner: Owner<Kind>): Promise<boolean> => {
    const name = `${owner.kind} ${owner.id}`;
    const answer = cache.get(name) ?? (await ask(owner));
    cache.set(name, answer);
    return answer;
  };
}

// The user whose mailbox an item is in; undefined for a send.
export function userIn(entity: AnyEntity, item: Attributes): string | undefined {
  if (!entity.key.params.includes('uid')) return undefined;
  return (recognise([entity], item)?.item as { uid?: string } | undefined)?.uid;
}
