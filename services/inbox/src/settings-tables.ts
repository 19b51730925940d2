import { entity } from '@stak/table';
import { z } from 'zod';
import { exampleInbox, inboxId, inboxKeys, int } from './inbox-keys.ts';

// Settings of tenants and inboxes, and the jobs that delete inboxes and categories.

export const tenantSettings = entity(inboxKeys, {
  name: 'tenant settings',
  kind: 'TS',
  schema: z.object({
    tenant_key: z.string(),
    title: z.string(),
    ttl: z.string().optional(),
    uid: z.string().describe('who last changed it'),
    version: int,
  }),
  key: { partition: 't#{tenant_key}', sort: 'st#tenant_settings' },
  version: 'version',
  examples: [{ tenant_key: 'acme', title: 'Acme', ttl: '30d', uid: 'usr_1' }],
});

export const inboxConfig = entity(inboxKeys, {
  name: 'inbox config',
  kind: 'IC',
  schema: z.object({
    ...inboxId,
    title: z.string(),
    description: z.string(),
    ttl: z.record(z.string(), z.string()).describe('by category, and `default`'),
    schema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of message bodies'),
    late_joiners: z.union([z.enum(['all', 'none']), z.object({ last: int })]),
    unique_host_system_ids: z.boolean(),
    cta_schemes: z.array(z.string()).optional().describe('of links, in addition to https, http and mailto'),
    uid: z.string().describe('who last changed it'),
    erasing: z.literal(true).optional().describe('the inbox was deleted, and its contents are being removed'),
    version: int,
  }),
  key: { partition: 't#{tenant_key}', sort: 'si#{inbox_key}' },
  version: 'version',
  examples: [
    {
      ...exampleInbox,
      title: 'News',
      description: '',
      ttl: { default: '30d' },
      late_joiners: 'all',
      unique_host_system_ids: true,
      uid: 'usr_1',
    },
  ],
});

export const inboxCategories = entity(inboxKeys, {
  name: 'inbox categories',
  description: 'The categories of an inbox, and until when each may have messages.',
  kind: 'SC',
  schema: z.object({
    ...inboxId,
    categories: z.array(z.string()),
    until: z.record(z.string(), int).optional().describe('by category, in seconds'),
    deleting: z
      .array(z.string())
      .optional()
      .describe('categories that are being deleted with their messages'),
    version: int,
  }),
  key: { partition: 't#{tenant_key}', sort: 'sc#{inbox_key}' },
  version: 'version',
  examples: [{ ...exampleInbox, categories: ['billing'], until: { billing: 4_000_000_000 } }],
});

export const inboxCreation = entity(inboxKeys, {
  name: 'inbox creation',
  description: 'Written with each new inbox of a tenant. Of two at the same time, one has to count again.',
  kind: 'IN',
  schema: z.object({ tenant_key: inboxId.tenant_key, version: int }),
  key: { partition: 't#{tenant_key}', sort: 'sn' },
  version: 'version',
  examples: [{ tenant_key: exampleInbox.tenant_key }],
});

// Common to all deletions that the worker runs.
const erasure = {
  startedat: int,
  finishedat: int.optional(),
  quietat: int.optional().describe('since when nothing is left, in milliseconds'),
  shard: int.optional(),
  dueat: int.optional().describe('when a worker should process it, in milliseconds'),
  fence: z.string().optional().describe('which worker leases it'),
  expiredat: int.optional(),
};

export const inboxErasure = entity(inboxKeys, {
  name: 'inbox erasure',
  description: 'The deletion of an inbox, and its progress.',
  kind: 'EJ',
  schema: z.object({
    ...inboxId,
    by: z.string(),
    status: z.enum(['erasing', 'erased']),
    erased: int.describe('items removed so far'),
    ...erasure,
  }),
  key: { partition: 't#{tenant_key}', sort: 'se#{inbox_key}' },
  indexes: { due: { partition: 'ERASE#{shard}', sort: '{dueat:14}#{inbox_key}' } },
  examples: [
    {
      ...exampleInbox,
      by: 'usr_1',
      status: 'erasing',
      erased: 200,
      startedat: 1_764_000_000,
      shard: 0,
      dueat: 1_764_000_000_000,
    },
  ],
});

export const categoryErasure = entity(inboxKeys, {
  name: 'category erasure',
  description: 'The deletion of a category, and its progress.',
  kind: 'CJ',
  schema: z.object({
    ...inboxId,
    category: z.string(),
    by: z.string(),
    status: z.enum(['erasing', 'erased']),
    erased: int.describe('sends redacted so far'),
    ...erasure,
  }),
  key: { partition: 't#{tenant_key}', sort: 'sx#{inbox_key}#{category:text}' },
  indexes: { due: { partition: 'CATEGORY#{shard}', sort: '{dueat:14}#{inbox_key}#{category:text}' } },
  examples: [
    {
      ...exampleInbox,
      category: 'billing',
      by: 'usr_1',
      status: 'erasing',
      erased: 12,
      startedat: 1_764_000_000,
      shard: 0,
      dueat: 1_764_000_000_000,
    },
  ],
});
