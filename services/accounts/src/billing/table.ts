import { entity, type Store } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys } from '../table.ts';
import type { BillingPeriod } from './period.ts';

export const subscription = entity(ferryhookKeys, {
  name: 'subscription',
  description: 'What Stripe last said about what a user pays for. The plan itself is on the user.',
  schema: z.object({
    userId: z.string(),
    status: z.string().optional().describe("Stripe's; absent if nothing is paid for"),
    currentPeriodStart: z.string().optional().describe('ISO timestamp'),
    currentPeriodEnd: z.string().optional().describe('ISO timestamp'),
    billingCycleAnchor: z
      .string()
      .optional()
      .describe('ISO timestamp: the day and time at which months begin'),
    cancelAtPeriodEnd: z.boolean().optional(),
    carried: z
      .object({ from: z.string(), to: z.string() })
      .optional()
      .describe('A calendar month that was counted before its periods were known, and the period it lies in'),
    syncedAt: z.string().describe('ISO timestamp'),
  }),
  key: { partition: 'USER#{userId}', sort: 'SUBSCRIPTION' },
});

// Undefined without a subscription, and for one that was last written down before its periods were.
export async function readBillingPeriod(store: Store, userId: string): Promise<BillingPeriod | undefined> {
  const found = await store.get(subscription, { userId }, { consistent: true });
  const { currentPeriodStart, billingCycleAnchor, carried } = found ?? {};
  return currentPeriodStart === undefined
    ? undefined
    : { currentPeriodStart, billingCycleAnchor, ...(carried && { carried }) };
}
