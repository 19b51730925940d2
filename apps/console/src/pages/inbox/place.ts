import type { InboxBroadcastData } from '@stak/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { client } from '../../api.ts';
import { formatNumber } from '../../format.ts';

// Where the page is, in its address, so that it can be sent to somebody.
export type InboxSearch = {
  tenant?: string;
  inbox?: string;
  user?: string;
  tab?: string;
  deleted?: string; // an inbox of the tenant whose removal is watched
};

export function readInboxSearch(search: Record<string, unknown>): InboxSearch {
  const text = (name: string) => (typeof search[name] === 'string' ? { [name]: search[name] } : {});
  return { ...text('tenant'), ...text('inbox'), ...text('user'), ...text('tab'), ...text('deleted') };
}

export type Place = { tenant_id: string; inbox_key: string };

export const tenantsKey = ['tenants'] as const;
export const inboxesKey = (tenant_id: string) => ['inboxes', tenant_id] as const;
export const usersKey = (tenant_id: string) => ['users', tenant_id] as const;
export const sendsKey = ({ tenant_id, inbox_key }: Place) => ['sends', tenant_id, inbox_key] as const;

export const categoriesKey = ({ tenant_id, inbox_key }: Place) =>
  ['categories', tenant_id, inbox_key] as const;
export const publicCountsKey = ({ tenant_id, inbox_key }: Place) =>
  ['public counts', tenant_id, inbox_key] as const;

export const useTenants = () =>
  useQuery({
    queryKey: tenantsKey,
    queryFn: async () => (await client.tenants.list({ limit: 100 })).data.data,
  });

export const useInboxes = (tenant_id: string) =>
  useQuery({
    queryKey: inboxesKey(tenant_id),
    queryFn: async () => (await client.inbox.listInboxes({ tenant_id })).data.data,
  });

export const usersQuery = (tenant_id: string) =>
  queryOptions({
    queryKey: usersKey(tenant_id),
    queryFn: async () => (await client.tenants.listUsers({ tenant_id, limit: 100 })).data.data,
  });

export const useUsers = (tenant_id: string) => useQuery(usersQuery(tenant_id));

// Letters that have no accent to take off.
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  å: 'a',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

// A name as part of an address: "Große Straße" is grosse-strasse.
export const keyOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[ßæœøåłđðþı]/g, letter => plainLetters[letter]!)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 41)
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);

export function nameAudience({ audiences, recipients }: InboxBroadcastData): string {
  if (audiences.kind === 'everyone') return 'Everyone';
  return recipients === 1 ? '1 user' : `${formatNumber(recipients ?? 0)} users`;
}
