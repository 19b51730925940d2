import type { Client } from '@stak/client';
import { expect } from 'vitest';
import { openDestination, post } from './test-server.ts';

/** An account with one of everything. Returns the pages that show it: the address of each, and a text on it. */
export async function sampleWorkspace(client: Client): Promise<Readonly<Record<string, string | RegExp>>> {
  const { webhooks, tenants, inbox, agents, tasks, accounts } = client;
  const { sourceId, ingestUrl } = (await webhooks.createSource({ body: { name: 'Shop' } })).data;
  const { url, close } = await openDestination(200);
  await webhooks.createConnection({ sourceId, body: { name: 'Billing', destinationUrl: url } });
  const { eventId } = (await (await post(ingestUrl!, { type: 'order.paid' })).json()) as { eventId: string };

  const tenant_id = `harbour-${sourceId.slice(-6)}`;
  await tenants.create({ body: { tenant_id, name: 'Harbour', status: 'active' } });
  await tenants.createUser({ tenant_id, body: { user_id: 'ann', display_name: 'Ann' } });
  await tenants.createInvitation({ tenant_id, body: { email: 'bob@example.com', role: 'member' } });
  const news = { tenant_id, inbox_key: 'news' };
  await inbox.writeInbox({ ...news, body: { title: 'News' } });
  await inbox.publish({
    ...news,
    body: { uids: ['ann'], message: { title: 'Order 1 is paid', body: 'Thank you.' } },
  });
  const { conversation_id } = (await agents.createConversation({ tenant_id, body: { user_id: 'ann' } })).data;
  await agents.sendMessage({ tenant_id, conversation_id, body: { content: 'hello' } });

  const day = new Date().toISOString().slice(0, 10);
  await tasks.create({ body: { title: 'Call Ann', due_date: day, priority: 'high', category: 'sales' } });
  const { task_id } = (await tasks.create({ body: { title: 'Old plan' } })).data;
  await tasks.delete({ task_id });
  await accounts.createKey({ body: { name: 'Backend', permissions: 'write' } });
  await expect.poll(async () => (await webhooks.readEvent({ eventId })).data.status).toBe('delivered');
  close();

  const source = `/console/webhooks/${sourceId}`;
  const event = `${source}/events/${eventId}`;
  const agent = `/console/agents/${tenant_id}`;
  const tenant = `/console/tenants/${tenant_id}`;
  return {
    '/console/': 'Events this month',
    '/console/inbox': 'Inbox of Ann',
    '/console/inbox?tab=sent': 'Order 1 is paid',
    '/console/inbox?tab=settings': 'All inboxes of this tenant',
    '/console/webhooks': 'Shop',
    '/console/webhooks/connections': 'Billing',
    '/console/webhooks/events': 'order.paid',
    [`/console/webhooks/events?event=${eventId}`]: 'order.paid',
    '/console/webhooks/analytics': 'Successful deliveries',
    [source]: 'order.paid',
    [`${source}?tab=connections`]: 'Billing',
    [`${source}?tab=analytics`]: 'Successful deliveries',
    [`${source}?tab=settings`]: 'Pauses and alerts',
    [event]: '"order.paid"',
    [`${event}?view=headers`]: 'content-type',
    '/console/tasks': 'Call Ann',
    '/console/tasks?view=list': 'Call Ann',
    '/console/tasks?view=calendar': 'Call Ann',
    '/console/tasks?view=trash': 'Old plan',
    '/console/agents': 'Harbour',
    [`${agent}?conversation=${conversation_id}`]: 'rule: greeting',
    [`${agent}?tab=usage`]: 'Messages by day',
    [`${agent}?tab=memory`]: 'Conversations and facts',
    [`${agent}?tab=channels`]: 'There is no channel yet',
    [`${agent}?tab=skills`]: 'Your own skills',
    '/console/tenants': 'Harbour',
    [tenant]: 'bob@example.com',
    [`${tenant}?tab=tokens`]: 'Tokens of users',
    [`${tenant}?tab=portal`]: 'Save the portal',
    [`${tenant}?tab=settings`]: 'Save settings',
    '/console/data/insights': 'Late now',
    '/console/data/sql': 'They hold only your own rows',
    '/console/account?tab=keys': 'Backend',
    '/console/account?tab=members': 'Invite by e-mail',
    '/console/account?tab=billing': 'This server sells no plans',
    '/console/account?tab=profile': 'E-mail',
    '/console/account?tab=security': 'Passkeys',
    '/console/account?tab=sessions': 'This one',
    '/console/account?tab=audit': 'created a key',
  };
}
