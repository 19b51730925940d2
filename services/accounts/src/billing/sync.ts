import { failedStep, type ItemOf, type Store, write } from '@stak/table';
import { z } from 'zod';
import type { Audit } from '../audit.ts';
import { type Base, inSeconds, isoTime } from '../deps.ts';
import { accountsErrors } from '../errors.ts';
import { stripeEventS } from '../limits.ts';
import { stripeEvent } from '../main-table.ts';
import type { Notices } from '../notices/notices.ts';
import type { Outbox } from '../notices/outbox.ts';
import type { Users } from '../users/users.ts';
import { listSubscriptions } from './customers.ts';
import { refuse } from './errors.ts';
import * as limits from './limits.ts';
import { type Carried, carriedBy } from './period.ts';
import { type BilledPlan, billedOf } from './plans.ts';
import type { StripeClient } from './stripe.ts';
import { subscription } from './tables.ts';

// An event only says that something changed for a customer; the current state is read from Stripe. So the order of
// events does not matter, nor the version of Stripe's API that they are written in.
export const billingEventSchema = z.object({
  id: z.string().min(1).max(255),
  type: z.string().max(255),
  data: z.object({
    object: z.object({
      customer: z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]).nullish(),
    }),
  }),
});
export type BillingEvent = z.infer<typeof billingEventSchema>;

const relevantTypes: ReadonlySet<string> = new Set([
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'invoice.paid',
  'invoice.payment_failed',
]);

export const outcomes = ['applied', 'repeated', 'ignored'] as const;
export type Outcome = (typeof outcomes)[number];

type Deps = Pick<Base, 'store' | 'clock' | 'log'> & {
  users: Users;
  audit: Audit;
  outbox: Pick<Outbox, 'wake'>;
  notices: Pick<Notices, 'paymentFailed'>;
};

export async function applyEvent(deps: Deps, client: StripeClient, event: BillingEvent): Promise<Outcome> {
  const { store, users, log } = deps;
  const customer = event.data.object.customer;
  if (!relevantTypes.has(event.type) || !customer) return 'ignored';
  for (let attempt = 0; attempt < limits.syncAttempts; attempt++) {
    if (await isApplied(store, event.id)) return 'repeated';
    const user = await users.findProfile('stripeCustomerId', customer);
    if (!user || user.deletingAt !== undefined) {
      log.info(
        { stripe_event: event.id, stripe_customer: customer },
        'an event of Stripe is for nobody here',
      );
      return 'ignored';
    }
    // The user's version is read before Stripe is called and checked by the write. Of two concurrent handlers, the one
    // with the older state fails and reads again.
    const outcome = await writeBilled(deps, client, event, { ...user, stripeCustomerId: customer });
    if (outcome !== 'outdated') return outcome;
  }
  throw refuse('accounts.billing_busy', 'The account is being changed. Try again.', { retryAfterS: 1 });
}

const isApplied = async (store: Store, stripeEventId: string): Promise<boolean> =>
  (await store.get(stripeEvent, { stripeEventId }, { consistent: true })) !== undefined;

async function writeBilled(
  { store, users, audit, clock, log, outbox, notices }: Deps,
  client: StripeClient,
  { id, type }: BillingEvent,
  user: { userId: string; version: number; plan: string; stripeCustomerId: string; stripeSubId?: string },
): Promise<Outcome | 'outdated'> {
  const { userId, version } = user;
  const subscriptions = await listSubscriptions(client, user.stripeCustomerId);
  const { plan, stripeSubId, ...state } = billedOf(subscriptions, client.settings.prices);
  const before = await store.get(subscription, { userId }, { consistent: true });
  const now = isoTime(clock.now());
  const mark = {
    stripeEventId: id,
    type,
    appliedAt: now,
    expiresAt: inSeconds(clock.now()) + stripeEventS,
  };
  const entry = {
    action: 'plan.changed',
    via: 'stripe',
    target: stripeSubId,
    detail: `${user.plan} to ${plan}`,
  };
  try {
    await users.update(
      userId,
      { plan, stripeSubId: stripeSubId ?? null },
      {
        ifVersion: version,
        also: {
          'the event': write.put(stripeEvent, mark, { ifAbsent: true }),
          'the subscription': write.put(subscription, {
            userId,
            ...state,
            ...carriedOf(user, before, state, clock.now()),
            syncedAt: now,
          }),
          ...(plan !== user.plan && { audit: audit.step(userId, entry) }),
          ...(type === 'invoice.payment_failed' && notices.paymentFailed(userId, { plan: user.plan })),
        },
      },
    );
  } catch (error) {
    if (failedStep(error)?.step === 'the event') return 'repeated';
    if (accountsErrors.includes(error)) return 'outdated';
    throw error;
  }
  outbox.wake();
  if (plan !== user.plan)
    log.info({ user: userId, from: user.plan, to: plan, stripe_event: id }, 'plan changed');
  return 'applied';
}

function carriedOf(
  { stripeSubId }: { stripeSubId?: string },
  before: ItemOf<typeof subscription> | undefined,
  { currentPeriodStart, billingCycleAnchor }: Omit<BilledPlan, 'plan'>,
  nowMs: number,
): { carried?: Carried } {
  if (before?.carried) return { carried: before.carried };
  const isFirstKnown = stripeSubId !== undefined && before?.currentPeriodStart === undefined;
  if (!isFirstKnown || currentPeriodStart === undefined) return {};
  const carried = carriedBy({ currentPeriodStart, billingCycleAnchor }, nowMs);
  return carried ? { carried } : {};
}
