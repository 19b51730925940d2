import { defineInsights } from '@stak/table';
import { delivery } from '../tables.ts';

// For the lake. Times are in milliseconds; days are those of UTC.
export const deliveryInsights = defineInsights(delivery, ({ column }) => [
  {
    name: 'deliveries',
    description: 'Deliveries of webhooks by day and state, and how many attempts they took.',
    of: 'kept',
    groups: {
      day: `strftime(to_timestamp(${column('receivedAt')} / 1000), '%Y-%m-%d')`,
      state: column('state'),
    },
    sums: { deliveries: '1', attempts: column('attempts') },
    day: 'day',
  },
]);
