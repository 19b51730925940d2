import { z } from 'zod';
import { defineQuery, defineTable, entity, is, or } from '../src/index.ts';

// A small inbox: messages and receipts share keys, counts have a category in theirs, a message that is to be
// sent later is in a sparse index.

export const inbox = defineTable({
  name: 'example-inbox',
  description: 'A small inbox. It shows and tests what a design can say.',
  keys: { partition: 'pk', sort: 'sk' },
  indexes: {
    due: { partition: 'duepk', sort: 'duesk' },
    email: { partition: 'emailpk', project: 'KEYS_ONLY' },
    status: { partition: 'statuspk', sort: 'statussk', project: ['title', 'status'] },
  },
  ttl: 'expiredat',
  stream: 'NEW_AND_OLD_IMAGES',
});

export const user = entity(inbox, {
  name: 'user',
  kind: 'UR',
  schema: z.object({
    tenant_key: z.string(),
    uid: z.string(),
    email: z.email().nullish(),
    name: z.string().describe('how others see them'),
    roles: z.set(z.string()).optional(),
    history: z.array(z.string()).optional(),
    version: z.number().int(),
  }),
  key: { partition: 't#{tenant_key}', sort: 'u#{uid}' },
  indexes: { email: { partition: 'e#{tenant_key}#{email:text}' } },
  version: 'version',
  examples: [{ tenant_key: 'acme', uid: 'ann', email: 'ann@example.com', name: 'Ann' }],
});

export const message = entity(inbox, {
  name: 'message',
  description: 'A message to one user.',
  kind: 'UM',
  schema: z.object({
    tenant_key: z.string(),
    uid: z.string(),
    inbox_key: z.string(),
    id: z.string().describe('sorts by time'),
    title: z.string().max(200),
    status: z.enum(['draft', 'sent', 'redacted']).default('sent'),
    taxonomy: z.object({ category: z.string() }).optional(),
    readat: z.number().nullish(),
    dueat: z.number().int().nullish(),
    shard: z.number().int().optional(),
    expiredat: z.number().int().optional(),
  }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'm#{id}' },
  indexes: {
    due: { partition: 'DUE#{shard}', sort: '{dueat:14}#{id}' },
    status: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'STATUS#{status}#{id}' },
  },
  examples: [
    {
      tenant_key: 'acme',
      uid: 'ann',
      inbox_key: 'main',
      id: '0mjuxvy9s001',
      title: 'Your invoice',
      taxonomy: { category: 'billing' },
      shard: 1,
      dueat: 1_764_000_000,
    },
  ],
});

export const receipt = entity(inbox, {
  name: 'receipt',
  description: 'That a user has read a message to everyone. It stands where the message would.',
  schema: z.object({
    tenant_key: z.string(),
    uid: z.string(),
    inbox_key: z.string(),
    id: z.string(),
    readat: z.number(),
    expiredat: z.number().int(),
  }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'm#{id}' },
  inKeyOnly: ['tenant_key', 'uid', 'inbox_key', 'id'],
  examples: [
    {
      tenant_key: 'acme',
      uid: 'ann',
      inbox_key: 'main',
      id: '0mjuxvy9s002',
      readat: 1_764_000_000,
      expiredat: 4_000_000_000,
    },
  ],
});

const counts = z.object({
  tenant_key: z.string(),
  uid: z.string(),
  inbox_key: z.string(),
  published: z.number().int().optional(),
  read: z.number().int().optional(),
});

export const total = entity(inbox, {
  name: 'total',
  kind: 'US',
  schema: counts,
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'c#*' },
  examples: [{ tenant_key: 'acme', uid: 'ann', inbox_key: 'main', published: 1, read: 0 }],
});

export const categoryCount = entity(inbox, {
  name: 'category count',
  kind: 'US',
  schema: counts.extend({ category: z.string() }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'c#{category:text}' },
  inKeyOnly: ['category'],
});

export const messagesOfUser = defineQuery('messages of a user', { of: message, newestFirst: true });
export const feed = defineQuery('feed', { of: [message, receipt] });
export const mailbox = defineQuery('everything of a user', { of: [message, receipt, total, categoryCount] });
export const dueMessages = defineQuery('due messages', { of: message, index: 'due' });
export const byStatus = defineQuery('messages by status', { of: message, index: 'status' });
export const userByEmail = defineQuery('user by e-mail', { of: user, index: 'email' });
export const unreadMessages = defineQuery('unread messages', {
  of: message,
  newestFirst: true,
  filter: or({ readat: is.absent }, { readat: null }),
});
