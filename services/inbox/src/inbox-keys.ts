import { defineKeys } from '@stak/table';
import { z } from 'zod';

// The keys of the table, and what its entities have in common.

export const inboxKeys = defineKeys({
  name: 'stak-inbox',
  description: 'Messages to users and to everyone, what users did with them, and exact counts.',
  keys: { partition: 'pk', sort: 'sk' },
  indexes: { due: { partition: 'duepk', sort: 'duesk', project: 'KEYS_ONLY' } },
  ttl: 'expiredat',
  stream: 'NEW_AND_OLD_IMAGES',
});

export const int = z.number().int();
export const inboxId = { tenant_key: z.string(), inbox_key: z.string() };
export const messageContent = z.object({
  title: z.string(),
  body: z.unknown().optional(),
  cta_uri: z.string().nullable(),
});
export const taxonomy = z.object({ category: z.string() }).optional();

export const exampleInbox = { tenant_key: 'acme', inbox_key: 'main' };
export const exampleId = '0mjuxvy9s00aaaaaaaaaaaaa';
