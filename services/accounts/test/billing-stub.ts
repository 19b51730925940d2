import Stripe from 'stripe';
import { openEmbedded } from './open-accounts.ts';
import { openService } from './service-stub.ts';
import { openStripeStub } from './stripe-stub.ts';

const webhookSecret = 'whsec_of_the_stub';
const prices = { starter: ['price_starter'], pro: ['price_pro', 'price_pro_2024'] };

// Stripe's own helper, as it is called by those who test against Stripe.
const { webhooks } = new Stripe('sk_test_unused');

export async function openBilling(open = openEmbedded) {
  const stripe = await openStripeStub();
  const settings = { secretKey: 'sk_test_stub', webhookSecret, prices, url: stripe.url };
  const service = await openService({ stripe: settings }, open);
  let events = 0;

  const post = (body: string | Uint8Array<ArrayBuffer>, signature?: string): Promise<Response> =>
    service.request('/v1/billing/webhook', {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', ...(signature && { 'Stripe-Signature': signature }) },
    });
  const sign = (payload: string, secret = webhookSecret, ageS = 0): string =>
    webhooks.generateTestHeaderString({
      payload,
      secret,
      timestamp: Math.floor(service.clock.now() / 1000) - ageS,
    });
  const eventOf = (type: string, customer: unknown, id = `evt_${++events}`): string =>
    JSON.stringify({ id, object: 'event', type, data: { object: { id: 'x', object: 'thing', customer } } });

  return {
    ...service,
    stripe,
    post,
    sign,
    eventOf,
    // An event as Stripe delivers it, and what became of it.
    async deliver(event: string): Promise<unknown> {
      const response = await post(event, sign(event));
      return ((await response.json()) as { outcome?: string }).outcome ?? response.status;
    },
    // A user who went to the checkout once.
    async addCustomer(email: string) {
      const { userId } = await service.addUser(email, 'right enough');
      const token = await service.tokenOf(userId);
      const response = await service.call(token, 'POST', '/v1/billing/checkout', { plan: 'starter' });
      if (response.status !== 201) throw new Error(await response.text());
      const { stripeCustomerId } = (await service.users.readProfile(userId))!;
      return { userId, token, customer: stripeCustomerId! };
    },
    planOf: async (userId: string) => (await service.users.readProfile(userId))?.plan,
    async close() {
      await Promise.all([stripe.close(), service.close()]);
    },
  };
}
export type Billing = Awaited<ReturnType<typeof openBilling>>;
