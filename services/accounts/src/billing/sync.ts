import { failedStep, type ItemOf, type Store, write } from '@stak/table';
import { z } from 'zod';
import type { Audit } from '../audit.ts';
import { type Base, inSeconds, isoTime } from '../deps.ts';
import { accountsErrors } from '../errors.ts';
import { stripeEventS } from '../limits.ts';
import type { Notices } from '../mail/notices.ts';
import type { Outbox } from '../mail/outbox.ts';
import { stripeEvent } from '../table.ts';
import type { Users } from '../users/users.ts';
import { listSubscriptions } from './customers.ts';
import { refuse } from './errors.ts';
import * as limits from './limits.ts';
import { type Carried, carriedBy } from './period.ts';
import { type Billed, billedOf } from './plans.ts';
import type { StripeDoor } from './stripe.ts';
import { subscription } from './table.ts';

// An event is a hint that something changed for a customer; what it is now, Stripe is asked. So it does not matter
// in which order events come, nor in which version of Stripe's API they are written.
export const noticeSchema = z.object({
  id: z.string().min(1).max(255),
  type: z.string().max(255),
  data: z.object({
    object: z.object({
      customer: z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]).nullish(),
    }),
  }),
});
export type Notice = z.infer<typeof noticeSchema>;

const telling: ReadonlySet<string> = new Set([
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
  outbox: Pick<Outbox, 'ring'>;
  notices: Pick<Notices, 'paymentFailed'>;
};

export async function applyNotice(deps: Deps, door: StripeDoor, notice: Notice): Promise<Outcome> {
  const { store, users, log } = deps;
  const customer = notice.data.object.customer;
  if (!telling.has(notice.type) || !customer) return 'ignored';
  for (let attempt = 0; attempt < limits.syncAttempts; attempt++) {
    if (await isApplied(store, notice.id)) return 'repeated';
    const user = await users.findProfile('stripeCustomerId', customer);
    if (!user || user.deletingAt !== undefined) {
      log.info(
        { stripe_event: notice.id, stripe_customer: customer },
        'an event of Stripe is for nobody here',
      );
      return 'ignored';
    }
    // The user's version is read before Stripe is asked and must still hold when the answer is written: of two
    // handlers, the one with the older answer asks again.
    const outcome = await writeBilled(deps, door, notice, { ...user, stripeCustomerId: customer });
    if (outcome !== 'outdated') return outcome;
  }
  throw refuse('accounts.billing_busy', 'The account is being changed. Try again.', { retryAfterS: 1 });
}

const isApplied = async (store: Store, stripeEventId: string): Promise<boolean> =>
  (await store.get(stripeEvent, { stripeEventId }, { consistent: true })) !== undefined;

async function writeBilled(
  { store, users, audit, clock, log, outbox, notices }: Deps,
  door: StripeDoor,
  { id, type }: Notice,
  user: { userId: string; version: number; plan: string; stripeCustomerId: string; stripeSubId?: string },
): Promise<Outcome | 'outdated'> {
  const { userId, version } = user;
  const subscriptions = await listSubscriptions(door, user.stripeCustomerId);
  const { plan, stripeSubId, ...state } = billedOf(subscriptions, door.settings.prices);
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
  outbox.ring();
  if (plan !== user.plan)
    log.info({ user: userId, from: user.plan, to: plan, stripe_event: id }, 'plan changed');
  return 'applied';
}

function carriedOf(
  { stripeSubId }: { stripeSubId?: string },
  before: ItemOf<typeof subscription> | undefined,
  { currentPeriodStart, billingCycleAnchor }: Omit<Billed, 'plan'>,
  nowMs: number,
): { carried?: Carried } {
  if (before?.carried) return { carried: before.carried };
  const isFirstKnown = stripeSubId !== undefined && before?.currentPeriodStart === undefined;
  if (!isFirstKnown || currentPeriodStart === undefined) return {};
  const carried = carriedBy({ currentPeriodStart, billingCycleAnchor }, nowMs);
  return carried ? { carried } : {};
}
