import { queryOptions, useQuery } from '@tanstack/react-query';
import { client } from './api.ts';

// Tenants and their users, which several pages read: under one key, so that a change in one is seen in all.

export const tenantsKey = ['tenants'] as const;
export const usersKey = (tenant_id: string) => ['users', tenant_id] as const;

export const useTenants = () =>
  useQuery({
    queryKey: tenantsKey,
    queryFn: async () => (await client.tenants.list({ limit: 100 })).data.data,
  });

export const usersQuery = (tenant_id: string) =>
  queryOptions({
    queryKey: usersKey(tenant_id),
    queryFn: async () => (await client.tenants.listUsers({ tenant_id, limit: 100 })).data.data,
  });

export const useUsers = (tenant_id: string) => useQuery(usersQuery(tenant_id));
