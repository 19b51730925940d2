import { endpoint, type Prove } from '@stak/http';
import { type Audit, doneBy } from '../audit.ts';
import type { AccountEraser, Base } from '../deps.ts';
import type { Notices } from '../notices/notices.ts';
import type { Outbox } from '../notices/outbox.ts';
import { originOf } from '../origin.ts';
import type { ReturnSettings } from '../people/oauth/return-to.ts';
import { planOf } from '../plans.ts';
import type { Users } from '../users/users.ts';
import { openPortal, readUser, startCheckout } from './checkout.ts';
import { endSubscriptions } from './customers.ts';
import { refuse } from './errors.ts';
import { paidPlans } from './plans.ts';
import { billingRoutes as routes } from './routes.ts';
import { openStripe, type StripeSettings } from './stripe.ts';
import { applyEvent, type BillingEvent, billingEventSchema } from './sync.ts';
import { subscription } from './tables.ts';

export type BillingDeps = Pick<Base, 'store' | 'clock' | 'log'> & {
  users: Users;
  audit: Audit;
  outbox: Outbox;
  notices: Notices;
  pages: ReturnSettings;
  stripe?: StripeSettings; // without it, every route responds that there is no billing
};

export function createBilling(deps: BillingDeps) {
  const { store, users, audit, clock, log } = deps;
  const getClient = openStripe(deps.stripe);

  const proveStripe: Prove = async c => {
    const { settings, load } = getClient();
    const { webhooks } = await load();
    const signature = c.req.header('stripe-signature') ?? '';
    try {
      const event = await webhooks.constructEventAsync(
        c.get('body'),
        signature,
        settings.webhookSecret,
        undefined,
        undefined,
        clock.now(),
      );
      return { kind: 'provider', provider: 'stripe', subject: event.id };
    } catch (error) {
      const reason = String(error).split('\n', 1)[0];
      log.warn({ reason, request_id: c.get('requestId') }, 'invalid signature of a Stripe event');
      return undefined;
    }
  };

  const api = [
    endpoint(routes.read, async c => {
      const { settings } = getClient();
      const { accountId: userId } = c.get('principal');
      const [user, billed] = await Promise.all([
        readUser(users, userId),
        store.get(subscription, { userId }, { consistent: true }),
      ]);
      const { status, currentPeriodEnd, cancelAtPeriodEnd } = billed ?? {};
      const plansSold = paidPlans.filter(plan => settings.prices[plan]?.length);
      const plan = planOf(user, 'free');
      return c.json({ plan, status, currentPeriodEnd, cancelAtPeriodEnd, plansSold }, 200);
    }),
    endpoint(routes.checkout, async c => {
      const { plan, return_to: returnTo } = c.req.valid('json');
      const userId = c.get('principal').accountId;
      const checkoutId = c.get('ids').next();
      const url = await startCheckout(deps, getClient(), { checkoutId, userId, plan, returnTo });
      await audit.record(userId, {
        action: 'checkout.started',
        detail: plan,
        ...doneBy(c.get('principal'), originOf(c)),
      });
      return c.json({ url }, 201);
    }),
    endpoint(routes.portal, async c => {
      const { return_to: returnTo } = c.req.valid('json');
      const userId = c.get('principal').accountId;
      const url = await openPortal(deps, getClient(), { userId, returnTo });
      await audit.record(userId, { action: 'portal.opened', ...doneBy(c.get('principal'), originOf(c)) });
      return c.json({ url }, 200);
    }),
    endpoint(
      routes.webhook,
      async c => c.json({ outcome: await applyEvent(deps, getClient(), readEvent(c.get('body'))) }, 200),
      proveStripe,
    ),
  ] as const;

  // Runs when an account is deleted. Throws while Stripe is unreachable: a deleted account must not keep paying.
  const eraser: AccountEraser = {
    name: 'billing',
    async eraseAccount(userId) {
      const customer = (await users.readProfile(userId))?.stripeCustomerId;
      if (customer !== undefined) await endSubscriptions(getClient(), customer);
      await store.delete(subscription, { userId });
      return 'done';
    },
  };

  return { api, eraser };
}

function readEvent(body: Uint8Array): BillingEvent {
  const event = billingEventSchema.safeParse(JSON.parse(Buffer.from(body).toString()));
  if (!event.success) throw refuse('accounts.event_unreadable', 'This is not an event as Stripe sends them.');
  return event.data;
}
