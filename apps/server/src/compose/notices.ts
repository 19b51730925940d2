import type { Accounts, ShownEntry, StorageNotice } from '@stak/accounts';
import type { ApprovalRequest, SpendShare, ToolsRequest } from '@stak/agents';
import { endpoint, json, route } from '@stak/http';
import { type Inbox, inboxErrors } from '@stak/inbox';
import { type Clock, cutText, type Logger } from '@stak/kit';
import type { Remind } from '@stak/tasks';
import type { Eraser, LimitShare, Tenants } from '@stak/tenants';
import { type Alert, type Emit, type EventShare, webhookErrors } from '@stak/webhooks';
import { z } from 'zod';
import { ownTenant } from '../store/own-tenant.ts';
import { noticeOf } from '../store/storage.ts';

// Messages of Stak itself: to an account, whose inbox is in a tenant of ours, or to a tenant's user.
type Post = Pick<Inbox['operations'], 'publish' | 'ensureInbox'>;
type AccountNotices = Accounts['notices'];
type Notice = { uid: string; title: string; body: string; category: string; key: string; cause?: string };

const inboxes = {
  alerts: { title: 'Alerts', description: 'Things that need your attention.' },
  tasks: { title: 'Tasks', description: 'Reminders of tasks.' },
  approvals: { title: 'Approvals', description: 'Actions of agents that need your approval.' },
} as const;
// For a tenant's users, in addition to those.
const usersInboxes = { agent: { title: 'Agent', description: 'Messages from agents.' } } as const;

// A key produces one notice, however often it is sent.
export async function sendNotice(
  post: Post,
  tenant_key: string,
  inbox_key: keyof typeof inboxes | keyof typeof usersInboxes,
  { uid, title, body, category, key, cause }: Notice,
  sender = 'stak',
) {
  const inboxId = { tenant_key, inbox_key };
  await post.ensureInbox(inboxId, { ...inboxes, ...usersInboxes }[inbox_key]);
  const draft = { uids: [uid], message: { title, body }, taxonomy: { category }, host_system_id: key };
  return post.publish(inboxId, draft, { sender, cause });
}

type AlertDeps = {
  post: Post;
  mail: AccountNotices;
  // The names of the source and the connection.
  describeConnection(alert: Alert): Promise<{ source?: string; connection?: string }>;
};

// To the inbox of the account, and by mail to the members who can act on it. If one of them fails, both are repeated:
// each takes a key once.
export const sendAlert =
  ({ post, mail, describeConnection }: AlertDeps) =>
  async (alert: Alert): Promise<void> => {
    const { userId, connectionId, alertKind, hour, detail, raisedAt } = alert;
    const what = alertKind.replaceAll('_', ' ');
    const key = `${hour}.${connectionId}.${alertKind}`;
    const text = { title: `Webhooks: ${what}`, body: detail, category: 'webhooks' };
    const notice = { uid: userId, ...text, key, cause: alert.eventId };
    const { source = alert.sourceId, connection = connectionId } = await describeConnection(alert);
    const line = `${source}, ${connection}: ${what} at ${raisedAt.slice(11, 16)} UTC. ${detail}`;
    await Promise.all([
      sendNotice(post, ownTenant, 'alerts', notice),
      mail.deliveriesFail(userId, { key: `deliveries.${key}`, line }),
    ]);
  };

type LimitDeps = { post: Post; mail: AccountNotices };
type LimitNotice = { accountId: string; category: string; key: string; title: string; body: string };

async function sendLimitNotice({ post, mail }: LimitDeps, notice: LimitNotice): Promise<void> {
  const { accountId, category, key, title, body } = notice;
  await Promise.all([
    sendNotice(post, ownTenant, 'alerts', {
      uid: accountId,
      title,
      body,
      category,
      key: `${accountId}.${key}`,
    }),
    mail.limitReached(accountId, { key: `limits.${key}`, title, body }),
  ]);
}

// Once a month for each share of the storage that is used.
export const sendStorageNotice =
  (deps: LimitDeps, clock: Clock) =>
  async (notice: StorageNotice): Promise<void> => {
    const { accountId, percent } = notice;
    const key = `storage.${new Date(clock.now()).toISOString().slice(0, 7)}.${percent}`;
    await sendLimitNotice(deps, { accountId, category: 'storage', key, ...noticeOf(notice) });
  };

// Once a month for each share of a plan's events.
export const sendUsageNotice =
  (deps: LimitDeps) =>
  async ({ userId: accountId, percent, eventsPerMonth, since }: EventShare): Promise<void> => {
    const key = `events.${since}.${eventsPerMonth}.${percent}`;
    const events = eventsPerMonth.toLocaleString('en');
    const text =
      percent >= 100
        ? {
            title: 'The events of this month are used up',
            body: `Your plan has ${events} events a month, and they are used up. Webhooks are refused until the next month begins or you choose a larger plan.`,
          }
        : {
            title: `${percent} % of this month's events are used`,
            body: `Your plan has ${events} events a month. When they are used up, webhooks are refused until the next month begins.`,
          };
    await sendLimitNotice(deps, { accountId, category: 'events', key, ...text });
  };

