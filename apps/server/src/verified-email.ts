import { accountsErrors } from '@stak/accounts';
import type { AnyEndpoint, Principal } from '@stak/http';

// What an account may do only after it has verified its address: make this server call others, use a model that the
// operator pays for, or let others in. Existing connections and members continue.
const reachesOut: ReadonlySet<string> = new Set([
  'webhooks.createConnection',
  'webhooks.editConnection',
  'webhooks.testConnection',
  'agents.putCustomSkill',
  'agents.testCustomSkill',
  'agents.putMcpServer',
  'agents.refreshMcpServer',
  'agents.putChannelCredentials',
  'tenants.claimChannel',
]);
const asksModels: ReadonlySet<string> = new Set([
  'agents.sendMessage',
  'agents.sendUiMessage',
  'agents.decideApproval',
  'agents.testModel',
]);

// These add other people or sign-in providers. A stranger could sign up with somebody else's address, add their own, and
// wait until the owner resets the password and uses the account.
const letsIn: ReadonlySet<string> = new Set(['accounts.invite', 'accounts.changeOrganisationProvider']);

type Guard = {
  isRequired: boolean;
  hasModels: boolean;
  isVerified(accountId: string): Promise<boolean>;
  accountOf(tenantId: string): Promise<string | undefined>;
};
type Context = { get(name: 'principal'): Principal };
type Handle = (c: Context) => Promise<Response>;

export const withVerifiedEmail = <S extends { api: readonly AnyEndpoint[] }>(
  guard: Guard,
  service: S,
): S => ({
  ...service,
  api: service.api.map(one => guarded(guard, one)),
});

function guarded(guard: Guard, one: AnyEndpoint): AnyEndpoint {
  const { route } = one;
  const id = route.operationId ?? '';
  if (!reachesOut.has(id) && !asksModels.has(id) && !letsIn.has(id)) return one;
  const isNeeded = guard.isRequired && (guard.hasModels || !asksModels.has(id));
  const handle = one.handler as unknown as Handle;
  const handler: Handle = async c => {
    if (isNeeded) await check(guard, c.get('principal'));
    return handle(c);
  };
  return {
    ...one,
    route: { ...route, problems: [...(route.problems ?? []), 'accounts.email_unverified'] },
    handler: handler as unknown as AnyEndpoint['handler'],
  };
}

async function check({ isVerified, accountOf }: Guard, principal: Principal): Promise<void> {
  const isOwner = principal.kind === 'account';
  const accountId = isOwner
    ? principal.accountId
    : principal.kind === 'endUser'
      ? await accountOf(principal.tenantId)
      : undefined;
  // The route itself refuses callers without an account.
  if (accountId === undefined || (await isVerified(accountId))) return;
  throw accountsErrors.create(
    'accounts.email_unverified',
    isOwner
      ? 'Verify your e-mail address first: there is a link in the mail that you got, and another one in your account.'
      : 'The account of this tenant has not verified its e-mail address.',
  );
}
