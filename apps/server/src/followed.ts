import { apiKey, auditEntry, profile, subscription } from '@stak/accounts/tables';
import {
  conversation,
  conversations,
  customSkill,
  tenantDay,
  tenantsWithMemory,
  userDay,
} from '@stak/agents/tables';
import { messageInsights } from '@stak/inbox/insights';
import {
  inboxConfig,
  inboxTable,
  messageBody,
  publicMessage,
  receipt,
  userMessage,
} from '@stak/inbox/tables';
import { type FollowedEntity, type FollowedTable, follow, type Owner } from '@stak/lake/maintenance';
import type { AnyTable } from '@stak/table';
import { taskInsights } from '@stak/tasks/insights';
import { ownerOf } from '@stak/tasks/owner';
import { task, user as taskUser, todoAppData, trashed } from '@stak/tasks/tables';
import { channelMapping, tenant, user as tenantUser } from '@stak/tenants/tables';
import { deliveryInsights } from '@stak/webhooks/insights';
import {
  alert,
  connection,
  delivery,
  event,
  ferryhookEvents,
  ferryhookMain,
  source,
} from '@stak/webhooks/tables';

// What the lake keeps of the services' tables, and whose it is. A thread loads this that runs no service, so it asks
// for their tables alone. Counters, locks, leases and copies for an index stay in
// their tables, and so does what is written twice as large elsewhere: payloads, and the texts of conversations. Whatever
// holds a user's words has to say whose they are, or nobody could have them erased.

const ofAccount = ({ userId }: { userId: string }): Owner => ({ account_id: userId });
const ofTenant = ({ tenant_id }: { tenant_id: string }): Owner => ({ tenant_id });
const ofUser = ({ tenant_id, user_id }: { tenant_id: string; user_id?: string }): Owner => ({
  tenant_id,
  ...(user_id !== undefined && { user_id }),
});
const ofInbox = ({ tenant_key, uid }: { tenant_key: string; uid?: string }): Owner =>
  ofUser({ tenant_id: tenant_key, user_id: uid });

function ofTaskUser({ user_id }: { user_id: string }): Owner {
  const owner = ownerOf(user_id);
  return owner.kind === 'account'
    ? { account_id: owner.accountId }
    : { tenant_id: owner.tenantId, user_id: owner.userId };
}

const elsewhere = ['stripeCustomerId', 'stripeSubId', 'githubId', 'googleId']; // who they are for others

const entities: readonly FollowedEntity[] = [
  follow(profile, { view: 'accounts', ownerOf: ofAccount, omit: ['passwordHash', ...elsewhere] }),
  follow(apiKey, { view: 'api_keys', ownerOf: ofAccount, omit: ['keyHash'] }),
  follow(auditEntry, { view: 'audit', scope: 'admin', ownerOf: ofAccount }),
  follow(subscription, { view: 'subscriptions', ownerOf: ofAccount }),

  follow(source, {
    view: 'sources',
    ownerOf: ofAccount,
    omit: ['signingSecret', 'verifyToken', 'alertSecret'],
  }),
  follow(connection, { view: 'connections', ownerOf: ofAccount, omit: ['signingSecret'] }),
  follow(alert, { view: 'alerts', ownerOf: ofAccount }),
  follow(event, { view: 'events', ownerOf: ofAccount }),
  follow(delivery, { view: 'deliveries', ownerOf: ofAccount }),

  follow(tenant, { view: 'tenants', ownerOf: ({ account_id }) => ({ account_id }) }),
  follow(tenantUser, { view: 'users', ownerOf: ofUser }),
  follow(channelMapping, { view: 'channels', ownerOf: ofTenant }),

  follow(inboxConfig, { view: 'inboxes', ownerOf: ({ tenant_key }) => ({ tenant_id: tenant_key }) }),
  follow(userMessage, { view: 'messages', ownerOf: ofInbox }),
  follow(messageBody, { view: 'message_bodies', ownerOf: ({ tenant_key }) => ({ tenant_id: tenant_key }) }),
  follow(receipt, { view: 'receipts', ownerOf: ofInbox, omit: ['taxonomy'] }),
  follow(publicMessage, { view: 'broadcasts', ownerOf: ({ tenant_key }) => ({ tenant_id: tenant_key }) }),

  follow(conversation, { view: 'conversations', ownerOf: ofUser, omit: ['messages', 'digest'] }),
  follow(userDay, { view: 'agent_usage', ownerOf: ofUser }),
  follow(tenantDay, { view: 'agent_days', ownerOf: ofTenant }),
  follow(customSkill, { view: 'skills', ownerOf: ofTenant, omit: ['secret'] }),

  follow(task, { view: 'tasks', ownerOf: ofTaskUser }),
  follow(trashed, { view: 'trash', ownerOf: ofTaskUser }),
  follow(taskUser, { view: 'task_users', ownerOf: ofTaskUser, omit: ['feed_hash'] }),
];

const tables: readonly AnyTable[] = [
  ferryhookMain,
  ferryhookEvents,
  tenantsWithMemory,
  inboxTable,
  conversations,
  todoAppData,
];

export const followed: readonly FollowedTable[] = tables.map(table => {
  const own = entities.filter(one => one.entity.table.name === table.name);
  const kept = new Set(own.map(one => one.entity));
  return { table, entities: own, ignore: table.entities.filter(one => !kept.has(one)) };
});

export const insights = [...taskInsights, ...deliveryInsights, ...messageInsights];
