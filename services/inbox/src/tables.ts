import { type AnyEntity, defineQuery, defineTable, type KeyOf, ownedByKey } from '@stak/table';
import { inboxKeys } from './inbox-keys.ts';
import {
  broadcast,
  categoryStats,
  expiry,
  publicCategoryStats,
  publicMessage,
  publicStats,
  receipt,
  userMessage,
  userStats,
} from './mailbox-tables.ts';
import {
  audiencePart,
  hostId,
  member,
  memberTotal,
  messageBody,
  requestKey,
  send,
  sharedHostId,
} from './send-tables.ts';
import {
  categoryErasure,
  inboxCategories,
  inboxConfig,
  inboxCreation,
  inboxErasure,
  tenantSettings,
} from './settings-tables.ts';

// The table: everything stored in it, and every way it is queried.

export * from './mailbox-tables.ts';
export * from './send-tables.ts';
export * from './settings-tables.ts';

export const messagesOfUser = defineQuery('messages of a user', {
  of: [userMessage, receipt],
  newestFirst: true,
  consistent: true,
});
export const expiriesOfUser = defineQuery('next expiries of a user', { of: expiry, consistent: true });
export const broadcastsOfInbox = defineQuery('broadcasts of an inbox', { of: broadcast, consistent: true });
export const publicCategories = defineQuery('public category stats of an inbox', {
  of: publicCategoryStats,
  consistent: true,
});
export const inboxesOfTenant = defineQuery('inboxes of a tenant', { of: inboxConfig, consistent: true });
export const dueCategoryErasures = defineQuery('due erasures of categories', {
  of: categoryErasure,
  index: 'due',
});
export const dueErasures = defineQuery('due erasures of inboxes', { of: inboxErasure, index: 'due' });
export const sendsOfInbox = defineQuery('sends of an inbox', { of: send, newestFirst: true });
export const dueSends = defineQuery('due sends', { of: send, index: 'due' });
export const audienceOfSend = defineQuery('audience of a send', { of: audiencePart, consistent: true });
export const sendsOfHostId = defineQuery('sends of a host id', { of: sharedHostId, consistent: true });
export const membersOfInbox = defineQuery('members of an inbox', { of: member, consistent: true });

// For erasing.
export const allOfUser = defineQuery('everything of a user', {
  of: [userMessage, receipt, userStats, categoryStats, expiry],
  consistent: true,
});
export const allToEveryone = defineQuery('everything to everyone', {
  of: [publicMessage, publicStats, publicCategoryStats, broadcast],
  consistent: true,
});
export const allSent = defineQuery('everything sent', {
  of: [send, messageBody, audiencePart, hostId, sharedHostId, requestKey],
  consistent: true,
});
export const allOfTenant = defineQuery('everything of a tenant', {
  of: [tenantSettings, inboxConfig, inboxCategories, inboxCreation, inboxErasure, categoryErasure],
  consistent: true,
});

const entities = [
  tenantSettings,
  inboxConfig,
  inboxCategories,
  inboxCreation,
  userMessage,
  receipt,
  userStats,
  categoryStats,
  expiry,
  publicMessage,
  publicStats,
  publicCategoryStats,
  broadcast,
  send,
  audiencePart,
  messageBody,
  hostId,
  sharedHostId,
  requestKey,
  member,
  memberTotal,
  inboxErasure,
  categoryErasure,
] as const;

export const inboxTable = defineTable(inboxKeys, {
  entities,
  queries: [
    messagesOfUser,
    expiriesOfUser,
    broadcastsOfInbox,
    publicCategories,
    inboxesOfTenant,
    dueCategoryErasures,
    dueErasures,
    sendsOfInbox,
    dueSends,
    audienceOfSend,
    sendsOfHostId,
    membersOfInbox,
    allOfUser,
    allToEveryone,
    allSent,
    allOfTenant,
  ],
});

// Each item takes the storage of its tenant, which is part of every key.
const ofTenant = <E extends AnyEntity>(
  entity: E & (KeyOf<E> extends { tenant_key: string } ? unknown : never),
) =>
  ownedByKey(
    entity as AnyEntity,
    key => ({ kind: 'tenant', id: (key as { tenant_key: string }).tenant_key }) as const,
  );

export const inboxOwners = entities.map(entity => ofTenant(entity));
