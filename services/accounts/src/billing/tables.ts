import { entity, type Store } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys } from '../main-table.ts';
import type { BillingPeriod } from './period.ts';

export const subscription = entity(ferryhookKeys, {
  name: 'subscription',
  description: 'The last known state of a user’s subscription at Stripe. The plan itself is on the user.',
  schema: z.object({
    userId: z.string(),
    status: z.string().optional().describe("Stripe's; absent without a subscription"),
    currentPeriodStart: z.string().optional().describe('ISO timestamp'),
    currentPeriodEnd: z.string().optional().describe('ISO timestamp'),
    billingCycleAnchor: z
      .string()
      .optional()
      .describe('ISO timestamp: the day and time at which months start'),
    cancelAtPeriodEnd: z.boolean().optional(),
    carried: z
      .object({ from: z.string(), to: z.string() })
      .optional()
      .describe(
        'A calendar month that was counted before the periods were known, and the period it belongs to',
      ),
    syncedAt: z.string().describe('ISO timestamp'),
  }),
  key: { partition: 'USER#{userId}', sort: 'SUBSCRIPTION' },
});

// Undefined without a subscription, and for a subscription that is older than our record of periods.
export async function readBillingPeriod(store: Store, userId: string): Promise<BillingPeriod | undefined> {
  const storedSubscription = await store.get(subscription, { userId }, { consistent: true });
  const { currentPeriodStart, billingCycleAnchor, carried } = storedSubscription ?? {};
  return currentPeriodStart === undefined
    ? undefined
    : { currentPeriodStart, billingCycleAnchor, ...(carried && { carried }) };
}