// Once for each share of the tenants, or of the users of a tenant, that a plan has. The mail goes again if a share is
// reached again after more than a month.
export const sendPlanNotice =
  (deps: LimitDeps) =>
  async (share: LimitShare): Promise<void> => {
    const { account_id: accountId, tenant_id, percent, limit } = share;
    const key = `${tenant_id === undefined ? 'tenants' : `users.${tenant_id}`}.${limit}.${percent}`;
    const text = tenant_id === undefined ? tenantsText(share) : usersText(share, tenant_id);
    await sendLimitNotice(deps, { accountId, category: 'tenants', key, ...text });
  };

const tenantsText = ({ percent, limit }: LimitShare) => {
  const most = limit.toLocaleString('en');
  return percent >= 100
    ? {
        title: "All of your plan's tenants are used",
        body: `Your plan has ${most} tenants, and all of them are used. New tenants are refused until you delete one or choose a larger plan.`,
      }
    : {
        title: `${percent} % of your plan's tenants are used`,
        body: `Your plan has ${most} tenants. When all of them are used, new tenants are refused until you delete one or choose a larger plan.`,
      };
};

const usersText = ({ percent, limit }: LimitShare, tenantId: string) => {
  const most = limit.toLocaleString('en');
  return percent >= 100
    ? {
        title: `Tenant ${tenantId} has as many users as your plan allows`,
        body: `Your plan has ${most} users for each tenant, and ${tenantId} has as many. New users of it are refused until you delete one or choose a larger plan.`,
      }
    : {
        title: `Tenant ${tenantId} has ${percent} % of the users that your plan allows`,
        body: `Your plan has ${most} users for each tenant. When ${tenantId} has as many, new users of it are refused until you delete one or choose a larger plan.`,
      };
};

// Once a day for each share of what an account may spend on models.
export const sendSpendNotice =
  (deps: LimitDeps) =>
  async ({ account_id: accountId, date, percent, limitUsd }: SpendShare): Promise<void> => {
    const key = `models.${date}.${limitUsd}.${percent}`;
    const about = `Your account may spend $${limitUsd.toLocaleString('en', { maximumFractionDigits: 6 })} a day on models`;
    const text =
      percent >= 100
        ? {
            title: "Today's limit of spending on models is reached",
            body: `${about}, and what is left is too little for another request. Requests that need a model are refused until 00:00 UTC or you choose a larger plan.`,
          }
        : {
            title: `${percent} % of today's limit of spending on models is used`,
            body: `${about}. When it is used up, requests that need a model are refused until 00:00 UTC.`,
          };
    await sendLimitNotice(deps, { accountId, category: 'models', key, ...text });
  };

type ReminderDeps = { post: Post; emit: Emit; accountOf: Tenants['accountOf'] };
type Reminder = Parameters<Remind>[0];

// To the user's inbox, and to the webhooks of the account. If one of them fails, both are repeated: each takes a key
// once.
export const sendReminder =
  (deps: ReminderDeps): Remind =>
  async reminder => {
    await Promise.all([remindUser(deps, reminder), remindAccount(deps, reminder)]);
  };

async function remindUser({ post }: ReminderDeps, { key, user, task }: Reminder): Promise<void> {
  const [tenant, uid] = user.kind === 'endUser' ? [user.tenantId, user.userId] : [ownTenant, user.accountId];
  const due = task.due_date === undefined ? '' : `Due ${task.due_date}.`;
  const notice = { uid, title: task.title, body: due, category: 'reminder', key, cause: task.task_id };
  await sendNotice(post, tenant, 'tasks', notice);
}

async function remindAccount({ emit, accountOf }: ReminderDeps, reminder: Reminder): Promise<void> {
  const { key: id, user, task, at } = reminder;
  const [accountId, whose] =
    user.kind === 'endUser'
      ? [await accountOf(user.tenantId), { tenant_id: user.tenantId, user_id: user.userId }]
      : [user.accountId, { user_id: user.accountId }];
  if (accountId !== undefined)
    await emit(accountId, { type: 'task.reminder', id, at, data: { ...whose, task } });
}

// For the account's sources with the provider `stak`. An account that does more in a minute than its plan has events
// must not delay others: the rest is in its audit trail only.
export const emitAudit =
  (emit: Emit, log: Logger) =>
  async (accountId: string, entry: ShownEntry): Promise<void> => {
    const { action, auditId: id, at } = entry;
    await emit(accountId, { type: `audit.${action}`, id, at: Date.parse(at), data: entry }).catch(error => {
      if (!webhookErrors.includes(error) || error.code !== 'webhooks.rate_limited') throw error;
      log.info({ account_id: accountId, audit_id: id }, 'an audit entry was not taken as an event');
    });
  };

const argumentChars = 4_000; // the approval itself contains all of them

