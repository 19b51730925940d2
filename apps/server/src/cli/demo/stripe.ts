import { createHmac } from 'node:crypto';
import type { Order } from './shop.ts';
import type { PaymentType } from './story.ts';

type PaymentEvent = { id: string; type: PaymentType; order: Order; createdS: number };

// An event in Stripe's format, with the fields that the shop uses.
export function wordEvent({ id, type, order, createdS }: PaymentEvent): string {
  const { number, customer, product, pieces, cents } = order;
  const [what, prefix] = objects[type];
  return JSON.stringify({
    id: `evt_${id}`,
    object: 'event',
    type,
    created: createdS,
    livemode: false,
    data: {
      object: {
        id: `${prefix}_${id}`,
        object: what,
        amount_total: cents,
        currency: 'eur',
        customer_email: customer.email,
        metadata: { order: number, product, pieces },
      },
    },
  });
}

const objects: Readonly<Record<PaymentType, readonly [object: string, prefix: string]>> = {
  'payment_intent.created': ['payment_intent', 'pi'],
  'payment_intent.payment_failed': ['payment_intent', 'pi'],
  'checkout.session.completed': ['checkout.session', 'cs'],
  'charge.refunded': ['charge', 'ch'],
};

export function signEvent(body: string, secret: string, nowS: number): string {
  const mac = createHmac('sha256', secret).update(`${nowS}.${body}`).digest('hex');
  return `t=${nowS},v1=${mac}`;
}
