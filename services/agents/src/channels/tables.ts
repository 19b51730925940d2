import { defineQuery, entity } from '@stak/table';
import { z } from 'zod';
import { conversationsKeys } from '../main-table.ts';

export const channelSecrets = entity(conversationsKeys, {
  name: 'channel secrets',
  description: 'The credentials that authenticate a channel to us and us to the channel.',
  schema: z.object({
    type: z.string(),
    channel_id: z.string(),
    tenant_id: z.string(),
    sealed: z.string(),
    updated_at: z.string(),
  }),
  key: { partition: 'CHANNEL#{type}#{channel_id}', sort: 'SECRETS' },
});

export const tenantChannel = entity(conversationsKeys, {
  name: 'channel of a tenant',
  description: 'Lists the channels for which a tenant has secrets.',
  schema: z.object({
    tenant_id: z.string(),
    type: z.string(),
    channel_id: z.string(),
    updated_at: z.string(),
  }),
  key: { partition: 'CHANNELS#{tenant_id}', sort: '{type}#{channel_id}' },
});

export const notice = entity(conversationsKeys, {
  name: 'notice',
  description: 'A sender who was notified why they get no answer, and is not notified again.',
  schema: z.object({
    tenant_id: z.string(),
    type: z.string(),
    identity: z.string(),
    reason: z.string(),
    ttl: z.number().int(),
  }),
  key: { partition: 'NOTICE#{tenant_id}', sort: '{type}#{identity:text}#{reason}' },
});

export const channelsOfTenant = defineQuery('channels with secrets of a tenant', {
  of: tenantChannel,
  consistent: true,
});
export const noticesOfTenant = defineQuery('notices of a tenant', { of: notice, consistent: true });
