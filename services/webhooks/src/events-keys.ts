import { defineKeys } from '@stak/table';

export const eventsKeys = defineKeys({
  name: 'ferryhook-events',
  description:
    'Events, their deliveries and attempts, replay jobs, and counters. ' +
    'Ids sort by time, and functions differ from the document’s in a few arguments: ADR 0154.',
  keys: { partition: 'PK', sort: 'SK' },
  indexes: {
    GSI1: { partition: 'GSI1PK', sort: 'GSI1SK', project: 'KEYS_ONLY' },
    // The queue. Sparse: it holds only items that are due at some time, or wait in a connection's backlog.
    GSI2: { partition: 'GSI2PK', sort: 'GSI2SK', project: ['dueAt'] },
  },
  ttl: 'expiresAt',
  stream: 'NEW_AND_OLD_IMAGES',
});

export const eventStatuses = [
  'received',
  'processing',
  'filtered',
  'delivered',
  'partial',
  'retrying',
  'failed',
  'rejected',
] as const;
export type EventStatus = (typeof eventStatuses)[number];
