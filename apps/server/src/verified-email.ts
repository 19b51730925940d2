import { accountsErrors } from '@stak/accounts';
import type { AnyEndpoint, Principal } from '@stak/http';

type Guard = {
  isRequired: boolean;
  hasModels: boolean;
  isVerified(accountId: string): Promise<boolean>;
  accountOf(tenantId: string): Promise<string | undefined>;
};
type Context = {
  get(name: 'principal'): Principal | undefined;
  req: { valid(part: 'json'): unknown; param(name: 'tenant_id' | 'accountId'): string | undefined };
};
type Handle = (c: Context) => Promise<Response>;

// An account makes this server call others, use a model that the operator pays for, or send mail only after it has
// verified its address. A stranger could otherwise sign up with somebody else's address, add people or providers of
// their own, and wait until the owner resets the password and uses the account.
export const withVerifiedEmail = (guard: Guard, endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  endpoints.map(one => (isGuarded(one) ? guarded(guard, one) : one));

// Nobody has an account yet who signs up or asks for a new password.
const isGuarded = ({ route: { reaches, auth, path } }: AnyEndpoint): boolean =>
  reaches !== 'nothing' && (auth !== 'public' || /\{(tenant_id|accountId)\}/.test(path));

function guarded(guard: Guard, one: AnyEndpoint): AnyEndpoint {
  const { route } = one;
  const handle = one.handler as unknown as Handle;
  const isNeeded = guard.isRequired && (guard.hasModels || route.reaches !== 'model');
  const handler: Handle = async c => {
    if (isNeeded && sets(c, route.reachesWith)) await check(guard, c, route);
    return handle(c);
  };
  return {
    ...one,
    route: { ...route, problems: [...(route.problems ?? []), 'accounts.email_unverified'] },
    handler: handler as unknown as AnyEndpoint['handler'],
  };
}

function sets(c: Context, names: readonly string[] | undefined): boolean {
  if (!names) return true;
  const body = c.req.valid('json') as Record<string, unknown>;
  return names.some(name => body[name] !== undefined && body[name] !== null);
}

async function check(guard: Guard, c: Context, route: AnyEndpoint['route']): Promise<void> {
  const accountId = await responsibleFor(guard, c, route);
  // The route itself refuses callers without an account, and tenants that do not exist.
  if (accountId === undefined || (await guard.isVerified(accountId))) return;
  const isTheirs = c.get('principal')?.kind === 'account' && c.req.param('accountId') === undefined;
  throw accountsErrors.create('accounts.email_unverified', isTheirs ? ownAddress : theirAddress);
}

const ownAddress =
  'Verify your e-mail address first: there is a link in the mail that you got, and another one in your account.';
const theirAddress = 'The account behind this has not verified its e-mail address.';

// The account that answers for a request: the one in its path, the caller's, or the owner of the tenant. What a person
// does with their own login depends on their own address, not on that of the organisation they are in.
async function responsibleFor(
  { accountOf }: Guard,
  c: Context,
  { auth }: AnyEndpoint['route'],
): Promise<string | undefined> {
  const named = c.req.param('accountId');
  if (named !== undefined) return named;
  const principal = c.get('principal');
  if (principal?.kind === 'account') return auth === 'person' ? principal.userId : principal.accountId;
  if (principal?.kind === 'endUser') return accountOf(principal.tenantId);
  const tenantId = principal?.subject ?? c.req.param('tenant_id');
  return tenantId === undefined ? undefined : accountOf(tenantId);
}
