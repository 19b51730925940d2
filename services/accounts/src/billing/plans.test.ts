import fc from 'fast-check';
import type Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { billedOf, paidPlans, planOfPrice } from './plans.ts';

const prices = { starter: ['s'], pro: ['p', 'p_old'], team: ['t'] };

const subscriptionOf = (price: string, status: string, id = 'sub'): Stripe.Subscription =>
  ({
    id,
    status,
    cancel_at: null,
    cancel_at_period_end: false,
    items: { data: [{ price: { id: price }, current_period_end: 0 }] },
  }) as unknown as Stripe.Subscription;

describe('billedOf', () => {
  it('is free without a subscription to one of our prices', () => {
    expect(billedOf([], prices)).toEqual({ plan: 'free' });
    expect(billedOf([subscriptionOf('another product', 'active')], prices)).toEqual({ plan: 'free' });
    expect(billedOf([subscriptionOf('p', 'active')], {})).toEqual({ plan: 'free' });
  });

  it.each([
    ['active', 'pro'],
    ['trialing', 'pro'],
    ['past_due', 'pro'],
    ['unpaid', 'free'],
    ['canceled', 'free'],
    ['incomplete', 'free'],
    ['incomplete_expired', 'free'],
    ['paused', 'free'],
  ])('a subscription that is %s is worth %s', (status, plan) => {
    expect(billedOf([subscriptionOf('p_old', status)], prices).plan).toBe(plan);
  });

  it('reports a cancellation, at the end of the period or at a date', () => {
    const atEnd = { ...subscriptionOf('p', 'active'), cancel_at_period_end: true };
    const atDate = { ...subscriptionOf('p', 'active'), cancel_at: 1 };
    for (const one of [atEnd, atDate]) expect(billedOf([one], prices).cancelAtPeriodEnd).toBe(true);
    expect(billedOf([subscriptionOf('p', 'active')], prices).cancelAtPeriodEnd).toBe(false);
  });

  it('takes the largest, in any order that Stripe lists them', () => {
    const price = fc.constantFrom('s', 'p', 'p_old', 't', 'another product');
    const status = fc.constantFrom('active', 'past_due', 'unpaid', 'canceled');
    fc.assert(
      fc.property(fc.array(fc.tuple(price, status), { maxLength: 6 }), bought => {
        const billed = billedOf(
          bought.map(([price, status], i) => subscriptionOf(price, status, `sub${i}`)),
          prices,
        );
        const held = bought.filter(([, status]) => status === 'active' || status === 'past_due');
        const plans = held.map(([price]) => planOfPrice(price, prices));
        const largest = paidPlans.findLast(plan => plans.includes(plan)) ?? 'free';
        expect(billed.plan).toBe(largest);
        expect(billed.stripeSubId === undefined).toBe(largest === 'free');
      }),
    );
  });
});
