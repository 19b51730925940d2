import { assertOwned, type Principal, tenantOf } from '@stak/http';
import { readTogether } from '@stak/kit';
import type { ItemOf, Store } from '@stak/table';
import type { Service } from '../deps.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import { tenantId } from '../schema.ts';
import { readSettings, type TenantSettings } from '../settings.ts';
import { tenant } from '../tables.ts';

export type TenantItem = ItemOf<typeof tenant>;
export type OpenStatus = 'onboarding' | 'active' | 'suspended';
export type EnteredTenant = {
  tenant_id: string;
  account_id: string;
  name: string;
  status: OpenStatus;
  settings: TenantSettings;
  settings_version: number;
  created_at: string;
  updated_at: string;
  version: number;
};

// For operations that also work on a suspended tenant: read it, activate it, export, revoke and erase.
export type Entrance = { evenSuspended?: boolean };

export type EnterTenant = (
  principal: Principal,
  tenantId: string,
  entrance?: Entrance,
) => Promise<EnteredTenant>;

// The tenant that the route of a request has entered.
export const enteredTenant = (c: Parameters<typeof tenantOf>[0]): EnteredTenant => tenantOf<EnteredTenant>(c);

// Concurrent requests for a tenant share one read.
export const createTenantRead = (store: Store) =>
  readTogether((tenant_id: string) =>
    store.get(tenant, { tenant_id }, { consistent: true, pattern: 'enter a tenant' }),
  );

// The only entry to a tenant, for requests (see `enterForRoute`) and for work in the background. It reads the tenant each
// time: as soon as a tenant is suspended or deleted, it refuses all callers.
export async function enterTenant(
  deps: Pick<Service, 'readTenant'>,
  principal: Principal,
  id: string,
  { evenSuspended = false }: Entrance = {},
): Promise<EnteredTenant> {
  const found = assertOwned(await readOpenTenant(deps, id), one => isOf(principal, one), noTenant);
  if (found.status === 'suspended' && !evenSuspended) throw suspended();
  return found;
}

export const suspended = () => tenantErrors.create('tenants.suspended', 'The tenant is suspended.');

// Providers are verified for a channel, not for a tenant: they use `resolveChannel`.
function isOf(principal: Principal, { tenant_id, account_id }: EnteredTenant): boolean {
  if (principal.kind === 'account') return principal.accountId === account_id;
  return principal.kind === 'endUser' && principal.tenantId === tenant_id;
}

export async function readOpenTenant(
  { readTenant }: Pick<Service, 'readTenant'>,
  tenant_id: string,
): Promise<EnteredTenant | undefined> {
  // A value that is not a valid id cannot name a tenant.
  if (!tenantId.safeParse(tenant_id).success) return undefined;
  const item = await readTenant(tenant_id);
  return item && openTenant(item);
}

export function openTenant(item: TenantItem): EnteredTenant | undefined {
  const { status } = item;
  if (status === 'deleted') return undefined;
  return {
    tenant_id: item.tenant_id,
    account_id: item.account_id,
    name: item.name,
    status,
    // Parsed on demand: most callers do not use them.
    get settings() {
      return readSettings(item.settings);
    },
    settings_version: item.settings_version,
    created_at: item.created_at,
    updated_at: item.updated_at,
    version: item.version,
  };
}
