import { accountsErrors, keyProblems } from '@stak/accounts';
import { type Guards, isReaching, isStored, type RouteSpec } from '@stak/http';
import { tenantProblems } from '@stak/tenants';
import { ownTenant } from '../store/own-tenant.ts';
import type { ComposeDeps, OpenServices } from './services.ts';

/** Connects the declarations of routes to accounts, their plans and their tenants. */
export function createGuards(
  { config }: Pick<ComposeDeps, 'config'>,
  { accounts, tenants, storage }: Pick<OpenServices, 'accounts' | 'tenants' | 'storage'>,
): Guards {
  const { anthropic, bedrock, google, openai, openaiCompatible } = config.models;
  const hasModels = Boolean(anthropic ?? bedrock ?? google ?? openai ?? openaiCompatible);
  return {
    // Accounts are the users of our own tenant, which belongs to no account.
    enterTenant: async (principal, tenantId, route) =>
      isOpenToOurs(route) && principal.kind === 'endUser' && [tenantId, principal.tenantId].every(isOurs)
        ? { tenant_id: ownTenant, account_id: principal.userId }
        : tenants.enterForRoute(principal, tenantId, route),
    refuseKey: () =>
      accountsErrors.create('accounts.key_tenant_refused', 'This key is limited to other tenants.'),
    payerOf: tenants.payerOf,
    // An account makes this server call others, use a model that the operator pays for, or send mail only after it has
    // verified its address. A stranger could otherwise sign up with somebody else's address, add people or providers of
    // their own, and wait until the owner resets the password and uses the account.
    checks: reach => config.requireVerifiedEmail && (hasModels || reach !== 'model'),
    async checkReach(accountId, isOwn) {
      if (await accounts.isVerified(accountId)) return;
      throw accountsErrors.create('accounts.email_unverified', isOwn ? ownAddress : theirAddress);
    },
    storage,
    audit: accounts.audit.record,
    problemsOf,
  };
}

const isOurs = (tenantId: string): boolean => tenantId === ownTenant;
const isOpenToOurs = ({ tenant }: RouteSpec): boolean => tenant === 'path-or-server' || tenant === 'caller';

const ownAddress =
  'Verify your e-mail address first: there is a link in the mail that you got, and another one in your account.';
const theirAddress = 'The account behind this has not verified its e-mail address.';

const problemsOf = (route: RouteSpec): string[] => [
  ...tenantProblems(route),
  ...(isStored(route) ? ['accounts.storage_limit_reached', 'accounts.request_exceeds_storage'] : []),
  ...(isReaching(route) ? ['accounts.email_unverified'] : []),
  ...(route.reaches === 'mail' ? ['accounts.too_many_attempts'] : []),
  ...keyProblems(route),
  ...(route.method === 'get' ? ['table.busy'] : ['table.busy', 'store.full']),
];
