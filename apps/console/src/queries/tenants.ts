import { type ApiTypes, StakError } from '@stak/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useRows } from './answers.ts';
import { client } from './api.ts';

// Tenants and their users are shown on several pages, so their query keys are shared.

export type Tenant = ApiTypes['tenants.get']['data'];
export type User = ApiTypes['tenants.getUser']['data'];
export type Invitation = ApiTypes['tenants.listInvitations']['data']['data'][number];
export type NewInvitation = ApiTypes['tenants.createInvitation']['data']; // with its token, shown once

export const tenantsKey = ['tenants'] as const;
export const usersKey = (tenant_id: string) => ['users', tenant_id] as const;
export const tenantKey = (tenant_id: string) => ['tenant', tenant_id] as const;
export const settingsKey = (tenant_id: string) => ['tenant-settings', tenant_id] as const;
export const invitationsKey = (tenant_id: string) => ['invitations', tenant_id] as const;

export const useTenants = () => useRows(tenantsKey, () => client.tenants.list({ limit: 100 }));

export const usersQuery = (tenant_id: string) =>
  queryOptions({
    queryKey: usersKey(tenant_id),
    queryFn: async () => (await client.tenants.listUsers({ tenant_id, limit: 100 })).data.data,
  });

export const useUsers = (tenant_id: string) => useQuery(usersQuery(tenant_id));

// Never refetched in the background, so that a form keeps what is typed.
export const useSettings = (tenant_id: string) =>
  useQuery({
    queryKey: settingsKey(tenant_id),
    queryFn: async () => {
      const { data, etag = '*' } = await client.tenants.getSettings({ tenant_id });
      return { settings: data, etag };
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });

export const portalKey = (tenant_id: string) => ['portal', tenant_id] as const;
type Portal = ApiTypes['tenants.getPortal']['data'];

/** The portal as its visitors see it. Null while nobody can sign in there. */
export const usePortal = (tenant_id: string) =>
  useQuery({
    queryKey: portalKey(tenant_id),
    queryFn: async (): Promise<Portal | null> => {
      try {
        return (await client.tenants.getPortal({ tenant_id })).data;
      } catch (error) {
        if (error instanceof StakError && error.status === 404) return null;
        throw error;
      }
    },
  });

// The users to choose from: the first hundred, and the selected one.
export function useUserChoices(tenant_id: string, meant?: string | null) {
  const users = useUsers(tenant_id).data ?? [];
  const known = users.map(user => ({ value: user.user_id, label: `${user.display_name} (${user.user_id})` }));
  const isKnown = !meant || known.some(one => one.value === meant);
  return isKnown ? known : [...known, { value: meant, label: meant }];
}
