import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Billing, openBilling } from './billing-stub.ts';
import { loseAnswer, openEmbedded } from './open-accounts.ts';
import { openService, problemOf } from './service-stub.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await openBilling();
});
afterAll(() => billing.close());

const checkout = (token: string, body: object) => billing.call(token, 'POST', '/v1/billing/checkout', body);

describe('a checkout', () => {
  let refused = 0;

  it('sells a plan to a customer, who is created once', async () => {
    const { userId } = await billing.addUser('buyer@example.com', 'right enough');
    const token = await billing.tokenOf(userId);
    const response = await checkout(token, { plan: 'pro', return_to: '/billing?from=menu' });
    expect(response.status).toBe(201);
    const { url } = (await response.json()) as { url: string };
    const made = [...billing.stripe.checkouts.values()].find(one => one.url === url)!;
    expect(made.form).toMatchObject({
      mode: 'subscription',
      'line_items[0][price]': 'price_pro',
      client_reference_id: userId,
      success_url: 'https://stak.example/billing?from=menu&checkout=done',
      cancel_url: 'https://stak.example/billing?from=menu&checkout=cancelled',
    });
    expect(billing.stripe.customers.get(made.customer)).toMatchObject({
      email: 'buyer@example.com',
      'metadata[userId]': userId,
    });
    expect((await billing.users.readProfile(userId))?.stripeCustomerId).toBe(made.customer);
    const trail = await billing.audit.list(userId, {});
    expect(trail.items).toContainEqual(
      expect.objectContaining({ action: 'checkout.started', via: 'session', detail: 'pro' }),
    );

    // Another one closes the first: they cannot both be paid.
    expect((await checkout(token, { plan: 'starter' })).status).toBe(201);
    expect(made.status).toBe('expired');
    expect(billing.stripe.calls.filter(call => call === 'POST /v1/customers')).toHaveLength(1);
  });

  it('creates one customer for two concurrent calls', async () => {
    const { userId } = await billing.addUser('twice@example.com');
    const token = await billing.tokenOf(userId);
    const before = billing.stripe.customers.size;
    const answers = await Promise.all([checkout(token, { plan: 'pro' }), checkout(token, { plan: 'pro' })]);
    expect(answers.map(one => one.status)).toEqual([201, 201]);
    expect(billing.stripe.customers.size).toBe(before + 1);
  });

  it('creates another customer if the first was deleted at Stripe', async () => {
    const { userId, token, customer } = await billing.addCustomer('deleted@example.com');
    billing.stripe.customers.delete(customer);
    expect((await checkout(token, { plan: 'pro' })).status).toBe(201);
    const now = (await billing.users.readProfile(userId))?.stripeCustomerId;
    expect(now).not.toBe(customer);
    expect(await billing.users.getByUnique('stripeCustomerId', customer)).toBeNull();
    expect(billing.stripe.customers.has(now!)).toBe(true);
  });

  it('is refused if there is a subscription', async () => {
    const { token, customer } = await billing.addCustomer('subscribed@example.com');
    billing.stripe.subscribe(customer, 'price_starter'); // its event is still on the way
    const response = await checkout(token, { plan: 'pro' });
    expect(await problemOf(response)).toEqual([409, 'accounts.already_subscribed']);
  });

  it.each([
    [{ plan: 'team' }, 400, 'accounts.plan_not_sold'],
    [{ plan: 'free' }, 400, 'http.request_invalid'],
    [{}, 400, 'http.request_invalid'],
    [{ plan: 'pro', coupon: 'x' }, 400, 'http.request_invalid'],
    [{ plan: 'pro', return_to: '//evil.example' }, 400, 'accounts.return_to_refused'],
  ])('refuses %j', async (body, status, code) => {
    const { userId } = await billing.addUser(`refused-${++refused}@example.com`);
    expect(await problemOf(await checkout(await billing.tokenOf(userId), body))).toEqual([status, code]);
  });

  it('is the same one for a repeated request whose first answer was lost', async () => {
    const losing = await openBilling(async () => {
      const engine = await openEmbedded();
      return { ...engine, client: loseAnswer(engine.client, 'checkout.started') };
    });
    const { userId } = await losing.addUser('lost@example.com');
    const as = await losing.tokenOf(userId);
    const buy = () =>
      losing.request('/v1/billing/checkout', {
        method: 'POST',
        body: '{"plan":"pro"}',
        headers: {
          Authorization: `Bearer ${as}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': 'k',
        },
      });
    expect((await buy()).status).toBe(500);
    const { url } = (await (await buy()).json()) as { url: string };
    expect([...losing.stripe.checkouts.values()]).toEqual([expect.objectContaining({ url, status: 'open' })]);
    await losing.close();
  });

  it('responds with a problem while Stripe is unavailable', async () => {
    const { token } = await billing.addCustomer('away@example.com');
    billing.stripe.mood = 'garbage';
    expect(await problemOf(await checkout(token, { plan: 'pro' }))).toEqual([502, 'accounts.billing_failed']);
    billing.stripe.mood = 'well';
  });
});

describe('the portal', () => {
  it('opens for customers only', async () => {
    const { userId: payer, token, customer } = await billing.addCustomer('portal@example.com');
    const opened = await billing.call(token, 'POST', '/v1/billing/portal', {});
    expect(await opened.json()).toEqual({ url: `https://portal.stripe.example/${customer}` });
    const { items } = await billing.audit.list(payer, {});
    expect(items.map(one => one.action)).toContain('portal.opened');
    const { userId } = await billing.addUser('stranger@example.com');
    const refused = await billing.call(await billing.tokenOf(userId), 'POST', '/v1/billing/portal', {});
    expect(await problemOf(refused)).toEqual([409, 'accounts.nothing_billed']);
  });
});

describe('an account that is deleted', () => {
  const leave = async (userId: string, token: string) => {
    const asked = await billing.call(token, 'POST', '/v1/me/deletion', { password: 'right enough' });
    expect(asked.status).toBe(202);
    await billing.clock.advance(60_000);
    await billing.finishDeletions();
    return billing.users.readProfile(userId);
  };

  it('ends its subscription and its open checkout', async () => {
    const { userId, token, customer } = await billing.addCustomer('goodbye@example.com');
    const subscription = billing.stripe.subscribe(customer, 'price_pro');
    await billing.deliver(billing.eventOf('customer.subscription.created', customer));
    expect(await leave(userId, token)).toBeUndefined();
    expect(subscription.status).toBe('canceled');
    const own = [...billing.stripe.checkouts.values()].filter(one => one.customer === customer);
    expect(own.map(one => one.status)).toEqual(['expired']);
    const { Items } = await billing.client.scan({ TableName: 'ferryhook-main' });
    expect(JSON.stringify(Items)).not.toContain(userId);
    expect(await billing.deliver(billing.eventOf('customer.subscription.deleted', customer))).toBe('ignored');
  });

  it('stays while Stripe cannot be reached', async () => {
    const { userId, token, customer } = await billing.addCustomer('stuck@example.com');
    const subscription = billing.stripe.subscribe(customer, 'price_pro');
    billing.stripe.mood = 'garbage';
    expect(await leave(userId, token)).toBeDefined();
    billing.stripe.mood = 'well';
    await billing.finishDeletions();
    expect(await billing.users.readProfile(userId)).toBeUndefined();
    expect(subscription.status).toBe('canceled');
  });

  it('needs no call to Stripe if it never bought anything', async () => {
    const { userId } = await billing.addUser('never@example.com', 'right enough');
    const asked = billing.stripe.calls.length;
    expect(await leave(userId, await billing.tokenOf(userId))).toBeUndefined();
    expect(billing.stripe.calls.length).toBe(asked);
  });
});

describe('a server without a Stripe key', () => {
  it('reports it on every route', async () => {
    const bare = await openService();
    const { userId } = await bare.addUser('bare@example.com');
    const token = await bare.tokenOf(userId);
    const answers = [
      await bare.call(token, 'GET', '/v1/billing'),
      await bare.call(token, 'POST', '/v1/billing/checkout', { plan: 'pro' }),
      await bare.call(token, 'POST', '/v1/billing/portal', {}),
      await bare.request('/v1/billing/webhook', { method: 'POST', body: '{}' }),
    ];
    for (const answer of answers)
      expect(await problemOf(answer)).toEqual([501, 'accounts.billing_not_configured']);
    await bare.close();
  });
});

it('refuses strangers', async () => {
  for (const [method, path] of [
    ['GET', '/v1/billing'],
    ['POST', '/v1/billing/checkout'],
    ['POST', '/v1/billing/portal'],
  ] as const)
    expect((await billing.request(path, { method })).status).toBe(401);
});
