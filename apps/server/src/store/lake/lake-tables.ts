import { apiKey, auditEntry, profile, subscription } from '@stak/accounts/tables';
import {
  agentDay,
  conversation,
  conversations,
  customSkill,
  namedAgent,
  tenantDay,
  tenantsWithMemory,
  turn,
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
  type Payload,
  payload,
  source,
} from '@stak/webhooks/tables';
import { z } from 'zod';

// Says for each table of the services which entities the lake keeps, and who owns them. A thread without services loads
// this, so it imports only their tables. Counters, locks, leases and copies for an index stay in their tables. Payloads
// and the texts of conversations are kept for accounts that want them (`lake-texts.ts`). Everything that contains a
// user's words must name its owner, or it could not be erased.

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

const elsewhere = ['stripeCustomerId', 'stripeSubId', 'githubId', 'googleId']; // ids at other services

const bodySchema = z.object({
  eventId: z.string(),
  sourceId: z.string(),
  receivedAt: z.int(),
  body: z.string(),
  encoding: z.enum(['utf8', 'base64']),
  isWhole: z.boolean(),
});

// Headers are left out: some contain credentials. Of a body in several parts, the first 128 KB are kept.
function bodyOf({ eventId, sourceId, receivedAt, part, parts, body }: Payload) {
  if (part > 0) return undefined;
  const bytes = body ?? new Uint8Array();
  const isWhole = parts === 1;
  const text = decode(bytes, isWhole);
  const encoding = text === undefined ? 'base64' : 'utf8';
  const shown = text ?? Buffer.from(bytes).toString('base64');
  return { eventId, sourceId, receivedAt, body: shown, encoding, isWhole };
}

// Undefined for bytes that are not text. A part may end within a character, which is then left out.
function decode(bytes: Uint8Array, isWhole: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
}

const turnSchema = turn.schema.omit({ message_ids: true });

// What the attribute `cause` names, by its prefix. A request has no cause of its own.
const kindOfCause = `case when starts_with(cause, 'evt_') then 'event' when starts_with(cause, 'tsk_') then 'task'
  when starts_with(cause, 'turn_') then 'turn' when starts_with(cause, 'job_') then 'job'
  when cause is not null then 'request' end`;
const cause = {
  kind: kindOfCause,
  id: `ltrim(cause, '~')`,
  isRoot: `starts_with(cause, 'req_') or starts_with(cause, '~')`,
};
// A delivery names its event, a replay what started it.
const causeOfDelivery = {
  kind: `coalesce(${kindOfCause}, case when run > 0 and starts_with("jobId", 'job_') then 'job' else 'event' end)`,
  id: `coalesce(${cause.id}, case when run > 0 and starts_with("jobId", 'job_') then "jobId" else "eventId" end)`,
  isRoot: cause.isRoot,
};
// What Stak has sent to itself has an id that says what it is about; a request of others has an address.
const isEmitted = (what: string) => `("sourceIp" is null and starts_with("dedupeId", '${what}'))`;
const causeOfEvent = {
  kind: `case when ${isEmitted('task.reminder:tsk_')} then 'task' when ${isEmitted('audit.')} then 'audit' end`,
  id: `case when ${isEmitted('task.reminder:tsk_')} then split_part("dedupeId", ':', 2)
    when ${isEmitted('audit.')} then split_part("dedupeId", ':', 2) end`,
  isRoot: 'false',
};
const causeOfAlert = {
  kind: `case when "eventId" is not null then 'event' end`,
  id: '"eventId"',
  isRoot: 'false',
};

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
  follow(alert, { view: 'alerts', ownerOf: ofAccount, cause: causeOfAlert }),
  follow(event, { view: 'events', ownerOf: ofAccount, idAttribute: 'eventId', cause: causeOfEvent }),
  follow(payload, { view: 'event_bodies', text: { schema: bodySchema, of: bodyOf } }),
  follow(delivery, { view: 'deliveries', ownerOf: ofAccount, cause: causeOfDelivery }),

  follow(tenant, { view: 'tenants', ownerOf: ({ account_id }) => ({ account_id }) }),
  follow(tenantUser, { view: 'users', ownerOf: ofUser }),
  follow(channelMapping, { view: 'channels', ownerOf: ofTenant }),

  follow(inboxConfig, { view: 'inboxes', ownerOf: ({ tenant_key }) => ({ tenant_id: tenant_key }) }),
  follow(userMessage, { view: 'messages', ownerOf: ofInbox, cause }),
  follow(messageBody, { view: 'message_bodies', ownerOf: ({ tenant_key }) => ({ tenant_id: tenant_key }) }),
  follow(receipt, { view: 'receipts', ownerOf: ofInbox, omit: ['taxonomy'] }),
  follow(publicMessage, {
    view: 'broadcasts',
    ownerOf: ({ tenant_key }) => ({ tenant_id: tenant_key }),
    cause,
  }),

  follow(conversation, { view: 'conversations', ownerOf: ofUser, omit: ['messages', 'digest'] }),
  follow(turn, {
    view: 'conversation_turns',
    cause,
    text: { schema: turnSchema, of: ({ message_ids: _, ...shown }) => shown },
  }),
  follow(userDay, { view: 'agent_usage', ownerOf: ofUser }),
  follow(tenantDay, { view: 'agent_days', ownerOf: ofTenant }),
  follow(agentDay, { view: 'agent_spending', ownerOf: ofTenant }),
  follow(namedAgent, { view: 'agents', ownerOf: ofTenant, omit: ['draft', 'published'] }),
  follow(customSkill, { view: 'skills', ownerOf: ofTenant, omit: ['secret'] }),

  follow(task, { view: 'tasks', ownerOf: ofTaskUser, idAttribute: 'task_id', cause }),
  follow(trashed, { view: 'trash', ownerOf: ofTaskUser, cause }),
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
  const own = entities.filter(entity => entity.entity.table.name === table.name);
  const kept = new Set(own.map(entity => entity.entity));
  return { table, entities: own, ignore: table.entities.filter(entity => !kept.has(entity)) };
});

export const insights = [...taskInsights, ...deliveryInsights, ...messageInsights];
