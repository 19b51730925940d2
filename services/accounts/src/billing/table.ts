import { entity } from '@stak/table';
import { z } from 'zod';
import { ferryhookMain } from '../table.ts';

export const subscription = entity(ferryhookMain, {
  name: 'subscription',
  description: 'What Stripe last said about what a user pays for. The plan itself is on the user.',
  schema: z.object({
    userId: z.string(),
    status: z.string().optional().describe("Stripe's; absent if nothing is paid for"),
    currentPeriodEnd: z.string().optional().describe('ISO timestamp'),
    cancelAtPeriodEnd: z.boolean().optional(),
    syncedAt: z.string().describe('ISO timestamp'),
  }),
  key: { partition: 'USER#{userId}', sort: 'SUBSCRIPTION' },
});
