import type { AccountPrincipal, EndUserPrincipal } from '@stak/http';
import { quoteText } from './duckdb/sql-text.ts';
import type { Owner } from './tables.ts';

// Writes which rows a caller sees as a condition on the columns that every row has had since it was captured.

export type Scope = {
  readonly payer: string; // the account whose limits apply: an account may create any number of end users
} & (
  | { readonly kind: 'account'; readonly accountId: string; readonly tenantIds: readonly string[] }
  | { readonly kind: 'endUser'; readonly tenantId: string; readonly userId: string }
  | { readonly kind: 'everyone' }
);

// The operator's scope: every row, including those without an owner. Only the operator's own routes use it.
export const everyone = { kind: 'everyone', payer: 'the operator' } as const;

type PrincipalScope = Exclude<Scope, { kind: 'everyone' }>;

export type TenantsOf = (accountId: string) => Promise<readonly string[]>;

// The account that pays for an end user. Whether their tenant is open is checked before.
export type PayerOf = (user: EndUserPrincipal) => Promise<string | undefined>;

export async function scopeOf(
  principal: AccountPrincipal | EndUserPrincipal,
  { tenantsOf, payerOf }: { tenantsOf: TenantsOf; payerOf?: PayerOf },
): Promise<PrincipalScope> {
  if (principal.kind === 'endUser') {
    const { tenantId, userId } = principal;
    const payer = (await payerOf?.(principal)) ?? `tenant ${tenantId}`;
    return { kind: 'endUser', tenantId, userId, payer };
  }
  const { accountId } = principal;
  return { kind: 'account', accountId, tenantIds: await tenantsOf(accountId), payer: accountId };
}

export function whoseOf(scope: PrincipalScope): 'user' | 'account' | 'account_and_tenants' {
  if (scope.kind === 'endUser') return 'user';
  return scope.tenantIds.length > 0 ? 'account_and_tenants' : 'account';
}

export function scopeCondition(scope: Scope): string {
  if (scope.kind === 'everyone') return 'true';
  if (scope.kind === 'endUser')
    return `_tenant = ${quoteText(scope.tenantId)} and _user = ${quoteText(scope.userId)}`;
  const own = `_account = ${quoteText(scope.accountId)}`;
  const tenants = scope.tenantIds.map(quoteText).join(', ');
  return tenants === '' ? own : `${own} or _tenant in (${tenants})`;
}

// The rows of an erased owner. Columns have the names of attributes in bronze, and SQL names elsewhere.
export function ownerCondition(owner: Owner, names: 'bronze' | 'silver'): string {
  const columns = { account_id: '_account', tenant_id: '_tenant', user_id: '_user' } as const;
  const tests = Object.entries(columns).flatMap(([attribute, column]) => {
    const value = owner[attribute as keyof Owner];
    const name = names === 'bronze' ? attribute : column;
    // Never null: the negation of this condition must keep rows without an owner.
    return value === undefined ? [] : [`coalesce(${name} = ${quoteText(value)}, false)`];
  });
  return tests.length === 0 ? 'false' : tests.join(' and ');
}
