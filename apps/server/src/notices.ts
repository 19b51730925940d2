import type { StorageNotice } from '@stak/accounts';
import type { ApprovalRequest } from '@stak/agents';
import { endpoint, json, route } from '@stak/http';
import type { Inbox } from '@stak/inbox';
import { type Clock, cutText } from '@stak/kit';
import type { Remind } from '@stak/tasks';
import type { Eraser, Tenants } from '@stak/tenants';
import type { Alert, Emit } from '@stak/webhooks';
import { z } from 'zod';
import { noticeOf } from './storage.ts';

// What Stak itself has to tell: to an account, whose inbox is in a tenant of ours, or to a tenant's user. No account
// can have a tenant of this name.
export const ownTenant = 'stak';

type Post = Pick<Inbox['operations'], 'publish' | 'ensureInbox'>;
type Notice = { uid: string; title: string; body: string; category: string; key: string; cta_uri?: string };

const inboxes = {
  alerts: { title: 'Alerts', description: 'What needs your attention.' },
  tasks: { title: 'Tasks', description: 'Reminders of tasks.' },
  approvals: { title: 'Approvals', description: 'What an agent may do only if you agree.' },
} as const;
// Of a tenant's users, besides those.
const usersInboxes = { agent: { title: 'Agent', description: 'What an agent sent you.' } } as const;

// A key produces one notice, however often it is sent.
export async function tell(
  post: Post,
  tenant_key: string,
  inbox_key: keyof typeof inboxes | keyof typeof usersInboxes,
  { uid, title, body, category, key, cta_uri }: Notice,
  sender = 'stak',
) {
  const inboxId = { tenant_key, inbox_key };
  await post.ensureInbox(inboxId, { ...inboxes, ...usersInboxes }[inbox_key]);
  const message = { title, body, ...(cta_uri !== undefined && { cta_uri }) };
  const draft = { uids: [uid], message, taxonomy: { category }, host_system_id: key };
  return post.publish(inboxId, draft, { sender });
}

export const tellAlert =
  (post: Post) =>
  async (alert: Alert): Promise<void> => {
    const { userId, connectionId, alertKind, hour, detail } = alert;
    const title = `Webhooks: ${alertKind.replaceAll('_', ' ')}`;
    const key = `${hour}.${connectionId}.${alertKind}`;
    await tell(post, ownTenant, 'alerts', { uid: userId, title, body: detail, category: 'webhooks', key });
  };

// Once a month for each share of the storage that is used.
export const tellStorage =
  (post: Post, clock: Clock) =>
  async (notice: StorageNotice): Promise<void> => {
    const { accountId: uid, percent } = notice;
    const key = `storage.${new Date(clock.now()).toISOString().slice(0, 7)}.${percent}`;
    await tell(post, ownTenant, 'alerts', {
      uid,
      ...noticeOf(notice),
      category: 'storage',
      key: `${uid}.${key}`,
    });
  };

type Reminded = { post: Post; emit: Emit; accountOf: Tenants['accountOf'] };
type Reminder = Parameters<Remind>[0];

// To the user's inbox, and to the webhooks of the account. If one of them fails, both are sent again: each takes a key
// once.
export const tellReminder =
  (rooms: Reminded): Remind =>
  async reminder => {
    await Promise.all([remindUser(rooms, reminder), remindAccount(rooms, reminder)]);
  };

async function remindUser({ post }: Reminded, { key, user, task }: Reminder): Promise<void> {
  const [tenant, uid] = user.kind === 'endUser' ? [user.tenantId, user.userId] : [ownTenant, user.accountId];
  const due = task.due_date === undefined ? '' : `Due ${task.due_date}.`;
  await tell(post, tenant, 'tasks', { uid, title: task.title, body: due, category: 'reminder', key });
}

async function remindAccount({ emit, accountOf }: Reminded, reminder: Reminder): Promise<void> {
  const { key: id, user, task, at } = reminder;
  const [accountId, whose] =
    user.kind === 'endUser'
      ? [await accountOf(user.tenantId), { tenant_id: user.tenantId, user_id: user.userId }]
      : [user.accountId, { user_id: user.accountId }];
  if (accountId !== undefined)
    await emit(accountId, { type: 'task.reminder', id, at, data: { ...whose, task } });
}

const argumentChars = 4_000; // the approval itself has all of them

type ApprovalRooms = { post: Post } & Pick<Tenants, 'accountOf' | 'adminsOf'>;

// To those who may decide: the user of the conversation, or the admins of the tenant. The account hears of what needs an
// admin, and of its own conversations.
export const tellApproval =
  ({ post, accountOf, adminsOf }: ApprovalRooms) =>
  async (request: ApprovalRequest): Promise<void> => {
    const { tenant_id, conversation_id, approval_id, user_id, approval, name, input, expires_at } = request;
    const notice = {
      title: `Approve ${name}?`,
      body: `${cutText(JSON.stringify(input, null, 2), argumentChars)}\n\nWaits until ${expires_at}. Conversation ${conversation_id}, approval ${approval_id}.`,
      category: 'approval',
    };
    const isUsers = approval === 'user' && user_id !== undefined;
    const uids = isUsers ? [user_id] : approval === 'admin' ? await adminsOf(tenant_id) : [];
    for (const uid of uids)
      await tell(post, tenant_id, 'approvals', { uid, ...notice, key: `${approval_id}.${uid}` });
    const account = isUsers ? undefined : await accountOf(tenant_id);
    if (account !== undefined)
      await tell(post, ownTenant, 'approvals', { uid: account, ...notice, key: approval_id });
  };

// What Stak told an account goes with it.
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
  tags: ['accounts'],
  auth: 'account',
  scope: 'read',
  summary: 'Mint a token for your own inbox',
  description: `What Stak tells an account is in the inboxes \`alerts\`, \`tasks\` and \`approvals\` of the tenant \`${ownTenant}\`, read like any user's, with this token. It ends with the session or the key that asked for it, and after 15 minutes.`,
  responses: {
    201: json(
      z.strictObject({ token: z.string(), tenant_id: z.string(), sub: z.string(), expires_at: z.string() }),
    ),
  },
});

export const ownInboxEndpoints = (mint: Mint, { ensureInbox }: Pick<Post, 'ensureInbox'>) =>
  [
    endpoint(inboxToken, async c => {
      // A token is for reading: an inbox that nobody has been told anything in yet is empty, not missing.
      for (const [inbox_key, about] of Object.entries(inboxes))
        await ensureInbox({ tenant_key: ownTenant, inbox_key }, about);
      // A key that only reads mints a token that only reads.
      const { accountId, userId: person, credentialId, ...caller } = c.get('principal');
      const scope = caller.scope === 'read' ? 'inbox:read' : 'inbox:read inbox:write';
      const minted = await mint({ sub: accountId, scope, credentialId, person });
      return c.json({ ...minted, tenant_id: ownTenant, sub: accountId }, 201);
    }),
  ] as const;
