import type { ApiTypes } from '@stak/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { usePortal } from './provider.tsx';

/** The user of the token, and what the portal shows them. */
export type PortalUser = ApiTypes['tenants.getPortalUser']['data'];
export type Turn = ApiTypes['agents.listMessages']['data']['data'][number];
export type Approval = ApiTypes['agents.getApproval']['data'];

/** The query key of `usePortalUser`, to invalidate it. */
export const userKey = ['user'];
export const conversationsKey = ['conversations'];
export const turnsKey = (conversation_id: string) => ['turns', conversation_id];
export const approvalsKey = (conversation_id: string) => ['approvals', conversation_id];
export const tasksKey = ['tasks'];
export const memoryKey = ['memory'];

/** The user of the token, what the token allows, the inboxes of the tenant and the appearance of its portal. */
export function usePortalUser(): UseQueryResult<PortalUser> {
  const { client, tenant_id } = usePortal();
  return useQuery({
    queryKey: userKey,
    queryFn: async () => (await client.tenants.getPortalUser({ tenant_id })).data,
  });
}
