import { accountsErrors, withKeyProblems } from '@stak/accounts';
import type { AnyEndpoint, Principal } from '@stak/http';

// Every key may see its own permissions.
const forEveryKey: ReadonlySet<string> = new Set(['accounts.whoAmI']);

type Context = {
  get(name: 'principal'): Principal | undefined;
  req: { param(name: 'tenant_id'): string | undefined };
};
type Handle = (c: Context, next: never) => unknown;

// A key that is restricted to some tenants can call routes of these tenants only: neither those of other tenants nor
// those of the account itself.
export const withKeyTenants = (endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  withKeyProblems(endpoints.map(one => (isForKeys(one) ? guarded(one) : one)));

const isForKeys = ({ route }: AnyEndpoint): boolean =>
  (route.auth === 'account' || route.auth === 'user') && !forEveryKey.has(route.operationId ?? '');

function guarded(one: AnyEndpoint): AnyEndpoint {
  const handle = one.handler as unknown as Handle;
  const handler: Handle = (c, next) => {
    const principal = c.get('principal');
    if (principal?.kind === 'account' && principal.tenants) {
      const tenant = c.req.param('tenant_id');
      if (tenant === undefined || !principal.tenants.includes(tenant))
        throw accountsErrors.create('accounts.key_tenant_refused', 'This key is limited to other tenants.');
    }
    return handle(c, next);
  };
  return { ...one, handler: handler as unknown as AnyEndpoint['handler'] };
}
