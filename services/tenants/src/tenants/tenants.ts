import { createHash } from 'node:crypto';
import { type PageRequest, versionMismatch } from '@stak/http';
import { failedCondition, isRefused, ref, write } from '@stak/table';
import { type EnteredTenant, type OpenStatus, openTenant, type TenantItem } from '../access/gate.ts';
import { type Service, timestampOf } from '../deps.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import type { NewTenant, TenantPatch } from '../schema.ts';
import { defaultSettings } from '../settings.ts';
import { accountTenant, tenant, tenantsOfAccount } from '../tables.ts';
import { addCounted, roomFor, tenantsCounted } from './counts.ts';

// A repeated key finds what it created: the id is derived from it, and the item stores it.
export const idFromKey = (prefix: string, requestKey: string): string =>
  prefix + createHash('sha256').update(requestKey).digest('hex').slice(0, 32);

export async function createTenant(
  deps: Service,
  account_id: string,
  body: NewTenant,
  request_key?: string,
): Promise<EnteredTenant> {
  const generated = request_key === undefined ? `t-${deps.ids.next()}` : idFromKey('t-', request_key);
  const tenant_id = body.tenant_id ?? generated;
  const created_at = timestampOf(deps.clock.now());
  const item = {
    tenant_id,
    account_id,
    name: body.name,
    status: body.status,
    created_at,
    updated_at: created_at,
    settings: JSON.stringify(defaultSettings),
    settings_version: 1,
    request_key,
    version: 1,
  };
  try {
    const limit = await roomFor(deps, account_id, 'tenants');
    await addCounted(deps, tenantsCounted(deps, account_id), { account_id, limit }, counting =>
      deps.store.transact(
        [
          ['claim the id', write.put(tenant, item, { ifAbsent: true })],
          ['list it', write.put(accountTenant, { account_id, tenant_id, created_at })],
          ...counting,
        ],
        { pattern: 'create a tenant' },
      ),
    );
    return openTenant(item)!;
  } catch (error) {
    const refused = failedCondition(error);
    if (!refused) throw error;
    const made = refused.current as TenantItem | undefined;
    const isOurs =
      request_key !== undefined && made?.request_key === request_key && made.account_id === account_id;
    const before = isOurs ? openTenant(made) : undefined;
    if (before) return before;
    throw tenantErrors.create('tenants.id_taken', 'This tenant id is taken, or was used before.');
  }
}

// The index only lists the ids; the tenants themselves are read from the table, so they are never out of date.
export async function listTenants(
  { store }: Service,
  account_id: string,
  page: PageRequest,
): Promise<{ items: EnteredTenant[]; cursor?: string }> {
  const { items, cursor } = await store.query(tenantsOfAccount, { account_id }, page);
  const refs = items.map(({ tenant_id }) => ref(tenant, { tenant_id }));
  const found = await store.batchGet(refs, { consistent: true, pattern: 'tenants of a page' });
  const open = found.flatMap(item => (item && openTenant(item)) ?? []);
  return { items: open, cursor };
}

export async function listTenantIds(
  { store }: Pick<Service, 'store'>,
  account_id: string,
): Promise<string[]> {
  const ids: string[] = [];
  for await (const { tenant_id } of store.all(tenantsOfAccount, { account_id })) ids.push(tenant_id);
  return ids;
}

const reachableFrom: Record<'active' | 'suspended', readonly OpenStatus[]> = {
  active: ['onboarding', 'active', 'suspended'],
  suspended: ['active', 'suspended'],
};

export async function patchTenant(
  { store, clock, announce }: Service,
  read: EnteredTenant,
  patch: TenantPatch,
  expected: string | undefined,
): Promise<EnteredTenant> {
  const { tenant_id, version, status } = read;
  if (expected !== undefined && expected !== String(version)) throw versionMismatch();
  if (patch.status && !reachableFrom[patch.status].includes(status))
    throw tenantErrors.create(
      'tenants.status_refused',
      `The status of a tenant cannot change from ${status} to ${patch.status}.`,
    );
  if (patch.status === 'suspended') await announce({ tenant: tenant_id }, { account: read.account_id });
  try {
    const item = await store.update(
      tenant,
      { tenant_id },
      { set: { ...patch, updated_at: timestampOf(clock.now()) } },
      // The transition was checked against the tenant that was read, so it is conditional on it.
      { if: { status }, ifVersion: expected === undefined ? undefined : version },
    );
    return openTenant(item) ?? noTenantLeft();
  } catch (error) {
    throw isRefused(error) ? versionMismatch() : error;
  }
}

const noTenantLeft = (): never => {
  throw noTenant();
};
