import type { AgentsDeps, SkillOwner } from '@stak/agents';
import type { AccountPrincipal, EndUserPrincipal } from '@stak/http';
import type { Inbox } from '@stak/inbox';
import type { createLakeReader } from '@stak/lake';
import { type createTasks, userIdOf } from '@stak/tasks';
import type { createWebhooks } from '@stak/webhooks';
import { ownTenant } from '../store/own-tenant.ts';
import { sendNotice } from './notices.ts';

type SkillServices = {
  tasks: Pick<ReturnType<typeof createTasks>, 'operations' | 'taskStatistics'>;
  inbox: Pick<Inbox, 'operations'>;
  webhooks: Pick<ReturnType<typeof createWebhooks>, 'operations' | 'readHealth'>;
  lake: Pick<ReturnType<typeof createLakeReader>, 'query'> | undefined;
};

// Lets an agent's skills act in other services, as the user of the conversation, or as the account in its own
// conversation. They never act as another user.
export const skillPorts = ({
  tasks,
  inbox,
  webhooks,
  lake,
}: SkillServices): NonNullable<AgentsDeps['ports']> => ({
  taskStatistics: whose => tasks.taskStatistics(taskUser(whose)),
  async inboxSummary(whose) {
    const { tenant_id, account_id, user_id } = whose;
    const owner =
      user_id === undefined ? ([ownTenant, account_id] as const) : ([tenant_id, user_id] as const);
    const [{ newest, ...counts }, time_zone] = await Promise.all([
      inbox.operations.summary(...owner, 5),
      tasks.operations.readTimeZone(taskUser(whose)),
    ]);
    return { ...counts, newest: newest.map(summarise), time_zone };
  },
  webhookHealth: webhooks.readHealth,

  createTask: (whose, task, key) => tasks.operations.create(taskUser(whose), task, key, turnOf(key)),
  completeTask: (whose, taskId) => tasks.operations.complete(taskUser(whose), taskId),
  async sendMessage({ tenant_id }, to, { title, body }, key) {
    const notice = { uid: to, title, body, category: 'agent', key, cause: turnOf(key) };
    return { id: (await sendNotice(inbox.operations, tenant_id, 'agent', notice, 'agent')).send.id };
  },
  async readDelivery(accountId, eventId) {
    const { event, deliveries } = await webhooks.operations.detail(accountId, eventId);
    const shown = deliveries.map(({ connectionId, state, attempts, statusCode, error }) => ({
      connection_id: connectionId,
      state,
      attempts,
      ...(statusCode !== undefined && { status_code: statusCode }),
      ...(error !== undefined && state !== 'delivered' && { error: String(error) }),
    }));
    return { event_id: eventId, status: event.status, deliveries: shown };
  },
  async replayDelivery(accountId, eventId, key) {
    return { deliveries: await webhooks.operations.replay(accountId, eventId, key, turnOf(key)) };
  },
  ...(lake && {
    async queryLake(whose, sql) {
      const { columns, rows, truncated } = await lake.query(reader(whose), sql);
      return { columns: columns.map(({ name }) => name), rows, truncated };
    },
  }),
});

// The key of a call begins with the id of its turn.
const turnOf = (key: string): string => key.slice(0, key.indexOf('.'));

const taskUser = ({ tenant_id: tenantId, account_id: accountId, user_id: userId }: SkillOwner): string =>
  userIdOf(userId === undefined ? { kind: 'account', accountId } : { kind: 'endUser', tenantId, userId });

// With the smallest scope that can read.
const reader = ({ tenant_id, account_id, user_id }: SkillOwner): AccountPrincipal | EndUserPrincipal =>
  user_id === undefined
    ? { kind: 'account', accountId: account_id, scope: 'read', via: 'api_key', credentialId: 'agent' }
    : { kind: 'endUser', tenantId: tenant_id, userId: user_id, scope: 'lake:read' };

const summarise = ({ message, received }: { message: { title: string | null }; received: number }) => ({
  title: message.title ?? '(no title)',
  at: new Date(received * 1000).toISOString(),
});
