import { isRefused } from '@stak/table';
import { type Service, timestampOf } from '../deps.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import type { NewToken } from '../schema.ts';
import { notDeleted, tenant, tokenEpoch } from '../tables.ts';
import { epochItem, secondOf } from './token-epochs.ts';

export type MintedToken = { token: string; tenant: string; sub: string; scope: string; expires_at: string };

// For any uid the host chooses, whether or not it is a user here: an inbox needs no user record. No scope of an end
// user exceeds the key that mints it: the route requires `write`.
export async function mintToken(
  deps: Service,
  tenantId: string,
  { sub, scope, ttl_seconds }: NewToken,
): Promise<MintedToken> {
  await outliveEpoch(deps, tenantId, sub);
  const minted = await deps.mintEndUserToken({ tenant: tenantId, sub, scope, ttlSeconds: ttl_seconds });
  return { ...minted, tenant: tenantId, sub, scope };
}

// A token issued in the same second as a revocation counts as revoked, so a new one waits for the next second.
export async function outliveEpoch({ epochs, clock }: Service, tenantId: string, sub: string): Promise<void> {
  const epoch = await epochs.lastOf(tenantId, sub);
  if (epoch === Number.POSITIVE_INFINITY) throw noTenant();
  const waitMs = (epoch + 1) * 1000 - clock.now();
  // A longer wait means that the clock of the process that revoked is ahead of ours.
  if (waitMs > limits.revocationWaitMs)
    throw tenantErrors.create('tenants.just_revoked', 'Tokens were just revoked. Try again in a moment.', {
      retryAfterS: Math.ceil(waitMs / 1000),
    });
  if (waitMs > 0) await clock.sleep(waitMs);
}

// Revokes all tokens of the tenant, or of one of its users, that were issued until now.
export async function revokeTokens(
  deps: Service,
  tenant_id: string,
  user_id: string | undefined,
): Promise<{ revoked_until: string }> {
  const revoked_until = timestampOf(secondOf(deps.clock) * 1000);
  await deps.announce({ tenant: tenant_id, ...(user_id !== undefined && { user: user_id }) });
  if (user_id !== undefined) {
    await deps.store.put(tokenEpoch, epochItem(deps, tenant_id, user_id), { pattern: 'revoke tokens' });
    deps.epochs.forgetUser(tenant_id, user_id);
    await deps.endAccess?.(tenant_id, user_id);
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
