import { userNotFound } from '../errors.ts';
import type { Profile } from '../main-table.ts';
import { type ReturnSettings, resolveReturnTo } from '../people/oauth/return-to.ts';
import type { Users } from '../users/users.ts';
import { closeCheckouts, ensureCustomer, listSubscriptions } from './customers.ts';
import { refuse } from './errors.ts';
import { billedOf, type PaidPlan } from './plans.ts';
import type { StripeClient } from './stripe.ts';

export type BillingPages = { users: Users; pages: ReturnSettings };

type NewCheckout = { checkoutId: string; userId: string; plan: PaidPlan; returnTo?: string };

// One for each id: if an earlier run of the request was not answered, the checkout that it has started is returned. Not
// by Stripe's idempotency key, under which a failure would be repeated too.
export async function startCheckout(
  { users, pages }: BillingPages,
  client: StripeClient,
  { checkoutId, userId, plan, returnTo }: NewCheckout,
): Promise<string> {
  const price = client.settings.prices[plan]?.[0];
  if (price === undefined) throw refuse('accounts.plan_not_sold', `The plan "${plan}" is not for sale here.`);
  const back = resolveReturnTo(returnTo, pages);
  const customer = await ensureCustomer(users, client, await readUser(users, userId));
  // Ask Stripe rather than our record: its events may still be on their way.
  const { stripeSubId } = billedOf(await listSubscriptions(client, customer), client.settings.prices);
  if (stripeSubId !== undefined)
    throw refuse('accounts.already_subscribed', 'There is a subscription already: change it in the portal.');
  const started = await closeCheckouts(client, customer, checkoutId);
  const create = () =>
    client.call(stripe =>
      stripe.checkout.sessions.create({
        mode: 'subscription',
        customer,
        client_reference_id: userId,
        line_items: [{ price, quantity: 1 }],
        metadata: { checkoutId },
        subscription_data: { metadata: { userId } },
        success_url: withResult(back, 'done'),
        cancel_url: withResult(back, 'cancelled'),
      }),
    );
  const { url } = started ?? (await create());
  if (!url) throw refuse('accounts.billing_failed', 'Stripe made a checkout without an address.');
  return url;
}

export async function openPortal(
  { users, pages }: BillingPages,
  client: StripeClient,
  { userId, returnTo }: { userId: string; returnTo?: string },
): Promise<string> {
  const back = resolveReturnTo(returnTo, pages);
  const { stripeCustomerId } = await readUser(users, userId);
  if (stripeCustomerId === undefined)
    throw refuse('accounts.nothing_billed', 'Nothing has been bought yet: start with a checkout.');
  const { url } = await client.call(stripe =>
    stripe.billingPortal.sessions.create({ customer: stripeCustomerId, return_url: back }),
  );
  return url;
}

export async function readUser(users: Users, userId: string): Promise<Profile> {
  const user = await users.readProfile(userId);
  if (!user || user.deletingAt !== undefined) throw userNotFound();
  return user;
}

function withResult(address: string, result: string): string {
  const url = new URL(address);
  url.searchParams.set('checkout', result);
  return url.href;
}
