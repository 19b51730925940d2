import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { subscription } from '../src/index.ts';
import { type Billing, openBilling } from './billing-stub.ts';
import { engines, problemOf } from './service-stub.ts';

describe.each(engines)('events of Stripe, %s', (_, open) => {
  let billing: Billing;
  beforeAll(async () => {
    billing = await openBilling(open);
  });
  afterAll(() => billing.close());

  const updated = 'customer.subscription.updated';

  describe('the signature of an event', () => {
    const event = '{"id":"evt_sig","type":"ping","data":{"object":{}}}';

    it('is accepted if it is valid for the exact bytes', async () => {
      expect((await billing.post(event, billing.sign(event))).status).toBe(200);
      const spaced = JSON.stringify(JSON.parse(event), null, 2);
      expect((await billing.post(spaced, billing.sign(event))).status).toBe(401);
    });

    it.each([
      ['absent', () => undefined],
      ['of another secret', () => billing.sign(event, 'whsec_other')],
      ['of another body', () => billing.sign(`${event} `)],
      ['six minutes old', () => billing.sign(event, undefined, 360)],
      ['not a signature', () => 't=1,v1=0'],
      ['empty', () => ' '],
      ['without a time', () => billing.sign(event).replace(/t=\d+,/, '')],
    ])('is refused when it is %s', async (_, make) => {
      expect(await problemOf(await billing.post(event, make()))).toEqual([401, 'http.unauthenticated']);
    });

    it('covers bytes that are not JSON or not an event', async () => {
      for (const body of ['', 'null', '[]', '{"id":1}', '{'])
        expect([400, 401]).toContain((await billing.post(body, billing.sign(body))).status);
      const bytes = new Uint8Array([0xff, 0xfe, 0x00]);
      expect((await billing.post(bytes, billing.sign('\ufffd'))).status).toBe(401);
    });
  });

  it('moves the usage period to that of the subscription, and back when there is none', async () => {
    const { userId, customer } = await billing.addCustomer('period@example.com');
    const day = (text: string) => Date.parse(`${text}T06:30:00Z`) / 1000;
    const at = (text: string) => billing.clock.set(day(text) * 1000);
    const subscribed = (start: string, end: string, change: object = {}) => ({
      billing_cycle_anchor: day(start),
      items: {
        data: [
          { price: { id: 'price_pro' }, current_period_start: day(start), current_period_end: day(end) },
        ],
      },
      ...change,
    });
    const notify = () => billing.deliver(billing.eventOf('customer.subscription.updated', customer));
    const usage = async () => {
      const { usageThisMonth, usagePeriodStart } = (await billing.users.getById(userId))!;
      return [usagePeriodStart, usageThisMonth];
    };
    at('2026-05-19');
    await billing.users.incrementUsage(userId, 3);
    expect(await usage()).toEqual(['2026-05-01', 3]);

    const bought = billing.stripe.subscribe(customer, 'price_pro', subscribed('2026-05-19', '2026-06-19'));
    await notify();
    expect(await usage()).toEqual(['2026-05-19', 0]);
    await billing.users.incrementUsage(userId, 5);
    at('2026-06-18');
    await billing.users.incrementUsage(userId, 2);
    expect(await usage()).toEqual(['2026-05-19', 7]);
    at('2026-06-19'); // its event is still on the way
    expect(await usage()).toEqual(['2026-06-19', 0]);

    at('2026-06-25');
    Object.assign(bought, subscribed('2026-06-25', '2027-06-25')); // a year from now on
    await notify();
    await billing.users.incrementUsage(userId, 11);
    expect(await usage()).toEqual(['2026-06-25', 11]);
    at('2026-09-26');
    expect(await usage()).toEqual(['2026-09-25', 0]);

    bought.status = 'canceled';
    await notify();
    expect(await usage()).toEqual(['2026-09-01', 0]);
    const { Items } = await billing.client.scan({ TableName: 'ferryhook-main' });
    expect(Items!.filter(item => item.userId === userId && 'events' in item).length).toBeGreaterThan(0);
    await billing.usage.erase(userId);
    const left = await billing.client.scan({ TableName: 'ferryhook-main' });
    expect(left.Items!.filter(item => item.userId === userId && 'events' in item)).toEqual([]);
  });

  it.each([
    { from: '2026-04-19', counted: 3, kept: 8, why: 'began before the calendar month' },
    {
      from: '2026-05-02',
      counted: 3,
      kept: 5,
      why: 'began within it, where nobody can tell what came before',
    },
  ])('carries calendar-month usage into a period that $why', async ({ from, counted, kept }) => {
    const { userId, customer } = await billing.addCustomer(`carried-${from}@example.com`);
    const day = (text: string) => Date.parse(`${text}T06:30:00Z`) / 1000;
    const notify = () => billing.deliver(billing.eventOf('customer.subscription.updated', customer));
    const usage = async () => (await billing.users.getById(userId))!.usageThisMonth;
    billing.clock.set(day('2026-05-10') * 1000);
    const price = { id: 'price_pro' };
    const item = { price, current_period_start: day(from), current_period_end: day(from) + 30 * 86_400 };
    billing.stripe.subscribe(customer, 'price_pro', {
      billing_cycle_anchor: day(from),
      items: { data: [item] },
    });
    await notify();
    // As a version has left it that knew no periods.
    const { currentPeriodStart, billingCycleAnchor, carried, ...old } = (await billing.store.get(
      subscription,
      { userId },
    ))!;
    await billing.store.put(subscription, old);
    await billing.users.incrementUsage(userId, counted);
    expect(await usage()).toBe(counted);

    await notify();
    await billing.users.incrementUsage(userId, 5);
    expect(await usage()).toBe(kept);
    await notify(); // again, which counts nothing twice
    expect(await usage()).toBe(kept);
    billing.clock.set(day('2026-06-05') * 1000);
    await notify();
    expect(await usage()).toBe(0);
  });

  describe('an event', () => {
    it.each([
      'checkout.session.completed',
      'customer.subscription.created',
      'customer.subscription.updated',
      'invoice.payment_failed',
    ])('%s sets the plan that was bought', async type => {
      const { userId, token, customer } = await billing.addCustomer(`${type}@example.com`);
      const { id } = billing.stripe.subscribe(customer, 'price_pro');
      expect(await billing.deliver(billing.eventOf(type, customer))).toBe('applied');
      expect(await billing.users.readProfile(userId)).toMatchObject({ plan: 'pro', stripeSubId: id });
      const shown = await (await billing.call(token, 'GET', '/v1/billing')).json();
      expect(shown).toEqual({
        plan: 'pro',
        status: 'active',
        currentPeriodEnd: '2027-01-15T08:00:00.000Z',
        cancelAtPeriodEnd: false,
        plansSold: ['starter', 'pro'],
      });
      const { items } = await billing.audit.list(userId, {});
      expect(items[0]).toMatchObject({ action: 'plan.changed', via: 'stripe', detail: 'free to pro' });
    });

    it('downgrades and ends the plan', async () => {
      const { userId, customer } = await billing.addCustomer('down@example.com');
      const subscription = billing.stripe.subscribe(customer, 'price_pro_2024');
      await billing.deliver(billing.eventOf('customer.subscription.created', customer));
      expect(await billing.planOf(userId)).toBe('pro');
      subscription.items.data[0]!.price.id = 'price_starter';
      await billing.deliver(billing.eventOf(updated, customer));
      expect(await billing.planOf(userId)).toBe('starter');
      subscription.status = 'canceled';
      expect(await billing.deliver(billing.eventOf('customer.subscription.deleted', { id: customer }))).toBe(
        'applied',
      );
      const user = await billing.users.readProfile(userId);
      expect(user?.plan).toBe('free');
      expect(user?.stripeSubId).toBeUndefined();
    });

    it('keeps the plan while Stripe retries the payment, and no longer', async () => {
      const { userId, token, customer } = await billing.addCustomer('unpaid@example.com');
      const subscription = billing.stripe.subscribe(customer, 'price_starter');
      await billing.deliver(billing.eventOf(updated, customer));
      subscription.status = 'past_due';
      await billing.deliver(billing.eventOf('invoice.payment_failed', customer));
      expect(await billing.planOf(userId)).toBe('starter');
      expect(await (await billing.call(token, 'GET', '/v1/billing')).json()).toMatchObject({
        status: 'past_due',
      });
      subscription.status = 'unpaid';
      await billing.deliver(billing.eventOf(updated, customer));
      expect(await billing.planOf(userId)).toBe('free');
    });

    it('is applied once, however often it arrives', async () => {
      const { userId, customer } = await billing.addCustomer('again@example.com');
      const subscription = billing.stripe.subscribe(customer, 'price_pro');
      const event = billing.eventOf(updated, customer);
      expect(await billing.deliver(event)).toBe('applied');
      const after = await billing.users.readProfile(userId);
      subscription.status = 'canceled';
      const asked = billing.stripe.calls.length;
      expect(await billing.deliver(event)).toBe('repeated');
      expect(await billing.users.readProfile(userId)).toEqual(after);
      expect(billing.stripe.calls.length).toBe(asked);
    });

    it('is applied once if it arrives several times at once', async () => {
      const { userId, customer } = await billing.addCustomer('at-once@example.com');
      billing.stripe.subscribe(customer, 'price_pro');
      const { version } = (await billing.users.readProfile(userId))!;
      const event = billing.eventOf(updated, customer);
      const outcomes = await Promise.all(Array.from({ length: 6 }, () => billing.deliver(event)));
      expect(outcomes.sort()).toEqual(['applied', ...Array(5).fill('repeated')]);
      expect((await billing.users.readProfile(userId))?.version).toBe(version + 1);
    });

    it('may arrive in any order: the current state is read from Stripe', async () => {
      const { userId, customer } = await billing.addCustomer('order@example.com');
      const subscription = billing.stripe.subscribe(customer, 'price_pro', { status: 'canceled' });
      expect(await billing.deliver(billing.eventOf('customer.subscription.deleted', customer))).toBe(
        'applied',
      );
      expect(await billing.deliver(billing.eventOf('customer.subscription.created', customer))).toBe(
        'applied',
      );
      expect(await billing.planOf(userId)).toBe('free');
      subscription.status = 'active';
      await billing.deliver(billing.eventOf('customer.subscription.created', customer));
      expect(await billing.planOf(userId)).toBe('pro');
    });

    it('does not write an outdated response of Stripe', async () => {
      const { userId, customer } = await billing.addCustomer('overtaken@example.com');
      const subscription = billing.stripe.subscribe(customer, 'price_pro');
      let release = () => {};
      const held = new Promise<void>(resolve => {
        release = resolve;
      });
      const asked = new Promise<void>(resolve => {
        billing.stripe.gate.wait = () => {
          billing.stripe.gate.wait = undefined;
          resolve();
          return held;
        };
      });
      const slow = billing.deliver(billing.eventOf(updated, customer));
      await asked; // Stripe has said "active"; the answer is on its way
      subscription.status = 'canceled';
      expect(await billing.deliver(billing.eventOf('customer.subscription.deleted', customer))).toBe(
        'applied',
      );
      release();
      expect(await slow).toBe('applied');
      expect(await billing.planOf(userId)).toBe('free');
    });

    it('is ignored if its customer or its type is unknown', async () => {
      const { userId, customer } = await billing.addCustomer('leaving@example.com');
      expect(await billing.deliver(billing.eventOf(updated, 'cus_unknown'))).toBe('ignored');
      expect(await billing.deliver(billing.eventOf(updated, null))).toBe('ignored');
      expect(await billing.deliver(billing.eventOf('customer.tax_id.created', customer))).toBe('ignored');
      await billing.markDeleting(userId);
      expect(await billing.deliver(billing.eventOf(updated, customer))).toBe('ignored');
    });

    it('is answered with a problem while Stripe is down, and is redelivered', async () => {
      const { userId, customer } = await billing.addCustomer('outage@example.com');
      billing.stripe.subscribe(customer, 'price_pro');
      const event = billing.eventOf(updated, customer);
      billing.stripe.mood = 'garbage';
      expect(await problemOf(await billing.post(event, billing.sign(event)))).toEqual([
        502,
        'accounts.billing_failed',
      ]);
      billing.stripe.mood = 'well';
      expect(await billing.deliver(event)).toBe('applied');
      expect(await billing.planOf(userId)).toBe('pro');
    });
  });
});
