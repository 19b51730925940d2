import { type ResultOf, type WriteStep, write } from '@stak/table';
import type { Service } from '../deps.ts';
import { tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import {
  channelMapping,
  emailLock,
  erasure,
  everythingOfTenant,
  identityLock,
  invitation,
  portalProvider,
  portalSession,
  propertiesSchema,
  sessionsOfUser,
  signIn,
  signInsOfTenant,
  tenantCount,
  tenantsOfAccount,
  tokenEpoch,
  user,
  userCount,
} from '../tables.ts';
import { releaseChannel } from '../tenants/channels.ts';
import { invitationIdOf } from '../users/user-locks.ts';
import { deleteUser, userOf } from '../users/users.ts';
import type { Erased, Eraser, ExportedItem } from './erasers.ts';
import { deleteTenant, ownStep } from './erasures.ts';

// Erases the data of this service. For an account, that is its tenants: each gets a job of its own.
export function createOwnEraser(deps: Service): Required<Eraser> {
  return {
    name: ownStep,
    eraseUser: (tenantId, userId) => eraseOwnUser(deps, tenantId, userId),
    eraseTenant: tenantId => eraseOwnTenant(deps, tenantId),
    eraseAccount: accountId => eraseAccountsTenants(deps, accountId),
    exportUser: (tenantId, userId) => exportOwnUser(deps, tenantId, userId),
  };
}

async function eraseOwnUser(deps: Service, tenant_id: string, user_id: string): Promise<Erased> {
  const left: WriteStep[] = [];
  for await (const one of deps.store.all(sessionsOfUser, { tenant_id, user_id }))
    left.push(write.delete(portalSession, one));
  for await (const one of deps.store.all(signInsOfTenant, { tenant_id }))
    if (one.user_id === user_id) left.push(write.delete(signIn, one));
  if (left.length > 0) await deps.store.batchWrite(left, { pattern: 'erase a user' });
  const found = await deps.store.get(user, { tenant_id, user_id }, { consistent: true });
  if (found) await deleteUser(deps, tenant_id, user_id);
  return 'done';
}

async function eraseOwnTenant(deps: Service, tenant_id: string): Promise<Erased> {
  const { store } = deps;
  const page = await store.query(everythingOfTenant, { tenant_id }, { limit: limits.erasureItems });
  const deletions: WriteStep[] = [];
  for (const found of page.items) {
    if (found.entity === 'channel mapping') await freeChannel(deps, found.item);
    else if (found.entity !== 'erasure') deletions.push(deletionOf(found));
    // The current job is needed to the end, and then for its record.
    else if (found.item.subject === 'user') deletions.push(write.delete(erasure, found.item));
  }
  if (deletions.length > 0) await store.batchWrite(deletions, { pattern: 'erase a tenant' });
  return page.cursor === undefined ? 'done' : 'more';
}

type TenantItem = ResultOf<typeof everythingOfTenant>;

function deletionOf(found: Exclude<TenantItem, { entity: 'channel mapping' | 'erasure' }>): WriteStep {
  switch (found.entity) {
    case 'user':
      return write.delete(user, found.item);
    case 'count of users':
      return write.delete(userCount, found.item);
    case 'e-mail of a user':
      return write.delete(emailLock, found.item);
    case 'channel identity of a user':
      return write.delete(identityLock, found.item);
    case 'schema of custom properties':
      return write.delete(propertiesSchema, found.item);
    case 'invitation':
      return write.delete(invitation, found.item);
    case 'token epoch of a user':
      return write.delete(tokenEpoch, found.item);
    case 'sign-in of a user':
      return write.delete(signIn, found.item);
    case 'session of a user':
      return write.delete(portalSession, found.item);
    case 'provider of a tenant':
      return write.delete(portalProvider, found.item);
  }
}

// The claim is deleted with the mapping, so that another tenant can have the channel. A mapping of an older version has
// no claim.
async function freeChannel(
  deps: Service,
  channel: { tenant_id: string; type: string; channel_id: string },
): Promise<void> {
  try {
    await releaseChannel(deps, channel.tenant_id, channel);
  } catch (error) {
    if (!tenantErrors.includes(error) || error.code !== 'tenants.channel_not_found') throw error;
    await deps.store.delete(channelMapping, channel);
  }
}

async function eraseAccountsTenants(deps: Service, account_id: string): Promise<Erased> {
  const { items } = await deps.store.query(
    tenantsOfAccount,
    { account_id },
    { limit: limits.erasureTenants },
  );
  for (const { tenant_id } of items) await deleteTenant(deps, tenant_id, account_id);
  if (items.length === limits.erasureTenants) return 'more';
  await deps.store.delete(tenantCount, { account_id });
  return 'done';
}

async function* exportOwnUser(
  { store }: Service,
  tenant_id: string,
  user_id: string,
): AsyncGenerator<ExportedItem> {
  const item = await store.get(user, { tenant_id, user_id }, { consistent: true });
  if (item) yield { kind: 'user', item: userOf(item) };
  if (item?.email !== undefined) {
    const invitation_id = invitationIdOf(tenant_id, item.email);
    const invited = await store.get(invitation, { tenant_id, invitation_id }, { consistent: true });
    if (invited) yield { kind: 'invitation', item: without(invited, 'token_hash', 'ttl') };
  }
  for await (const one of store.all(sessionsOfUser, { tenant_id, user_id }))
    yield { kind: 'session', item: without(one, 'sealed_secret', 'generation', 'rotated_at_ms', 'ttl') };
}

const without = <T extends object>(item: T, ...names: (keyof T)[]): object =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name as keyof T)));
