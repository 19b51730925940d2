import {
  type AccountPrincipal,
  type EndUserPrincipal,
  httpErrors,
  type Principal,
  type RouteSpec,
} from '@stak/http';
import type { Service } from '../deps.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import { user } from '../tables.ts';
import { type EnteredTenant, enterTenant } from './gate.ts';

type Manager = AccountPrincipal | EndUserPrincipal;

// The scope of an end user who manages the tenant. No route with it requires more than `write` of an account: a key
// with `write` can create admins, and must not gain more rights through them.
export const manageScope = 'tenant:manage';

// The only entry to a tenant for requests. Management routes are for the tenant's account, and for those of its users who
// are admins now, whatever their token says.
export async function enterForRoute(
  deps: Pick<Service, 'store' | 'readTenant'>,
  principal: Manager,
  id: string,
  { tenant, endUserScope }: Pick<RouteSpec, 'tenant' | 'endUserScope'>,
): Promise<EnteredTenant> {
  if (principal.kind === 'endUser' && endUserScope === manageScope) await checkAdmin(deps, principal, id);
  return enterTenant(deps, principal, id, { evenSuspended: tenant === 'path-suspended-too' });
}

// The codes of its errors.
export function tenantProblems({
  tenant,
  endUserScope,
}: Pick<RouteSpec, 'tenant' | 'endUserScope'>): string[] {
  if (tenant === 'handler' || tenant === 'none' || tenant === 'any-key') return [];
  return [
    'tenants.not_found',
    ...(tenant === 'path-suspended-too' ? [] : ['tenants.suspended']),
    ...(endUserScope === manageScope ? ['tenants.admin_only'] : []),
  ];
}

async function checkAdmin(
  { store }: Pick<Service, 'store'>,
  { tenantId: tenant_id, userId: user_id, scope }: EndUserPrincipal,
  asked: string,
): Promise<void> {
  if (asked !== tenant_id) throw noTenant();
  // Tokens from before scopes had a service contain one word, which is not valid here.
  if (!scope.split(' ').includes(manageScope))
    throw httpErrors.create('http.scope_missing', `This needs the scope "${manageScope}".`);
  const found = await store.get(
    user,
    { tenant_id, user_id },
    { consistent: true, pattern: 'is it an admin' },
  );
  if (found?.role !== 'admin')
    throw tenantErrors.create('tenants.admin_only', 'Only admins of the tenant can do this.');
}

// Fields that only the account may set: limits it pays for, and fields through which an admin could take over another
// user's identity.
export function refuseFields(principal: Principal, body: object, isAllowed: (name: string) => boolean): void {
  const refused = principal.kind === 'endUser' ? Object.keys(body).filter(name => !isAllowed(name)) : [];
  if (refused.length === 0) return;
  const detail = 'Only the account that the tenant belongs to can set this.';
  throw tenantErrors.create('tenants.admin_refused', `${detail} ${refused.join(', ')}`, {
    errors: refused.map(name => ({ in: 'body', pointer: `#/${name}`, code: 'refused', detail })),
  });
}