type ApprovalDeps = { post: Post & Pick<Inbox['operations'], 'redactHostId'> } & Pick<
  Tenants,
  'accountOf' | 'adminsOf'
>;

type InboxAddress = { tenant: string; uid: string; key: string };

// The users who may decide: the user of the conversation, or the admins of the tenant. The account is notified of what
// needs an admin, and of its own conversations.
async function decidersOf(
  { accountOf, adminsOf }: ApprovalDeps,
  { tenant_id, approval_id, user_id, approval }: ApprovalRequest,
): Promise<InboxAddress[]> {
  const isUsers = approval === 'user' && user_id !== undefined;
  const uids = isUsers ? [user_id] : approval === 'admin' ? await adminsOf(tenant_id) : [];
  const account = isUsers ? undefined : await accountOf(tenant_id);
  return [
    ...uids.map(uid => ({ tenant: tenant_id, uid, key: `${approval_id}.${uid}` })),
    ...(account === undefined ? [] : [{ tenant: ownTenant, uid: account, key: approval_id }]),
  ];
}

export const sendApproval =
  (deps: ApprovalDeps) =>
  async (request: ApprovalRequest): Promise<void> => {
    const { conversation_id, approval_id, turn_id, name, input, expires_at } = request;
    const notice = {
      title: `Approve ${name}?`,
      body: `${cutText(JSON.stringify(input, null, 2), argumentChars)}\n\nWaits until ${expires_at}. Conversation ${conversation_id}, approval ${approval_id}.`,
      category: 'approval',
      cause: turn_id,
    };
    for (const { tenant, uid, key } of await decidersOf(deps, request))
      await sendNotice(deps.post, tenant, 'approvals', { uid, ...notice, key });
  };

// To the account: the owner of a server of tools can rewrite what a model reads about them.
export const sendToolsNotice =
  ({ post, accountOf }: Pick<ApprovalDeps, 'post' | 'accountOf'>) =>
  async ({ tenant_id, server, tools, key }: ToolsRequest): Promise<void> => {
    const uid = await accountOf(tenant_id);
    if (uid === undefined) return;
    await sendNotice(post, ownTenant, 'approvals', {
      uid,
      title: `Tools of the MCP server ${server} have changed`,
      body: cutText(
        `Agents of ${tenant_id} no longer use ${tools.join(', ')}, until you have read and accepted the new definitions.`,
        argumentChars,
      ),
      category: 'approval',
      key,
    });
  };

// There is nothing to decide any more: the message is redacted for all recipients.
export const withdrawApproval =
  (deps: ApprovalDeps) =>
  async (request: ApprovalRequest): Promise<void> => {
    for (const { tenant, key } of await decidersOf(deps, request))
      await deps.post.redactHostId({ tenant_key: tenant, inbox_key: 'approvals' }, key).catch(error => {
        // Admins since then did not get it.
        if (!inboxErrors.includes(error) || error.code !== 'inbox.send_not_found') throw error;
      });
  };

// Stak's messages to an account are erased with it.
export const ownInboxEraser = (eraseUser: NonNullable<Eraser['eraseUser']>): Eraser => ({
  name: 'own-inbox',
  eraseAccount: accountId => eraseUser(ownTenant, accountId),
});

type Grant = { sub: string; scope: string; credentialId: string; person?: string };
type Mint = (grant: Grant) => Promise<{ token: string; expires_at: string }>;

const inboxToken = route({
  method: 'post',
  path: '/v1/me/inbox-token',
  operationId: 'accounts.mintInboxToken',
  reaches: 'nothing',
  audit: false,
  stores: 'access',
  tenant: 'none',
  mcp: false,
  tags: ['accounts'],
  auth: 'account',
  scope: 'read',
  summary: 'Mint a token for your own inbox',
  description: `Stak sends its own messages to the inboxes \`alerts\`, \`tasks\` and \`approvals\` of the tenant \`${ownTenant}\`. Read them with this token, as any user reads their inbox. The token is valid for 15 minutes, and ends earlier with the session or key that created it.`,
  responses: {
    201: json(
      z.strictObject({ token: z.string(), tenant_id: z.string(), sub: z.string(), expires_at: z.string() }),
    ),
  },
});

export const ownInboxEndpoints = (mint: Mint, { ensureInbox }: Pick<Post, 'ensureInbox'>) =>
  [
    endpoint(inboxToken, async c => {
      // A token is for reading: an inbox without messages yet is empty, not missing.
      for (const [inbox_key, about] of Object.entries(inboxes))
        await ensureInbox({ tenant_key: ownTenant, inbox_key }, about);
      // A read-only key mints a read-only token.
      const { accountId, userId: person, credentialId, ...caller } = c.get('principal');
      const scope = caller.scope === 'read' ? 'inbox:read' : 'inbox:read inbox:write';
      const minted = await mint({ sub: accountId, scope, credentialId, person });
      return c.json({ ...minted, tenant_id: ownTenant, sub: accountId }, 201);
    }),
  ] as const;
