import type { Customer } from '../server/customer.ts';
import type { Operation, Request } from '../server/load.ts';
import { draft } from './inbox.ts';

export const requestNames = ['constant', 'feed', 'counts', 'publish'] as const;
export type RequestName = (typeof requestNames)[number];

export const requestTitles: Record<RequestName, string> = {
  constant: 'a constant, by Hono alone',
  feed: 'feed, 30 messages, as last time',
  counts: 'counts',
  publish: 'publish to one user',
};

const messagesEach = 30;
const toEveryone = 10;

export const inboxPath = (tenantId: string): string => `/v1/tenants/${tenantId}/inboxes/main`;

export async function prepareInbox({ client, tenantId, endUsers }: Customer): Promise<void> {
  const inboxId = { tenant_id: tenantId, inbox_key: 'main' };
  await client.inbox.writeInbox({ ...inboxId, body: { title: 'Main' } });
  const uids = endUsers.map(({ userId }) => userId);
  for (let i = 0; i < messagesEach; i++)
    for (const uid of uids) await client.inbox.publish({ ...inboxId, body: { ...draft(), uids: [uid] } });
  for (let i = 0; i < toEveryone; i++) await client.inbox.broadcast({ ...inboxId, body: draft() });
}

export function operationsFor({ tenantId, apiKeys, endUsers }: Customer): Record<RequestName, Operation> {
  const path = inboxPath(tenantId);
  const mine = (what: string): Request[] =>
    endUsers.map(({ token }) => ({
      method: 'GET',
      path: `${path}/users/me/${what}`,
      headers: bearer(token),
    }));
  return {
    constant: { status: 200, requests: [{ method: 'GET', path: '/constant' }] },
    feed: { status: 200, requests: mine('messages?limit=30') },
    counts: { status: 200, requests: mine('counts') },
    publish: {
      status: 201,
      requests: endUsers.map(({ userId }, i) =>
        post(`${path}/messages`, apiKeys[i % apiKeys.length]!, { ...draft(), uids: [userId] }),
      ),
    },
  };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

export const post = (path: string, token: string, body: object): Request => ({
  method: 'POST',
  path,
  headers: { ...bearer(token), 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
