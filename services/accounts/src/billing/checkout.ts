import { userNotFound } from '../errors.ts';
import { type ReturnSettings, resolveReturnTo } from '../oauth/return-to.ts';
import type { Profile } from '../table.ts';
import type { Users } from '../users/users.ts';
import { closeCheckouts, ensureCustomer, listSubscriptions } from './customers.ts';
import { refuse } from './errors.ts';
import { billedOf, type PaidPlan } from './plans.ts';
import type { StripeDoor } from './stripe.ts';

export type BillingPages = { users: Users; pages: ReturnSettings };

export async function startCheckout(
  { users, pages }: BillingPages,
  door: StripeDoor,
  { userId, plan, returnTo }: { userId: string; plan: PaidPlan; returnTo?: string },
): Promise<string> {
  const price = door.settings.prices[plan]?.[0];
  if (price === undefined) throw refuse('accounts.plan_not_sold', `The plan "${plan}" is not for sale here.`);
  const back = resolveReturnTo(returnTo, pages);
  const customer = await ensureCustomer(users, door, await readUser(users, userId));
  // Stripe is asked, not our record: its events may still be on their way.
  const { stripeSubId } = billedOf(await listSubscriptions(door, customer), door.settings.prices);
  if (stripeSubId !== undefined)
    throw refuse('accounts.already_subscribed', 'There is a subscription already: change it in the portal.');
  await closeCheckouts(door, customer);
  const { url } = await door.call(stripe =>
    stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      client_reference_id: userId,
      line_items: [{ price, quantity: 1 }],
      subscription_data: { metadata: { userId } },
      success_url: withResult(back, 'done'),
      cancel_url: withResult(back, 'cancelled'),
    }),
  );
  if (!url) throw refuse('accounts.billing_failed', 'Stripe made a checkout without an address.');
  return url;
}

export async function openPortal(
  { users, pages }: BillingPages,
  door: StripeDoor,
  { userId, returnTo }: { userId: string; returnTo?: string },
): Promise<string> {
  const back = resolveReturnTo(returnTo, pages);
  const { stripeCustomerId } = await readUser(users, userId);
  if (stripeCustomerId === undefined)
    throw refuse('accounts.nothing_billed', 'Nothing has been bought yet: start with a checkout.');
  const { url } = await door.call(stripe =>
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
