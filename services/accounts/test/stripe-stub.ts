import { openLoopback, readText } from './loopback-stub.ts';

export type StubSubscription = {
  id: string;
  customer: string;
  status: string;
  cancel_at_period_end: boolean;
  cancel_at: number | null;
  billing_cycle_anchor?: number;
  items: { data: { price: { id: string }; current_period_start?: number; current_period_end: number }[] };
};

type Form = URLSearchParams;
type Answer = { status: number; body: object };
type Checkout = {
  id: string;
  customer: string;
  status: string;
  url: string;
  metadata: Record<string, string | null>;
  form: Record<string, string>;
};

const ok = (body: object): Answer => ({ status: 200, body });
const list = (data: object[]): Answer => ok({ object: 'list', data, has_more: false });
const missing = (what: string): Answer => ({
  status: 404,
  body: { error: { type: 'invalid_request_error', code: 'resource_missing', message: `No such ${what}` } },
});

// The endpoints of Stripe that billing uses, with Stripe's idempotency.
export async function openStripeStub() {
  const customers = new Map<string, Record<string, string>>();
  const subscriptions = new Map<string, StubSubscription>();
  const checkouts = new Map<string, Checkout>();
  const answered = new Map<string, Answer>();
  const calls: string[] = [];
  let made = 0;

  const createCustomer = (form: Form): Answer => {
    const id = `cus_${++made}`;
    customers.set(id, Object.fromEntries(form));
    return ok({ id, object: 'customer' });
  };
  const createCheckout = (form: Form): Answer => {
    const customer = form.get('customer') ?? '';
    if (!customers.has(customer)) return missing('customer');
    const id = `cs_${++made}`;
    const metadata = { checkoutId: form.get('metadata[checkoutId]') };
    const url = `https://checkout.stripe.example/${id}`;
    const checkout = { id, customer, status: 'open', url, metadata };
    checkouts.set(id, { ...checkout, form: Object.fromEntries(form) });
    return ok(checkout);
  };
  const openPortal = (form: Form): Answer =>
    ok({
      id: 'bps_1',
      url: `https://portal.stripe.example/${form.get('customer')}`,
      return_url: form.get('return_url'),
    });

  const ofCustomer = <T extends { customer: string; status: string }>(
    all: Map<string, T>,
    query: Form,
  ): T[] => [...all.values()].filter(one => one.customer === query.get('customer'));

  const answer = (method: string, path: string, form: Form): Answer => {
    const [, , resource = '', ...rest] = path.split('/');
    switch (`${method} ${[resource, ...rest].join('/').replaceAll(/(cs|sub|cus)_\w+/g, '*')}`) {
      case 'POST customers':
        return createCustomer(form);
      case 'GET customers/*': {
        const id = rest[0] ?? '';
        return customers.has(id)
          ? ok({ id, object: 'customer' })
          : ok({ id, object: 'customer', deleted: true });
      }
      case 'POST checkout/sessions':
        return createCheckout(form);
      case 'GET checkout/sessions':
        return list(ofCustomer(checkouts, form).filter(one => one.status === form.get('status')));
      case 'POST checkout/sessions/*/expire': {
        const checkout = checkouts.get(rest[1] ?? '');
        if (!checkout) return missing('checkout session');
        checkout.status = 'expired';
        return ok(checkout);
      }
      case 'POST billing_portal/sessions':
        return openPortal(form);
      case 'GET subscriptions':
        if (!customers.has(form.get('customer') ?? '')) return missing('customer');
        return list(ofCustomer(subscriptions, form).filter(one => one.status !== 'canceled'));
      case 'DELETE subscriptions/*': {
        const subscription = subscriptions.get(rest[0] ?? '');
        if (!subscription) return missing('subscription');
        subscription.status = 'canceled';
        return ok(subscription);
      }
      default:
        return { status: 404, body: { error: { message: `${method} ${path} is not of this stub` } } };
    }
  };

  // Tests hold an answer back here.
  const gate: { wait?: (call: string) => Promise<void> } = {};

  const loopback = await openLoopback(url => async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const method = request.method ?? '';
    const key = request.headers['idempotency-key'];
    const body = await readText(request);
    const form = method === 'GET' ? searchParams : new URLSearchParams(body);
    calls.push(`${method} ${pathname}`);
    const known = typeof key === 'string' ? answered.get(key) : undefined;
    const { status, body: answerBody } =
      request.headers.authorization === 'Bearer sk_test_stub'
        ? (known ?? answer(method, pathname, form))
        : { status: 401, body: { error: { message: 'Invalid API key' } } };
    if (typeof key === 'string') answered.set(key, { status, body: answerBody });
    const text = JSON.stringify(answerBody);
    await gate.wait?.(`${method} ${pathname}`);
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(text);
  });

  return Object.assign(loopback, {
    customers,
    subscriptions,
    checkouts,
    calls,
    gate,
    subscribe(customer: string, price: string, change: Partial<StubSubscription> = {}): StubSubscription {
      const subscription: StubSubscription = {
        id: `sub_${++made}`,
        customer,
        status: 'active',
        cancel_at_period_end: false,
        cancel_at: null,
        items: { data: [{ price: { id: price }, current_period_end: 1_800_000_000 }] },
        ...change,
      };
      subscriptions.set(subscription.id, subscription);
      return subscription;
    },
  });
}
