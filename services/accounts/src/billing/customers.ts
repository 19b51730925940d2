import type Stripe from 'stripe';
import { accountsErrors } from '../errors.ts';
import type { Profile } from '../main-table.ts';
import type { Users } from '../users/users.ts';
import * as limits from './limits.ts';
import type { StripeClient } from './stripe.ts';

// Returns the user's Stripe customer and creates it on first use. Concurrent callers get the same one: the idempotency
// key makes Stripe return the same customer, and the first write here wins.
export async function ensureCustomer(users: Users, client: StripeClient, user: Profile): Promise<string> {
  const { userId, email, name, version, stripeCustomerId: known } = user;
  if (known !== undefined && (await isCustomer(client, known))) return known;
  const customer = await client.call(stripe =>
    stripe.customers.create(
      { email, name, metadata: { userId } },
      { idempotencyKey: `stak-customer-${userId}-${version}` },
    ),
  );
  try {
    await users.update(userId, { stripeCustomerId: customer.id });
    return customer.id;
  } catch (error) {
    const other = (await users.readProfile(userId))?.stripeCustomerId;
    if (other === undefined || other === known || !accountsErrors.includes(error)) throw error;
    return other;
  }
}

// Operators may delete a customer in Stripe's dashboard. Such a customer cannot buy anything.
async function isCustomer(client: StripeClient, id: string): Promise<boolean> {
  const customer = await client.call(stripe => stripe.customers.retrieve(id).catch(unlessMissing));
  return customer !== undefined && !customer.deleted;
}

// All current subscriptions that have not ended. A customer who was deleted at Stripe has none.
export async function listSubscriptions(
  client: StripeClient,
  customer: string,
): Promise<Stripe.Subscription[]> {
  const page = await client.call(stripe =>
    stripe.subscriptions.list({ customer, limit: limits.subscriptionsPerCustomer }).catch(unlessMissing),
  );
  return page?.data ?? [];
}

// A checkout left open could be completed later and be paid twice, or for a deleted account. The one with `keptId` stays
// open and is returned.
export const closeCheckouts = (
  client: StripeClient,
  customer: string,
  keptId?: string,
): Promise<Stripe.Checkout.Session | undefined> =>
  client.call(async stripe => {
    const open = await stripe.checkout.sessions
      .list({ customer, status: 'open', limit: limits.checkoutsPerCustomer })
      .catch(unlessMissing);
    let kept: Stripe.Checkout.Session | undefined;
    for (const session of open?.data ?? [])
      if (!kept && keptId !== undefined && session.metadata?.checkoutId === keptId) kept = session;
      else await stripe.checkout.sessions.expire(session.id).catch(unlessMissing);
    return kept;
  });

// Stops all further charges. Safe to repeat.
export async function endSubscriptions(client: StripeClient, customer: string): Promise<void> {
  await closeCheckouts(client, customer);
  for (const { id } of await listSubscriptions(client, customer))
    await client.call(stripe => stripe.subscriptions.cancel(id).catch(unlessMissing));
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'resource_missing') return undefined;
  throw error;
}
