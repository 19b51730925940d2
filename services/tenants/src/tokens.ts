import type { Scope } from '@stak/http';
import { type Service, timestampOf } from './deps.ts';
import { noTenant, tenantErrors } from './errors.ts';
import * as limits from './limits.ts';
import type { NewToken } from './schema.ts';
import { isRefused, notDeleted, tenant, tokenEpoch, user } from './table.ts';
import { epochItem, secondOf } from './token-epochs.ts';

export type MintedToken = { token: string; tenant: string; sub: string; scope: Scope; expires_at: string };

const rank: Record<Scope, number> = { read: 0, write: 1, admin: 2 };

// For any uid the host chooses, whether or not it is a user here: an inbox needs no user record. Only `admin` is
// for users whose role says so. Nobody hands out more than he has.
export async function mintToken(
  deps: Service,
  tenantId: string,
  { sub, scope, ttl_seconds }: NewToken,
  callersScope: Scope,
): Promise<MintedToken> {
  if (rank[scope] > rank[callersScope])
    throw tenantErrors.create('tenants.scope_refused', `Your own scope is "${callersScope}".`);
  if (scope === 'admin') await requireAdmin(deps, tenantId, sub);
  await outliveEpoch(deps, tenantId, sub);
  const minted = await deps.mintEndUserToken({ tenant: tenantId, sub, scope, ttlSeconds: ttl_seconds });
  // Again: losing the role voids the tokens that were issued until then, and this one may be younger. From here on
  // it is older than whatever takes the role away.
  if (scope === 'admin') await requireAdmin(deps, tenantId, sub);
  return { ...minted, tenant: tenantId, sub, scope };
}

async function requireAdmin({ store }: Service, tenant_id: string, user_id: string): Promise<void> {
  const found = await store.get(user, { tenant_id, user_id }, { consistent: true });
  if (found?.role !== 'admin')
    throw tenantErrors.create('tenants.scope_refused', 'Only an admin of the tenant gets "admin".');
}

// A token of the very second of a revocation counts as issued before it, so a new one waits for the next second.
async function outliveEpoch({ epochs, clock }: Service, tenantId: string, sub: string): Promise<void> {
  const epoch = await epochs.lastOf(tenantId, sub);
  if (epoch === Number.POSITIVE_INFINITY) throw noTenant();
  const waitMs = (epoch + 1) * 1000 - clock.now();
  // Longer than that, and the clock of whoever revoked is ahead of ours.
  if (waitMs > limits.revocationWaitMs)
    throw tenantErrors.create(
      'tenants.just_revoked',
      'Tokens were revoked just now. Try again in a moment.',
      {
        retryAfterS: Math.ceil(waitMs / 1000),
      },
    );
  if (waitMs > 0) await clock.sleep(waitMs);
}

// All tokens of the tenant, or of one of its users, that were issued until now.
export async function revokeTokens(
  deps: Service,
  tenant_id: string,
  user_id: string | undefined,
): Promise<{ revoked_until: string }> {
  const revoked_until = timestampOf(secondOf(deps.clock) * 1000);
  if (user_id !== undefined) {
    await deps.store.put(tokenEpoch, epochItem(deps, tenant_id, user_id), { pattern: 'revoke tokens' });
    deps.epochs.forgetUser(tenant_id, user_id);
    return { revoked_until };
  }
  const change = { set: { tokens_revoked_at: secondOf(deps.clock) } };
  try {
    await deps.store.update(tenant, { tenant_id }, change, { if: notDeleted, pattern: 'revoke tokens' });
  } catch (error) {
    throw isRefused(error) ? noTenant() : error;
  }
  deps.epochs.forgetTenant(tenant_id);
  return { revoked_until };
}
