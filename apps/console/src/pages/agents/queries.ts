import type { ApiTypes } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api.ts';
import { useUsers } from '../../tenant-queries.ts';

export const tabs = ['chat', 'usage', 'memory', 'users', 'channels', 'skills', 'settings'] as const;
export type Tab = (typeof tabs)[number];

// Where the page is, in its address, so that it can be sent to somebody.
export type TenantSearch = { tab?: Tab; conversation?: string; user?: string };

export function readTenantSearch(search: Record<string, unknown>): TenantSearch {
  const text = (name: string) => (typeof search[name] === 'string' ? { [name]: search[name] } : {});
  const tab = tabs.find(one => one === search.tab);
  return { ...(tab && { tab }), ...text('conversation'), ...text('user') };
}

// Instead of a conversation's id, which never begins with a dash: one that nobody has begun yet.
export const unbegun = '-';

export type Go = (to: TenantSearch) => void;
export type Place = { tenant_id: string; conversation_id: string };

export type Tenant = ApiTypes['tenants.get']['data'];
export type User = ApiTypes['tenants.getUser']['data'];
export type Invitation = ApiTypes['tenants.listInvitations']['data']['data'][number];
export type NewInvitation = ApiTypes['tenants.createInvitation']['data']; // with its token, shown once
export type OwnSkill = ApiTypes['agents.getCustomSkill']['data'] & { is_enabled: boolean };
export type Conversation = ApiTypes['agents.listConversations']['data']['data'][number];
export type Turn = ApiTypes['agents.listMessages']['data']['data'][number];
export type Memory = ApiTypes['agents.listMemory']['data']['data'][number];

// The first words name it; until they are answered it has no name.
export const nameOfConversation = ({ title, turns, conversation_id }: Conversation): string =>
  title ?? (turns === 0 ? 'New conversation' : conversation_id);

export const tenantKey = (tenant_id: string) => ['tenant', tenant_id] as const;
export const settingsKey = (tenant_id: string) => ['tenant-settings', tenant_id] as const;
export const skillsKey = (tenant_id: string) => ['skills', tenant_id] as const;
export const invitationsKey = (tenant_id: string) => ['invitations', tenant_id] as const;
export const channelsKey = (tenant_id: string) => ['channels', tenant_id] as const;
export const conversationsKey = (tenant_id: string) => ['conversations', tenant_id] as const;
export const conversationKey = (place: Place) =>
  ['conversation', place.tenant_id, place.conversation_id] as const;
export const turnsKey = (place: Place) => ['turns', place.tenant_id, place.conversation_id] as const;
export const memoryKey = (tenant_id: string, user_id: string) => ['memory', tenant_id, user_id] as const;
export const usageKey = (tenant_id: string) => ['agent-usage', tenant_id] as const;

export const useSkills = (tenant_id: string) =>
  useQuery({
    queryKey: skillsKey(tenant_id),
    queryFn: async () => (await client.agents.listSkills({ tenant_id })).data.data,
  });

// How they are registered, and which of them the settings enable. A tenant has at most fifty.
export async function readOwnSkills(tenant_id: string): Promise<OwnSkill[]> {
  const [own, all] = await Promise.all([
    client.agents.listCustomSkills({ tenant_id, limit: 100 }),
    client.agents.listSkills({ tenant_id }),
  ]);
  const enabled = new Set(all.data.data.filter(one => one.is_enabled).map(one => one.name));
  return own.data.data.map(one => ({ ...one, is_enabled: enabled.has(one.name) }));
}

// Whatever makes skills be read again makes these be read again.
export const useOwnSkills = (tenant_id: string) =>
  useQuery({ queryKey: [...skillsKey(tenant_id), 'own'], queryFn: () => readOwnSkills(tenant_id) });

// Users to choose from: the first hundred, and whoever is meant already.
export function useUserChoices(tenant_id: string, meant?: string | null) {
  const users = useUsers(tenant_id).data ?? [];
  const known = users.map(one => ({ value: one.user_id, label: `${one.display_name} (${one.user_id})` }));
  const isKnown = !meant || known.some(one => one.value === meant);
  return isKnown ? known : [...known, { value: meant, label: meant }];
}

// What is written into a form stays there, whatever happens meanwhile; so it is read anew only when it is asked for.
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
