import { ownedByItem, ownedByKey } from '@stak/table';
import * as table from './tables.ts';

const byAccount = ({ account_id }: { account_id: string }) => ({ kind: 'account', id: account_id }) as const;
const byTenant = ({ tenant_id }: { tenant_id: string }) => ({ kind: 'tenant', id: tenant_id }) as const;
const byNamedTenant = ({ tenant_id }: { tenant_id?: string }) =>
  tenant_id === undefined ? undefined : byTenant({ tenant_id });

// The account whose storage each item counts for.
export const tenantOwners = [
  ownedByKey(table.tenant, byTenant),
  ownedByKey(table.accountTenant, byAccount),
  ownedByKey(table.tenantCount, byAccount),
  ownedByKey(table.user, byTenant),
  ownedByKey(table.userCount, byTenant),
  ownedByKey(table.emailLock, byTenant),
  ownedByKey(table.identityLock, byTenant),
  ownedByKey(table.channelMapping, byTenant),
  ownedByItem(table.channelClaim, byNamedTenant),
  ownedByKey(table.propertiesSchema, byTenant),
  ownedByKey(table.invitation, byTenant),
  ownedByKey(table.tokenEpoch, byTenant),
  ownedByKey(table.signIn, byTenant),
  ownedByKey(table.portalSession, byTenant),
  ownedByKey(table.portalProvider, byTenant),
  ownedByKey(table.erasure, byTenant),
  ownedByItem(table.openErasure, byNamedTenant),
];
