import type Stripe from 'stripe';
import { accountsErrors } from '../errors.ts';
import type { Profile } from '../table.ts';
import type { Users } from '../users/users.ts';
import * as limits from './limits.ts';
import type { StripeDoor } from './stripe.ts';

// The customer of a user, made when it is needed first. Two who need it at once get the same one: Stripe knows the
// key of the request, and here the first who writes it down wins.
export async function ensureCustomer(users: Users, door: StripeDoor, user: Profile): Promise<string> {
  const { userId, email, name, version, stripeCustomerId: known } = user;
  if (known !== undefined && (await isCustomer(door, known))) return known;
  const customer = await door.call(stripe =>
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

// Operators may delete a customer in Stripe's dashboard: then there is nobody to sell to.
async function isCustomer(door: StripeDoor, id: string): Promise<boolean> {
  const found = await door.call(stripe => stripe.customers.retrieve(id).catch(unlessMissing));
  return found !== undefined && !found.deleted;
}

// All that are not over, as of now. A customer who was deleted at Stripe has none.
export async function listSubscriptions(door: StripeDoor, customer: string): Promise<Stripe.Subscription[]> {
  const page = await door.call(stripe =>
    stripe.subscriptions.list({ customer, limit: limits.subscriptionsPerCustomer }).catch(unlessMissing),
  );
  return page?.data ?? [];
}

// A checkout that was left open could be finished later, and be paid for twice or for an account that is gone.
export async function closeCheckouts(door: StripeDoor, customer: string): Promise<void> {
  await door.call(async stripe => {
    const open = await stripe.checkout.sessions
      .list({ customer, status: 'open', limit: limits.checkoutsPerCustomer })
      .catch(unlessMissing);
    for (const { id } of open?.data ?? []) await stripe.checkout.sessions.expire(id).catch(unlessMissing);
  });
}

// Nothing more will be charged. Done again, it does nothing.
export async function endSubscriptions(door: StripeDoor, customer: string): Promise<void> {
  await closeCheckouts(door, customer);
  for (const { id } of await listSubscriptions(door, customer))
    await door.call(stripe => stripe.subscriptions.cancel(id).catch(unlessMissing));
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'resource_missing') return undefined;
  throw error;
}
