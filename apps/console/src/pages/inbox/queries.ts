import type { ApiTypes, Send } from '@stak/client';
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { client } from '../../queries/api.ts';
import { paced } from '../../queries/pace.ts';
import { counted } from '../../text/format.ts';

// The state of the page is in its URL, so that it can be shared as a link.
export type InboxSearch = {
  tenant?: string;
  inbox?: string;
  user?: string;
  tab?: string;
  send?: string; // whose receipts are open
  deleted?: string; // an inbox of the tenant whose removal is watched
};

export function readInboxSearch(search: Record<string, unknown>): InboxSearch {
  const text = (name: string) => (typeof search[name] === 'string' ? { [name]: search[name] } : {});
  const names = ['tenant', 'inbox', 'user', 'tab', 'send', 'deleted'];
  return Object.assign({}, ...names.map(text));
}

export type InboxPath = { tenant_id: string; inbox_key: string };

const renewMs = 60_000; // before it ends: clocks differ

// Kept while it is good: the audit trail has a line for each new one.
const userToken = (tenant_id: string, sub: string) =>
  queryOptions({
    queryKey: ['user token', tenant_id, sub],
    queryFn: async () => {
      const body = { sub, scope: 'inbox:read inbox:write' };
      return (await client.tenants.mintToken({ tenant_id, body })).data;
    },
    staleTime: ({ state: { data, dataUpdatedAt } }) =>
      data ? Date.parse(data.expires_at) - renewMs - dataUpdatedAt : 0,
    gcTime: Number.POSITIVE_INFINITY,
  });

/** Tokens of a user for one connection, which asks again when one was refused. */
export function createUserTokens(queries: QueryClient, tenant_id: string, user_id: string) {
  const token = userToken(tenant_id, user_id);
  let wasAsked = false;
  return async (): Promise<string> => {
    if (wasAsked) queries.removeQueries({ queryKey: token.queryKey, exact: true });
    wasAsked = true;
    return (await queries.fetchQuery(token)).token;
  };
}

export const inboxesKey = (tenant_id: string) => ['inboxes', tenant_id] as const;
export const sendsKey = ({ tenant_id, inbox_key }: InboxPath) => ['sends', tenant_id, inbox_key] as const;

export const categoriesKey = ({ tenant_id, inbox_key }: InboxPath) =>
  ['categories', tenant_id, inbox_key] as const;

const membersRefreshMs = 4_000; // members join, and messages expire

/** The number of live broadcasts, and of members. */
export const publicCountsQuery = (inboxPath: InboxPath) =>
  queryOptions({
    queryKey: ['public counts', inboxPath.tenant_id, inboxPath.inbox_key],
    queryFn: async () => (await client.inbox.publicCounts(inboxPath)).data,
    refetchInterval: paced(membersRefreshMs),
  });

export type Inbox = ApiTypes['inbox.listInboxes']['data']['data'][number];

export const inboxesQuery = (tenant_id: string) =>
  queryOptions({
    queryKey: inboxesKey(tenant_id),
    queryFn: async () => (await client.inbox.listInboxes({ tenant_id })).data.data,
  });

export const useInboxes = (tenant_id: string) => useQuery(inboxesQuery(tenant_id));

export function nameAudience({ audiences, recipients }: Send): string {
  if (audiences.kind === 'everyone') return 'Everyone';
  return counted(recipients ?? 0, 'user');
}

export const nameMembers = (members: number): string => counted(members, 'person', 'people');
