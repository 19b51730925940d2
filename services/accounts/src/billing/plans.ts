import type Stripe from 'stripe';
import { type PlanName, planNames } from '../plans.ts';

export type PaidPlan = Exclude<PlanName, 'free' | 'selfhosted'>;
export const paidPlans = ['starter', 'pro', 'team'] as const satisfies readonly PaidPlan[];

// The prices that buy a plan. The first is for sale; the others are what earlier customers still pay.
export type Prices = { readonly [Plan in PaidPlan]?: readonly string[] };

export type BilledPlan = {
  plan: PlanName;
  stripeSubId?: string;
  status?: Stripe.Subscription.Status;
  currentPeriodStart?: string;
  currentPeriodEnd?: string;
  billingCycleAnchor?: string;
  cancelAtPeriodEnd?: boolean;
};

// Stripe retries a failed payment for days, and the plan stays in force meanwhile. `unpaid` means that it gave up.
const holding: ReadonlySet<Stripe.Subscription.Status> = new Set(['active', 'trialing', 'past_due']);

// Adds up a customer's subscriptions that have not ended. If there are two, the larger plan counts.
export function billedOf(subscriptions: readonly Stripe.Subscription[], prices: Prices): BilledPlan {
  let best: BilledPlan = { plan: 'free' };
  for (const subscription of subscriptions) {
    if (!holding.has(subscription.status)) continue;
    for (const item of subscription.items.data) {
      const plan = planOfPrice(item.price.id, prices);
      if (plan === undefined || planNames.indexOf(plan) <= planNames.indexOf(best.plan)) continue;
      best = {
        plan,
        stripeSubId: subscription.id,
        status: subscription.status,
        currentPeriodStart: timeOf(item.current_period_start),
        currentPeriodEnd: timeOf(item.current_period_end),
        billingCycleAnchor: timeOf(subscription.billing_cycle_anchor),
        cancelAtPeriodEnd: subscription.cancel_at_period_end || subscription.cancel_at !== null,
      };
    }
  }
  return best;
}

// Older versions of Stripe's API have no period on an item.
const timeOf = (seconds: number | undefined): string | undefined =>
  seconds === undefined ? undefined : new Date(seconds * 1000).toISOString();

export const planOfPrice = (price: string, prices: Prices): PaidPlan | undefined =>
  paidPlans.find(plan => prices[plan]?.includes(price));
