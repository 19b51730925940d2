import { type AnyEndpoint, type EndUserPrincipal, httpErrors, type Principal } from '@stak/http';
import type { Service } from '../deps.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import { user } from '../table.ts';

// The scope of an end user who manages the tenant. No route with it requires more than `write` of an account: a key
// with `write` can create admins, and must not gain more rights through them.
export const manageScope = 'tenant:manage';

type Context = { get(name: 'principal'): Principal; req: { param(name: 'tenant_id'): string | undefined } };
type Handle = (c: Context, next: never) => unknown;

// Management routes are for the tenant's account, and for those of its users who are admins now, whatever their token
// says. The guard is applied to all routes as data, so that no handler can forget it.
export const guardManagement = <E extends readonly AnyEndpoint[]>(
  deps: Pick<Service, 'store'>,
  endpoints: E,
): E =>
  endpoints.map(one => (one.route.endUserScope === manageScope ? guarded(deps, one) : one)) as unknown as E;

function guarded(deps: Pick<Service, 'store'>, one: AnyEndpoint): AnyEndpoint {
  const handle = one.handler as unknown as Handle;
  const handler: Handle = async (c, next) => {
    const principal = c.get('principal');
    if (principal.kind === 'endUser') await checkAdmin(deps, principal, c.req.param('tenant_id'));
    return handle(c, next);
  };
  const { route } = one;
  return {
    ...one,
    route: { ...route, problems: [...(route.problems ?? []), 'tenants.admin_only'] },
    handler: handler as unknown as AnyEndpoint['handler'],
  };
}

async function checkAdmin(
  { store }: Pick<Service, 'store'>,
  { tenantId: tenant_id, userId: user_id, scope }: EndUserPrincipal,
  asked: string | undefined,
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
